"""`torch.distributed`: groups of processes and their collective operations, over MPI (backend/processes.py).

`retrograde run --processes N` starts the processes, and so does any launcher of MPI; a process alone is a group of one.
"""

from __future__ import annotations

import datetime as _datetime
import enum as _enum
import importlib as _importlib
import os as _os
import sys as _sys
from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from ....backend import launch as _launch
from ....backend import processes as _processes
from ....core.value import make as _make
from ....tape import mutation as _mutation
from ..._shared.between import Begun as _Begun
from ..._shared.guard import kind_of as _kind_of
from .._api import missing as _missing
from .._grad_modes import no_grad as _no_grad
from .._tensor import Tensor as _Tensor
from . import _several


class ProcessGroup:
    """Some of the processes, in an order."""

    def __init__(self, members: _processes.Group, backend: str) -> None:
        self._members, self._backend = members, backend

    def rank(self) -> int:
        """This process's place, -1 where it is none of them."""
        return self._members.rank

    def size(self) -> int:
        """How many processes there are."""
        return self._members.size

    def name(self) -> str:
        """The backend's name."""
        return self._backend

    def _place(self, name: str, root: int | None, group_root: int | None = None) -> int:
        """The place of a process that is named by its number among all, or by its place."""
        if group_root is not None:
            return group_root
        try:
            return self._members.root(name, 0 if root is None else root)
        except ValueError as problem:
            raise RuntimeError(str(problem)) from None


class _NonMember:
    """What `new_group` gives processes that are not in the group."""

    NON_GROUP_MEMBER = -100


class Work(_Begun):
    """A collective operation that has begun; its tensors have their values after `wait`."""

    def __init__(self, pending: _processes.Pending, finish: _Callable[[_Any], _Any] = lambda found: None) -> None:
        super().__init__(pending, _no_grad()(finish))

    def is_success(self) -> bool:
        """Whether it ended without an exception."""
        return self.is_completed()

    def result(self) -> _Any:
        """What it gave."""
        self.wait()
        return self._result

    def get_future(self) -> _Any:
        """A future of the result, complete when it is asked for."""
        from ..futures import Future

        future: _Any = Future()
        self.wait()
        future.set_result(self._result)
        return future

    def source_rank(self) -> int:
        """The number of the process that a message came from."""
        self.wait()
        return int(self._result or 0)


class ReduceOp(_enum.Enum):
    """How tensors of several processes are combined."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # the name of the enumeration itself there

_HOW = dict(zip(ReduceOp, ("sum", "mean", "product", "min", "max", "and", "or", "xor")))


class group:
    """The name of the default group."""

    WORLD: ProcessGroup | None = None


GroupMember = _NonMember


class Backend(str):
    """The name of a backend, in small letters."""

    UNDEFINED, GLOO, NCCL, MPI, UCC = "undefined", "gloo", "nccl", "mpi", "ucc"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend: wanted the name of a backend, got {_kind_of(name)}")
        return super().__new__(cls, name.lower())


def is_available() -> bool:
    """Whether process groups are offered."""
    return True


def is_nccl_available() -> bool:
    """Whether processes speak through NCCL: they speak through MPI, whatever the backend's name."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_gloo_available() -> bool:
    """Whether the backend for the CPU may be named."""
    return True


is_mpi_available = is_gloo_available


def is_torchelastic_launched() -> bool:
    """Whether a launcher of this dialect has started the process."""
    return _launch.started()[1] > 1


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return group.WORLD is not None


def _count(given: int, variable: str, otherwise: int) -> int:
    return int(_os.environ.get(variable, otherwise)) if given < 0 else given


