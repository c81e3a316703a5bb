"""`torch.distributed`: answers that there is one process."""

from __future__ import annotations

from typing import Any as _Any

from ._api import missing as _missing


def is_available() -> bool:
    """Whether communication between processes is offered: no."""
    return False


def is_initialized() -> bool:
    """Whether a process group has been set up: no."""
    return False


def init_process_group(*args: _Any, **kwargs: _Any) -> None:
    """Raises RuntimeError: there is no communication between processes here."""
    raise RuntimeError(
        "init_process_group: retrograde's torch dialect runs in one process; guard the call with torch.distributed.is_available()"
    )


def __getattr__(name: str) -> _Any:
    raise _missing("torch.distributed", name, globals())
