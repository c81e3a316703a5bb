"""Collective operations of `paddle.distributed`, over MPI (backend/processes.py)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....backend import launch, processes
from ....tape import mutation
from ..._shared.between import Begun
from ..._shared.guard import kind_of
from .._conversion import overwrite
from .._tensor import Tensor, from_array


class ReduceOp:
    """How tensors of several processes are combined."""

    SUM, MAX, MIN, PROD, AVG = range(5)


_HOW = ("sum", "max", "min", "product", "mean")


class Group:
    """Some of the processes, in an order: `rank` is this one's place, -1 where it is none of them."""

    def __init__(self, members: processes.Group, id: int) -> None:
        self._members, self.id = members, id
        self.rank, self.ranks = members.rank, list(members.ranks)
        self.nranks = self.world_size = members.size

    @property
    def name(self) -> str:
        """The group's name."""
        return f"_default_pg{self.id}"

    def is_member(self) -> bool:
        """Whether this process is one of them."""
        return self.rank >= 0

    def get_group_rank(self, rank: int) -> int:
        """The place of a process with a number among all, -1 where it is none of them."""
        return self.ranks.index(rank) if rank in self.ranks else -1


class Task(Begun):
    """A collective operation that has begun."""

    synchronize = Begun.wait


_GROUPS: list[Group] = []
"""The group of all processes first."""


def init_parallel_env(nccl_config: Any = None) -> Group:
    """The group of all processes that were started together."""
    if not _GROUPS:
        _GROUPS.append(Group(processes.world(), 0))
    return _GROUPS[0]


def is_initialized() -> bool:
    """Whether `init_parallel_env` has been called."""
    return bool(_GROUPS)


def destroy_process_group(group: Group | None = None) -> None:
    """Take a group away, or all of them."""
    if group is None or group.id == 0:
        _GROUPS.clear()


def get_group(id: int = 0) -> Group:
    """The group with a number; raises ValueError where there is none."""
    if not 0 <= id < len(_GROUPS):
        raise ValueError(f"get_group: there is no group {id}; there are {len(_GROUPS)}")
    return _GROUPS[id]


def new_group(
    ranks: Sequence[int] | None = None, backend: str | None = None, timeout: Any = None, *args: Any, **kwargs: Any
) -> Group:
    """A group of some of the processes, by their numbers; every process makes every group, in one order."""
    every = init_parallel_env()
    seconds = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else processes.TIMEOUT
    chosen = sorted(every.ranks if ranks is None else ranks)
    if any(r not in every.ranks for r in chosen) or len(set(chosen)) < len(chosen):
        raise ValueError(f"new_group: ranks {chosen} of {every.nranks} processes")
    _GROUPS.append(Group(processes.group(chosen, seconds), len(_GROUPS)))
    return _GROUPS[-1]


def members(name: str, group: Group | None) -> processes.Group | None:
    """The processes of a group, None where this one is none of them; raises RuntimeError before `init_parallel_env`."""
    if group is None and not _GROUPS and launch.started()[1] > 1:
        raise RuntimeError(f"{name}: call paddle.distributed.init_parallel_env() first")
    found = init_parallel_env() if group is None else group
    return found._members if found.rank >= 0 else None


def get_rank(group: Group | None = None) -> int:
    """This process's number among all, or its place in a group."""
    return launch.started()[0] if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """How many processes there are, in all or in a group."""
    return launch.started()[1] if group is None else group.nranks


def array(name: str, tensor: Any) -> np.ndarray:
    """What a tensor holds; raises TypeError for something else."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: wanted a Tensor, got {kind_of(tensor)}")
    found: np.ndarray = tensor._a
    return found


def write(tensor: Tensor, found: np.ndarray) -> None:
    """Put elements into a tensor, as a change in place."""
    overwrite(tensor, found.reshape(tensor._a.shape))
    mutation.note(tensor._a)


def _finished(task: Task, sync_op: bool) -> Task:
    if sync_op:
        task.wait()
    return task


def _fill(tensors: list[Any]) -> Callable[[Any], None]:
    """What puts arrays into the tensors of a list, or an empty list."""

    def finish(found: Any) -> None:
        if tensors:
            for tensor, each in zip(tensors, found or ()):
                write(tensor, each)
        else:
            tensors.extend(from_array(each) for each in found or ())

    return finish


def all_reduce(tensor: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Combine the tensors of all processes, in place."""
    among = members("all_reduce", group)
    if among is None:
        return None
    pending = among.all_reduce(array("all_reduce", tensor), _HOW[op])
    return _finished(Task(pending, lambda found: write(tensor, found)), sync_op)


