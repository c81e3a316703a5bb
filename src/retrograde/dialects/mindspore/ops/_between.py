"""The Primitive classes between processes: collective operations with derivatives (ops/collectives.py), and messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.value import shape_of
from ....ops import collectives
from ....ops import structural as st
from .._dtype import as_dtype
from .._tensor import from_array
from ..communication._groups import WORLD, members


class ReduceOp:
    """How tensors of several processes are combined."""

    SUM, MAX, MIN, PROD, AVG = "sum", "max", "min", "prod", "avg"


_HOW = {"sum": "sum", "avg": "mean", "max": "max", "min": "min", "prod": "product"}


def _parted(name: str, x: Any, parts: int, axis: int = 0) -> Any:
    """An array whose axis is divided evenly: the parts along a new first axis."""
    shape = tuple(shape_of(x))
    if not shape or shape[axis] % parts:
        raise ValueError(f"{name}: axis {axis} of {list(shape)} cannot be divided evenly into {parts} parts")
    apart = st.reshape(x, shape=(*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :]))
    order = (axis, *(k for k in range(len(shape) + 1) if k != axis))
    return st.transpose(apart, axes=order)


def _joined(x: Any, axis: int = 0) -> Any:
    """The parts along the first axis one behind the other along another."""
    shape = tuple(shape_of(x))
    order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
    moved = tuple(shape[k] for k in order)
    return st.reshape(st.transpose(x, axes=order), shape=(*moved[:axis], moved[axis] * moved[axis + 1], *moved[axis + 2 :]))


def reduced(x: Any, *, op: str = "sum", group: str = WORLD) -> Any:
    """The arrays of all processes combined."""
    among = members("AllReduce", group)
    if _HOW[op] in ("sum", "mean"):
        return collectives.all_reduce(x, group=among, how=_HOW[op])
    return from_array(among.all_reduce(x._concrete("AllReduce"), _HOW[op]).wait())


def gathered(x: Any, *, group: str = WORLD) -> Any:
    """The arrays of all processes one behind the other along the first axis."""
    found = collectives.all_gather(x, group=members("AllGather", group))
    return _joined(found) if len(shape_of(x)) else found


def scattered(x: Any, *, op: str = "sum", group: str = WORLD) -> Any:
    """The arrays of all processes combined, and of the first axis this process's part."""
    among = members("ReduceScatter", group)
    parts = _parted("ReduceScatter", x, among.size)
    if _HOW[op] == "sum":
        return collectives.reduce_scatter(parts, group=among)
    return from_array(among.reduce_scatter(list(parts._concrete("ReduceScatter")), _HOW[op]).wait())


def _broadcast(xs: Any, *, root_rank: int, group: str = WORLD) -> Any:
    among = members("Broadcast", group)
    root = among.root("Broadcast", root_rank)
    several = isinstance(xs, (tuple, list))
    return tuple(collectives.broadcast(x, group=among, root=root) for x in (xs if several else (xs,)))


def _exchanged(x: Any, *, split_count: int, split_dim: int, concat_dim: int, group: str = WORLD) -> Any:
    among = members("AlltoAll", group)
    if split_count != among.size:
        raise ValueError(f"AlltoAll: split_count is the number of processes, {among.size}, got {split_count}")
    return _joined(collectives.all_to_all(_parted("AlltoAll", x, among.size, split_dim), group=among), concat_dim)


def _to_one(x: Any, *, dest_rank: int, op: str = "sum", group: str = WORLD) -> Any:
    among = members("Reduce", group)
    if _HOW[op] != "sum":
        found = among.reduce(x._concrete("Reduce"), among.root("Reduce", dest_rank), _HOW[op]).wait()
        return from_array(np.zeros(shape_of(x), x._a.dtype) if found is None else found)
    return collectives.reduce(x, group=among, root=among.root("Reduce", dest_rank))


def _gathered_in(x: Any, *, dest_rank: int, group: str = WORLD) -> Any:
    among = members("CollectiveGather", group)
    return _joined(collectives.gather(x, group=among, root=among.root("CollectiveGather", dest_rank)))


def _scattered_from(x: Any, *, src_rank: int = 0, group: str = WORLD) -> Any:
    among = members("CollectiveScatter", group)
    parts = _parted("CollectiveScatter", x, among.size)
    return collectives.scatter(parts, group=among, root=among.root("CollectiveScatter", src_rank))


def _barrier(*, group: str = WORLD) -> None:
    members("Barrier", group).barrier().wait()


def _send(x: Any, *, sr_tag: int, dest_rank: int, group: str = WORLD, group_back: str = WORLD) -> Any:
    among = members("Send", group)
    among.send(x._concrete("Send"), among.root("Send", dest_rank), sr_tag).wait()
    return x


def _receive(
    x: Any = None, *, sr_tag: int, src_rank: int, shape: Sequence[int], dtype: Any, group: str = WORLD, group_back: str = WORLD
) -> Any:
    among = members("Receive", group)
    like = np.empty(tuple(shape), as_dtype(dtype).np)
    return from_array(among.receive(like, among.root("Receive", src_rank), sr_tag).wait()[0])


_OF_GROUP = f"group={WORLD!r}"
ROWS: dict[str, tuple[str, Callable[..., Any]]] = {
    "AllReduce": (f'op="sum", {_OF_GROUP}', reduced), "AllGather": (_OF_GROUP, gathered),
    "ReduceScatter": (f'op="sum", {_OF_GROUP}', scattered), "Broadcast": (f"root_rank, {_OF_GROUP}", _broadcast),
    "AlltoAll": (f"split_count, split_dim, concat_dim, {_OF_GROUP}", _exchanged),
    "Reduce": (f'dest_rank, op="sum", {_OF_GROUP}', _to_one), "CollectiveGather": (f"dest_rank, {_OF_GROUP}", _gathered_in),
    "CollectiveScatter": (f"src_rank=0, {_OF_GROUP}", _scattered_from), "Barrier": (_OF_GROUP, _barrier),
    "Send": (f"sr_tag, dest_rank, {_OF_GROUP}, group_back={WORLD!r}", _send),
    "Receive": (f"sr_tag, src_rank, shape, dtype, {_OF_GROUP}, group_back={WORLD!r}", _receive),
}  # fmt: skip
"""The Primitive classes between processes."""