def _seconds(timeout: _Any) -> float:
    if timeout is None:
        return _processes.TIMEOUT
    return timeout.total_seconds() if isinstance(timeout, _datetime.timedelta) else float(timeout)


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: _Any = None, world_size: int = -1, rank: int = -1,
    store: _Any = None, group_name: str = "", pg_options: _Any = None, device_id: _Any = None,
) -> None:  # fmt: skip
    """Set up the group of all processes that were started together, whatever the name of the backend.

    Raises RuntimeError where more are named than an MPI's launcher has started.
    """
    if is_initialized():
        raise ValueError("init_process_group: there is a process group already; destroy_process_group() takes it away")
    here, count = _launch.started()
    size, own = _count(world_size, "WORLD_SIZE", count), _count(rank, "RANK", here)
    if (size, own) != (count, here):
        how = "alone" if count == 1 else f"as {here} of {count}"
        raise RuntimeError(
            f"init_process_group: process {own} of {size} is wanted, and this process was started {how}; start them together: "
            "`retrograde run --processes N SCRIPT`, mpiexec, srun, or torch.multiprocessing.spawn"
        )
    group.WORLD = ProcessGroup(_processes.world(_seconds(timeout)), backend or "gloo")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Take a group away, or all of them."""
    every = globals()["group"]
    found = every.WORLD if group is None else group
    if found is None:
        raise AssertionError("destroy_process_group: there is no process group")
    if group is None or found is every.WORLD:
        every.WORLD = None


def _of(name: str, given: _Any = None) -> ProcessGroup:
    """The group that is meant; raises ValueError where there is none."""
    found = given if given is not None else group.WORLD
    if found is None:
        raise ValueError(f"{name}: there is no process group; call init_process_group(), or ask is_initialized() first")
    return found  # type: ignore[no-any-return]


def _within(name: str, given: _Any) -> ProcessGroup | None:
    """The group of a collective operation; None where this process is none of it."""
    found = _of(name, given)
    return None if found is _NonMember.NON_GROUP_MEMBER or found.rank() < 0 else found


def get_rank(group: _Any = None) -> int:
    """This process's place in the group, -1 where it is none of it."""
    found = _within("get_rank", group)
    return -1 if found is None else found.rank()