def reduce(tensor: Any, dst: int, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """As `all_reduce`, for process `dst` only."""
    among = members("reduce", group)
    if among is None:
        return None
    pending = among.reduce(array("reduce", tensor), among.root("reduce", dst), _HOW[op])
    return _finished(Task(pending, lambda found: None if found is None else write(tensor, found)), sync_op)


def broadcast(tensor: Any, src: int, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Give all processes the tensor of `src`."""
    among = members("broadcast", group)
    if among is None:
        return None
    root = among.root("broadcast", src)
    pending = among.broadcast(array("broadcast", tensor), root)
    return _finished(Task(pending, lambda found: None if among.rank == root else write(tensor, found)), sync_op)


def all_gather(tensor_list: list[Any], tensor: Any, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Gather the tensors of all processes in a list, which may be empty."""
    among = members("all_gather", group)
    if among is None:
        return None
    return _finished(Task(among.all_gather(array("all_gather", tensor)), _fill(tensor_list)), sync_op)


def gather(
    tensor: Any, gather_list: list[Any] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """As `all_gather`, for process `dst` only."""
    among = members("gather", group)
    if among is None:
        return None
    root = among.root("gather", dst)
    if root == among.rank and gather_list is None:
        raise ValueError("gather: gather_list is missing on the process that gets the tensors")
    pending = among.gather(array("gather", tensor), root)
    return _finished(Task(pending, _fill(gather_list if gather_list is not None else [])), sync_op)


def scatter(
    tensor: Any, tensor_list: Any = None, src: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Give each process one of the tensors of `src`."""
    among = members("scatter", group)
    if among is None:
        return None
    given = [array("scatter", t) for t in tensor_list] if tensor_list else None
    pending = among.scatter(given, array("scatter", tensor), among.root("scatter", src))
    return _finished(Task(pending, lambda found: write(tensor, found)), sync_op)


def reduce_scatter(
    tensor: Any, tensor_list: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Combine the lists of all processes (or tensors whose first axis is one) and give each process its entry."""
    among = members("reduce_scatter", group)
    if among is None:
        return None
    one = isinstance(tensor_list, Tensor)
    parts = np.split(array("reduce_scatter", tensor_list), among.size) if one else [
        array("reduce_scatter", t) for t in tensor_list]  # fmt: skip
    return _finished(Task(among.reduce_scatter(parts, _HOW[op]), lambda found: write(tensor, found)), sync_op)


def alltoall(
    out_tensor_list: list[Any], in_tensor_list: Any, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Give each process the entry of each process's list that is meant for it."""
    among = members("alltoall", group)
    if among is None:
        return None
    given = [array("alltoall", t) for t in in_tensor_list]
    shapes = [t.shape for t in out_tensor_list] if out_tensor_list else [a.shape for a in given]
    return _finished(Task(among.all_to_all(given, shapes), _fill(out_tensor_list)), sync_op)


all_to_all = alltoall


def alltoall_single(
    out_tensor: Any, in_tensor: Any, in_split_sizes: Any = None, out_split_sizes: Any = None, group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """As `alltoall`, of tensors whose first axis is divided: evenly, or into these sizes."""
    among = members("alltoall_single", group)
    if among is None:
        return None
    given = array("alltoall_single", in_tensor)
    rows = [out_tensor.shape[0] // among.size] * among.size if not out_split_sizes else list(out_split_sizes)
    parts = np.split(given, np.cumsum(in_split_sizes)[:-1] if in_split_sizes else among.size)
    pending = among.all_to_all(parts, [(n, *out_tensor.shape[1:]) for n in rows])
    return _finished(Task(pending, lambda found: write(out_tensor, np.concatenate(found))), sync_op)


def isend(tensor: Any, dst: int, group: Group | None = None) -> Task | None:
    """Begin to send a tensor to process `dst`."""
    among = members("isend", group)
    if among is None:
        return None
    return Task(among.send(array("isend", tensor), among.root("isend", dst)), lambda found: None)


def irecv(tensor: Any, src: int | None = None, group: Group | None = None) -> Task | None:
    """Begin to receive a tensor from process `src`, or from any."""
    among = members("irecv", group)
    if among is None:
        return None
    source = None if src is None else among.root("irecv", src)
    return Task(among.receive(array("irecv", tensor), source), lambda pair: write(tensor, pair[0]))


def send(tensor: Any, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Send a tensor to process `dst`."""
    task = isend(tensor, dst, group)
    return None if task is None else _finished(task, sync_op)


def recv(tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Receive a tensor from process `src`."""
    task = irecv(tensor, src, group)
    return None if task is None else _finished(task, sync_op)


class P2POp:
    """A sending or receiving that `batch_isend_irecv` begins."""

    def __init__(self, op: Any, tensor: Any, peer: int, group: Group | None = None) -> None:
        if op not in (isend, irecv):
            raise RuntimeError("P2POp: op is paddle.distributed.isend or irecv")
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Begin several sendings and receivings."""
    return [p.op(p.tensor, p.peer, p.group) for p in p2p_op_list]


def barrier(group: Group | None = None) -> None:
    """Wait for all processes."""
    among = members("barrier", group)
    if among is not None:
        among.barrier().wait()


def wait(tensor: Any, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Nothing: what has been waited for is there."""


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Gather objects of all processes in a list."""
    among = members("all_gather_object", group)
    if among is not None:
        object_list[:] = among.all_gather_objects(obj)


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Give all processes the objects of `src`."""
    among = members("broadcast_object_list", group)
    if among is not None:
        object_list[:] = among.broadcast_object(list(object_list), among.root("broadcast_object_list", src))


def scatter_object_list(
    out_object_list: list[Any], in_object_list: list[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:
    """Give each process one of the objects of `src`."""
    among = members("scatter_object_list", group)
    if among is not None:
        out_object_list[:] = [among.broadcast_object(in_object_list, among.root("scatter_object_list", src))[among.rank]]
