"""`torch.distributed.nn`: the collectives that give new tensors and are differentiated, of one process."""

from __future__ import annotations

from typing import Any

from .._api import missing
from . import ReduceOp, _alone, _of


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """What the tensors of all processes make together: of one, a copy of its own."""
    _of("all_reduce", group)
    return tensor.clone()


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """As `all_reduce`, for process `dst`."""
    _alone("reduce", dst)
    return all_reduce(tensor, op, group)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of process `src`."""
    _alone("broadcast", src)
    return all_reduce(tensor, group=group)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes, in their order."""
    return (all_reduce(tensor, group=group),)


def __getattr__(name: str) -> Any:
    raise missing("torch.distributed.nn", name, globals())
