"""`torch.distributed`: answers that there is one process."""

from __future__ import annotations

import enum as _enum
from collections.abc import Callable as _Callable
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


def _of_a_group(name: str) -> _Callable[..., _Any]:
    def function(*args: _Any, **kwargs: _Any) -> _Any:
        raise ValueError(
            f"{name}: there is no process group; retrograde's torch dialect runs in one process, so guard the call with "
            "torch.distributed.is_initialized()"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Of a process group; raises ValueError, since there is none."
    return function


for _name in ("get_rank", "get_world_size", "get_backend", "barrier", "all_reduce", "reduce", "broadcast", "all_gather",
              "all_gather_object", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter", "all_to_all", "send",
              "recv", "isend", "irecv", "new_group", "broadcast_object_list", "destroy_process_group"):  # fmt: skip
    globals()[_name] = _of_a_group(_name)


class ReduceOp(_enum.Enum):
    """How tensors of several processes are combined."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4


def __getattr__(name: str) -> _Any:
    raise _missing("torch.distributed", name, globals())