def get_world_size(group: _Any = None) -> int:
    """How many processes are in the group, -1 where this one is none of them."""
    found = _within("get_world_size", group)
    return -1 if found is None else found.size()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine."""
    if "LOCAL_RANK" not in _os.environ and fallback_rank is None:
        raise RuntimeError("get_node_local_rank: LOCAL_RANK is not set, and there is no fallback_rank")
    return int(_os.environ.get("LOCAL_RANK", fallback_rank or 0))


def get_backend(group: _Any = None) -> str:
    """What the group was set up with."""
    return _of("get_backend", group).name()


def new_group(ranks: _Any = None, timeout: _Any = None, backend: str | None = None, *args: _Any, **kwargs: _Any) -> _Any:
    """A group of some of the processes, by their numbers; every process calls this for every group, in one order."""
    every = _of("new_group")
    chosen = list(range(every.size())) if ranks is None else [int(r) for r in ranks]
    wrong = [r for r in chosen if not 0 <= r < every.size()]
    if wrong or len(set(chosen)) < len(chosen):
        raise ValueError(f"new_group: ranks {chosen} of {every.size()} processes")
    made = _processes.group(sorted(chosen), every._members.timeout if timeout is None else _seconds(timeout))
    return ProcessGroup(made, backend or every.name()) if made.rank >= 0 else _NonMember.NON_GROUP_MEMBER


def new_subgroups(group_size: int | None = None, *args: _Any, **kwargs: _Any) -> tuple[_Any, list[_Any]]:
    """Groups of `group_size` processes each, in order: this process's, and all."""
    every = _of("new_subgroups").size()
    size = int(_os.environ.get("LOCAL_WORLD_SIZE", every)) if group_size is None else group_size
    if size < 1 or every % size:
        raise ValueError(f"new_subgroups: {every} processes in groups of {size}")
    made = [new_group(range(k, k + size)) for k in range(0, every, size)]
    return made[get_rank() // size], made


def get_process_group_ranks(group: _Any = None) -> list[int]:
    """The numbers of the processes in a group."""
    return list(_of("get_process_group_ranks", group)._members.ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number among all of the process at a place of a group."""
    return group._members.ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The place in a group of a process with a number among all."""
    return group._place("get_group_rank", global_rank)


# ------------------------------------------------------------------------------------------- collective operations


def _array(tensor: _Any, name: str = "collective operation") -> _np.ndarray:
    """What a tensor holds; raises TypeError for something else."""
    if not isinstance(tensor, _Tensor):
        raise TypeError(f"{name}: wanted a tensor, got {_kind_of(tensor)}")
    if not tensor.is_cpu:
        raise NotImplementedError(f"{name}: processes exchange what is on the CPU, this tensor is on {tensor.device}; use cpu()")
    found: _np.ndarray = tensor.detach()._a
    return found


def _write(tensor: _Any, found: _np.ndarray) -> None:
    """Put elements into a tensor, as a change in place."""
    own = tensor._a
    tensor.copy_(_wrapped(found.reshape(own.shape)))


def _wrapped(found: _np.ndarray) -> _Any:
    return _make(_Tensor, found)


def _how(op: _Any) -> str:
    return _HOW[getattr(op, "op", op)]


def _finished(work: Work, async_op: bool) -> Work | None:
    if async_op:
        return work
    work.wait()
    return None


def barrier(group: _Any = None, async_op: bool = False, device_ids: _Any = None) -> Work | None:
    """Wait for all processes."""
    found = _within("barrier", group)
    return None if found is None else _finished(Work(found._members.barrier()), async_op)


def monitored_barrier(group: _Any = None, timeout: _Any = None, wait_all_ranks: bool = False) -> None:
    """Wait for all processes; raises RuntimeError where some do not come in time."""
    found = _within("monitored_barrier", group)
    if found is not None:
        found._members.barrier().wait(None if timeout is None else _seconds(timeout))


def all_reduce(tensor: _Any, op: _Any = ReduceOp.SUM, group: _Any = None, async_op: bool = False) -> Work | None:
    """Combine the tensors of all processes, in place."""
    found = _within("all_reduce", group)
    if found is None:
        return None

    array, how = _array(tensor), _how(op)

    def finish(result: _np.ndarray | None) -> _Any:
        if result is None:
            _mutation.note(array)
        else:
            _write(tensor, result)
        return [tensor]

    bare = not (tensor.requires_grad or tensor._inference)  # of others `_write` says whether they are written at all
    if bare and _processes.combinable(array):
        return _finished(Work(found._members.all_reduce_in_place([array], how), finish), async_op)
    return _finished(Work(found._members.all_reduce(array, how), finish), async_op)


def all_reduce_coalesced(tensors: _Any, op: _Any = ReduceOp.SUM, group: _Any = None, async_op: bool = False) -> Work | None:
    """As `all_reduce`, of several tensors."""
    works = [all_reduce(t, op, group, True) for t in tensors]
    for work in works:
        if work is not None:
            work.wait()
    return works[-1] if async_op and works else None


def reduce(
    tensor: _Any, dst: int | None = None, op: _Any = ReduceOp.SUM, group: _Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """As `all_reduce`, for process `dst` only."""
    found = _within("reduce", group)
    if found is None:
        return None
    work = found._members.reduce(_array(tensor), found._place("reduce", dst, group_dst), _how(op))
    return _finished(Work(work, lambda array: None if array is None else _write(tensor, array)), async_op)


def broadcast(
    tensor: _Any, src: int | None = None, group: _Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Give all processes the tensor of `src`."""
    found = _within("broadcast", group)
    if found is None:
        return None
    root = found._place("broadcast", src, group_src)

    def finish(array: _np.ndarray) -> _Any:
        if root != found.rank():
            _write(tensor, array)
        return [tensor]

    return _finished(Work(found._members.broadcast(_array(tensor), root), finish), async_op)


def _into(tensors: _Sequence[_Any]) -> _Callable[[_Any], _Any]:
    def finish(arrays: _Any) -> _Any:
        for tensor, array in zip(tensors, arrays or ()):
            _write(tensor, array)
        return list(tensors)

    return finish


def _alike(name: str, tensors: _Any, count: int) -> None:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"{name}: wanted a list of tensors, got {_kind_of(tensors)}")
    if len(tensors) != count:
        raise RuntimeError(f"{name}: {len(tensors)} tensors for a group of {count} processes")


def all_gather(tensor_list: list[_Any], tensor: _Any, group: _Any = None, async_op: bool = False) -> Work | None:
    """Gather the tensors of all processes in a list of tensors."""
    found = _within("all_gather", group)
    if found is None:
        return None
    _alike("all_gather", tensor_list, found.size())
    array, shapes = _array(tensor), [tuple(t.shape) for t in tensor_list]
    uneven = any(s != shapes[0] for s in shapes)
    wrong = next((t for t in tensor_list if t.dtype != tensor.dtype), None)
    if wrong is not None or array.size != tensor_list[found.rank()].numel():
        raise RuntimeError(
            f"all_gather: a tensor of {tensor.dtype}{list(tensor.shape)} does not fit its place in tensor_list, of "
            f"{(wrong if wrong is not None else tensor_list[found.rank()]).dtype}{shapes[found.rank()]}"
        )
    return _finished(Work(found._members.all_gather(array, shapes if uneven else None), _into(tensor_list)), async_op)


def gather(
    tensor: _Any, gather_list: list[_Any] | None = None, dst: int | None = None, group: _Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """As `all_gather`, for process `dst` only."""
    found = _within("gather", group)
    if found is None:
        return None
    root = found._place("gather", dst, group_dst)
    if root == found.rank():
        if not gather_list:
            raise ValueError(f"gather: gather_list is missing on process {root}, which gets the tensors")
        _alike("gather", gather_list, found.size())
    elif gather_list:
        raise ValueError(f"gather: gather_list is for process {dst or 0}, which gets the tensors; leave it out on the others")
    return _finished(Work(found._members.gather(_array(tensor), root), _into(gather_list or [])), async_op)


def scatter(
    tensor: _Any, scatter_list: list[_Any] | None = None, src: int | None = None, group: _Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Give each process one of the tensors of `src`."""
    found = _within("scatter", group)
    if found is None:
        return None
    root = found._place("scatter", src, group_src)
    if root == found.rank():
        if not scatter_list:
            raise ValueError(f"scatter: scatter_list is missing on process {root}, which has the tensors")
        _alike("scatter", scatter_list, found.size())
    elif scatter_list:
        raise ValueError(f"scatter: scatter_list is for process {src or 0}, which has the tensors; leave it out on the others")
    given = [_array(t) for t in scatter_list] if scatter_list else None
    return _finished(
        Work(found._members.scatter(given, _array(tensor), root), lambda array: _write(tensor, array)), async_op
    )


def reduce_scatter(
    output: _Any, input_list: list[_Any], op: _Any = ReduceOp.SUM, group: _Any = None, async_op: bool = False
) -> Work | None:
    """Combine the lists of all processes and give each process its entry."""
    found = _within("reduce_scatter", group)
    if found is None:
        return None
    work = found._members.reduce_scatter([_array(t) for t in input_list], _how(op))
    return _finished(Work(work, lambda array: _write(output, array)), async_op)


def reduce_scatter_tensor(
    output: _Any, input: _Any, op: _Any = ReduceOp.SUM, group: _Any = None, async_op: bool = False
) -> Work | None:
    """As `reduce_scatter`, of a tensor whose first axis is the list."""
    found = _within("reduce_scatter_tensor", group)
    if found is None:
        return None
    if input.numel() != output.numel() * found.size():
        raise ValueError(
            f"reduce_scatter_tensor: input of shape {list(input.shape)} is not {found.size()} times output's {list(output.shape)}"
        )
    parts = list(_np.ravel(_array(input)).reshape(found.size(), -1))
    return _finished(
        Work(found._members.reduce_scatter(parts, _how(op)), lambda array: _write(output, array)), async_op
    )


def all_to_all(
    output_tensor_list: list[_Any], input_tensor_list: list[_Any], group: _Any = None, async_op: bool = False
) -> Work | None:
    """Give each process the entry of each process's list that is meant for it."""
    found = _within("all_to_all", group)
    if found is None:
        return None
    for tensors in (output_tensor_list, input_tensor_list):
        _alike("all_to_all", tensors, found.size())
    work = found._members.all_to_all([_array(t) for t in input_tensor_list], [tuple(t.shape) for t in output_tensor_list])
    return _finished(Work(work, _into(output_tensor_list)), async_op)


def all_to_all_single(
    output: _Any, input: _Any, output_split_sizes: _Any = None, input_split_sizes: _Any = None, group: _Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """As `all_to_all`, of tensors whose first axis is divided: evenly, or into these sizes."""
    found = _within("all_to_all_single", group)
    if found is None:
        return None
    size = found.size()

    def sizes(tensor: _Any, given: _Any) -> list[int]:
        if not given and tensor.shape[0] % size:
            raise RuntimeError(f"all_to_all_single: {tensor.shape[0]} rows cannot be divided evenly between {size} processes")
        return list(given) if given else [tensor.shape[0] // size] * size

    array, wanted = _array(input), sizes(output, output_split_sizes)
    arrays = _np.split(array, _np.cumsum(sizes(input, input_split_sizes))[:-1])
    work = found._members.all_to_all(arrays, [(n, *output.shape[1:]) for n in wanted])
    return _finished(Work(work, lambda parts: _write(output, _np.concatenate(parts))), async_op)


def all_gather_into_tensor(
    output_tensor: _Any, input_tensor: _Any, group: _Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all processes in one tensor, along its first axis or a new one in front."""
    found = _within("all_gather_into_tensor", group)
    if found is None:
        return None
    if output_tensor.numel() != input_tensor.numel() * found.size():
        raise ValueError(
            f"all_gather_into_tensor: an output of shape {list(output_tensor.shape)} does not hold {found.size()} times "
            f"{list(input_tensor.shape)}"
        )
    work = found._members.all_gather(_array(input_tensor))
    return _finished(Work(work, lambda parts: _write(output_tensor, _np.stack(parts))), async_op)


_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor


# ------------------------------------------------------------------------------------------- objects


def all_gather_object(object_list: list[_Any], obj: _Any, group: _Any = None) -> None:
    """Gather objects of all processes in a list."""
    found = _within("all_gather_object", group)
    if found is not None:
        if not isinstance(object_list, list):
            raise TypeError(f"all_gather_object: object_list must be a list, got {_kind_of(object_list)}")
        object_list[:] = found._members.all_gather_objects(obj)


def gather_object(
    obj: _Any, object_gather_list: list[_Any] | None = None, dst: int | None = None, group: _Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """As `all_gather_object`, for process `dst` only."""
    found = _within("gather_object", group)
    if found is None:
        return
    objects = found._members.all_gather_objects(obj)
    if found._place("gather_object", dst, group_dst) == found.rank():
        if object_gather_list is None:
            raise ValueError("gather_object: object_gather_list is missing on the process that gets the objects")
        object_gather_list[:] = objects


def broadcast_object_list(
    object_list: list[_Any], src: int | None = None, group: _Any = None, device: _Any = None, group_src: int | None = None
) -> None:
    """Give all processes the objects of `src`."""
    found = _within("broadcast_object_list", group)
    if found is not None:
        root = found._place("broadcast_object_list", src, group_src)
        object_list[:] = found._members.broadcast_object(list(object_list), root)


def scatter_object_list(
    scatter_object_output_list: list[_Any], scatter_object_input_list: list[_Any] | None = None, src: int | None = None,
    group: _Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Give each process one of the objects of `src`, as the first entry of its list."""
    found = _within("scatter_object_list", group)
    if found is not None:
        root = found._place("scatter_object_list", src, group_src)
        scatter_object_output_list[0] = found._members.broadcast_object(scatter_object_input_list, root)[found.rank()]


# ------------------------------------------------------------------------------------------- between two


def isend(
    tensor: _Any, dst: int | None = None, group: _Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Begin to send a tensor to process `dst`."""
    found = _within("isend", group)
    return None if found is None else Work(found._members.send(_array(tensor), found._place("isend", dst, group_dst), tag))


def irecv(
    tensor: _Any, src: int | None = None, group: _Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Begin to receive a tensor from process `src`, or from any."""
    found = _within("irecv", group)
    if found is None:
        return None

    def finish(pair: _Any) -> int:
        _write(tensor, pair[0])
        return found._members.ranks[pair[1]]

    source = None if src is None and group_src is None else found._place("irecv", src, group_src)
    return Work(found._members.receive(_array(tensor), source, tag), finish)


def send(tensor: _Any, dst: int | None = None, group: _Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to process `dst`."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: _Any, src: int | None = None, group: _Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from process `src`, or from any: the number of the process that sent it."""
    work = irecv(tensor, src, group, tag, group_src)
    return -1 if work is None else work.source_rank()


class P2POp:
    """A sending or receiving that `batch_isend_irecv` begins."""

    def __init__(
        self, op: _Callable[..., _Any], tensor: _Any, peer: int | None = None, group: _Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError("P2POp: op is isend or irecv of torch.distributed")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = op, tensor, peer, group, tag, group_peer


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[_Any]:
    """Begin several sendings and receivings."""
    return [p.op(p.tensor, p.peer, p.group, p.tag, p.group_peer) for p in p2p_op_list]


_several.offer(_sys.modules[__name__])


def __getattr__(name: str) -> _Any:
    if name in ("nn", "optim", "algorithms"):
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "GradBucket":
        from ..nn.parallel.distributed import GradBucket

        return GradBucket
    raise _missing("torch.distributed", name, globals())
