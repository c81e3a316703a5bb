"""`torch.multiprocessing`: Python's own, through which tensors travel by value (shared memory is not offered)."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403 - the names of the standard module are the dialect's
from typing import Any as _Any


def get_sharing_strategy() -> str:
    """How tensors are shared: PyTorch's default name; here they are copied."""
    return "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The strategies there are."""
    return {"file_descriptor"}


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept the one strategy there is."""
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"set_sharing_strategy: wanted 'file_descriptor', got {new_strategy!r}")


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)
