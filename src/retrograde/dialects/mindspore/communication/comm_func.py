"""`mindspore.communication.comm_func`: collective operations as functions; those that give tensors have derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....backend import processes
from ..._shared.between import Begun
from .._api import attributes
from .._assign import write
from .._tensor import Tensor, from_array
from ..ops import _between
from ._groups import WORLD, members


class CommHandle(Begun):
    """An operation between processes that has begun."""

    def wait(self) -> None:  # type: ignore[override]
        """Wait for the other processes."""
        super().wait()


def _with_handle(result: Any, async_op: bool) -> tuple[Any, CommHandle | None]:
    """A result, and a handle where one is asked for: of an operation that is complete."""
    return result, CommHandle(processes.Pending(members("wait", None), "wait", [], bool)) if async_op else None


def all_reduce(tensor: Any, op: str = "sum", group: str = WORLD, async_op: bool = False) -> tuple[Any, CommHandle | None]:
    """The tensors of all processes combined, and a handle where `async_op` asks for one."""
    return _with_handle(_between.reduced(tensor, op=op, group=group), async_op)


def all_gather_into_tensor(tensor: Any, group: str = WORLD, async_op: bool = False) -> tuple[Any, CommHandle | None]:
    """The tensors of all processes one behind the other, and a handle."""
    return _with_handle(_between.gathered(tensor, group=group), async_op)


def reduce_scatter_tensor(
    tensor: Any, op: str = "sum", group: str = WORLD, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """The tensors of all processes combined, and of the result this process's part along the first axis; and a handle."""
    return _with_handle(_between.scattered(tensor, op=op, group=group), async_op)


def broadcast(tensor: Any, src: int = 0, group: str = WORLD) -> Any:
    """The tensor of process `src`."""
    return _between.ROWS["Broadcast"][1](tensor, root_rank=src, group=group)[0]


def reduce(tensor: Any, dst: int, op: str = "sum", group: str = WORLD) -> Any:
    """The tensors of all processes combined, for process `dst`."""
    return _between.ROWS["Reduce"][1](tensor, dest_rank=dst, op=op, group=group)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = WORLD) -> Any:
    """The tensors of all processes one behind the other, for process `dst`."""
    return _between.ROWS["CollectiveGather"][1](tensor, dest_rank=dst, group=group)


def scatter_tensor(tensor: Any, src: int = 0, group: str = WORLD) -> Any:
    """This process's part, along the first axis, of the tensor of process `src`."""
    return _between.ROWS["CollectiveScatter"][1](tensor, src_rank=src, group=group)


def barrier(group: str = WORLD, async_op: bool = False) -> CommHandle | None:
    """Wait for all processes."""
    handle = CommHandle(members("barrier", group).barrier())
    if async_op:
        return handle
    handle.wait()
    return None


def isend(tensor: Any, dst: int = 0, group: str = WORLD, tag: int = 0) -> CommHandle:
    """Begin to send a tensor to process `dst`."""
    among = members("isend", group)
    return CommHandle(among.send(tensor._concrete("isend"), among.root("isend", dst), tag))


def irecv(tensor: Any, src: int = 0, group: str = WORLD, tag: int = 0) -> tuple[Any, CommHandle]:
    """Begin to receive a tensor like this one from process `src`: the tensor that will hold it, and a handle."""
    among = members("irecv", group)
    like = tensor._concrete("irecv")
    target: Tensor = from_array(np.zeros_like(like))
    pending = among.receive(like, among.root("irecv", src), tag)
    return target, CommHandle(pending, lambda pair: write("irecv", target, from_array(pair[0])))


def send(tensor: Any, dst: int = 0, group: str = WORLD, tag: int = 0) -> None:
    """Send a tensor to process `dst`."""
    isend(tensor, dst, group, tag).wait()


def recv(tensor: Any, src: int = 0, group: str = WORLD, tag: int = 0) -> Any:
    """A tensor like this one from process `src`."""
    found, handle = irecv(tensor, src, group, tag)
    handle.wait()
    return found


def all_to_all_with_output_shape(
    output_shape_list: Sequence[Any], input_tensor_list: Sequence[Any], group: str | None = None, async_op: bool = False
) -> tuple[tuple[Any, ...], CommHandle | None]:
    """Of each process's list the entry that is meant for this one, and a handle."""
    among = members("all_to_all", group)
    given = [x._concrete("all_to_all") for x in input_tensor_list]
    shapes = [tuple(s.shape if isinstance(s, Tensor) else s) for s in output_shape_list]
    found = tuple(map(from_array, among.all_to_all(given, shapes).wait()))
    return found, _with_handle(None, async_op)[1]


__all__ = [
    "all_gather_into_tensor", "all_reduce", "all_to_all_with_output_shape", "barrier", "broadcast", "gather_into_tensor", "irecv",
    "isend", "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor", "send",
]  # fmt: skip

__getattr__ = attributes(globals())
