"""`torch.multiprocessing`: Python's own, through which tensors travel by value (shared memory is not offered)."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403 - the names of the standard module are the dialect's
from multiprocessing.reduction import ForkingPickler as _ForkingPickler
from typing import Any as _Any

from ._tensor import Tensor as _Tensor
from .nn.parameter import Parameter as _Parameter


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


def _sent(x: _Tensor) -> _Any:
    """How a tensor travels to another process: as it is pickled, but not without its history in silence."""
    if not x.is_leaf:
        raise RuntimeError(
            "multiprocessing: this tensor was computed by recorded operations, and a history does not leave its process; "
            "send a detach() of it"
        )
    return x.__reduce_ex__(2)


for _kind in (_Tensor, _Parameter):
    _ForkingPickler.register(_kind, _sent)


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)
