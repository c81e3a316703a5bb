"""`torch.distributed` for one process: a group of size 1, in which every collective operation is complete at once."""

from __future__ import annotations

import enum as _enum
import os as _os
import sys as _sys
from collections.abc import Callable as _Callable
from typing import Any as _Any

from .._api import missing as _missing
from .._grad_modes import no_grad as _no_grad
from . import _several



class ProcessGroup:
    """The group of this one process."""

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def rank(self) -> int:
        """This process's number: 0."""
        return 0

    def size(self) -> int:
        """How many processes there are: 1."""
        return 1

    def name(self) -> str:
        """The backend's name."""
        return self._backend


class Work:
    """A collective operation that was begun: of one process, it is done."""

    def wait(self, timeout: _Any = None) -> bool:
        """True, since it is done."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True


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


class group:
    """The name of the default group."""

    WORLD: ProcessGroup | None = None


class Backend(str):
    """The name of a backend, in small letters."""

    UNDEFINED, GLOO, NCCL, MPI, UCC = "undefined", "gloo", "nccl", "mpi", "ucc"

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


def is_available() -> bool:
    """Whether process groups are offered: of one process."""
    return True


def is_nccl_available() -> bool:
    """Whether processes speak through NCCL: they do not."""
    return False


is_mpi_available = is_ucc_available = is_xccl_available = is_torchelastic_launched = is_nccl_available


def is_gloo_available() -> bool:
    """Whether the backend for the CPU may be named: for the group of one process."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return group.WORLD is not None


def _count(given: int, variable: str, otherwise: int) -> int:
    return int(_os.environ.get(variable, otherwise)) if given < 0 else given


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: _Any = None, world_size: int = -1, rank: int = -1,
    store: _Any = None, group_name: str = "", pg_options: _Any = None, device_id: _Any = None,
) -> None:  # fmt: skip
    """Set up the group of this process; raises RuntimeError for more than one, between which nothing is sent here."""
    if is_initialized():
        raise ValueError("init_process_group: there is a process group already; destroy_process_group() takes it away")
    size, own = _count(world_size, "WORLD_SIZE", 1), _count(rank, "RANK", 0)
    if size != 1 or own != 0:
        raise RuntimeError(
            f"init_process_group: process {own} of {size}; retrograde's torch dialect runs in one process and sends nothing to "
            "others"
        )
    group.WORLD = ProcessGroup(backend or "gloo")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Take the group away."""
    _of("destroy_process_group", group)
    globals()["group"].WORLD = None


def _of(name: str, given: ProcessGroup | None = None) -> ProcessGroup:
    """The group that is meant; raises ValueError where there is none."""
    found = given if given is not None else group.WORLD
    if found is None:
        raise ValueError(f"{name}: there is no process group; call init_process_group(), or ask is_initialized() first")
    return found


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number in the group."""
    return _of("get_rank", group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes are in the group."""
    return _of("get_world_size", group).size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """What the group was set up with."""
    return _of("get_backend", group).name()


def new_group(ranks: _Any = None, *args: _Any, **kwargs: _Any) -> ProcessGroup:
    """A group of some of the processes: of this one."""
    here = _of("new_group")
    if ranks is not None and list(ranks) not in ([], [0]):
        raise ValueError(f"new_group: ranks {list(ranks)} of a group of one process")
    return ProcessGroup(here.name())


def _alone(name: str, root: int) -> None:
    if root:
        raise ValueError(f"{name}: there is no process {root} in a group of one")


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: _Any = None) -> Work | None:
    """Wait for all processes: for none."""
    return _done("barrier", group, async_op)


def _done(name: str, group: ProcessGroup | None, async_op: bool) -> Work | None:
    _of(name, group)
    return Work() if async_op else None


def all_reduce(tensor: _Any, op: _Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Combine the tensors of all processes in place: of one, it stays as it is."""
    return _done("all_reduce", group, async_op)


def reduce(
    tensor: _Any, dst: int = 0, op: _Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """As `all_reduce`, for process `dst` only."""
    _alone("reduce", dst)
    return _done("reduce", group, async_op)


def broadcast(tensor: _Any, src: int = 0, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Give all processes the tensor of `src`."""
    _alone("broadcast", src)
    return _done("broadcast", group, async_op)


def broadcast_object_list(object_list: list[_Any], src: int = 0, group: ProcessGroup | None = None, device: _Any = None) -> None:
    """Give all processes the objects of `src`."""
    _alone("broadcast_object_list", src)
    _of("broadcast_object_list", group)


def _filled(name: str, targets: _Any, sources: _Any, group: ProcessGroup | None, async_op: bool) -> Work | None:
    """Copy what one process has into its place."""
    done = _done(name, group, async_op)
    if len(targets) != 1 or len(sources) != 1:
        raise ValueError(f"{name}: {len(targets)} and {len(sources)} tensors for a group of one process")
    with _no_grad():
        targets[0].copy_(sources[0])
    return done


def all_gather(
    tensor_list: list[_Any], tensor: _Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all processes in a list."""
    return _filled("all_gather", tensor_list, [tensor], group, async_op)


def gather(
    tensor: _Any, gather_list: list[_Any] | None = None, dst: int = 0, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """As `all_gather`, for process `dst` only."""
    _alone("gather", dst)
    return _filled("gather", gather_list or [], [tensor], group, async_op)


def scatter(
    tensor: _Any, scatter_list: list[_Any] | None = None, src: int = 0, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Give each process one of the tensors of `src`."""
    _alone("scatter", src)
    return _filled("scatter", [tensor], scatter_list or [], group, async_op)


def reduce_scatter(
    output: _Any, input_list: list[_Any], op: _Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Combine the lists of all processes and give each process one entry."""
    return _filled("reduce_scatter", [output], input_list, group, async_op)


def all_to_all(
    output_tensor_list: list[_Any], input_tensor_list: list[_Any], group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Give each process the entry of each process's list that is meant for it."""
    return _filled("all_to_all", output_tensor_list, input_tensor_list, group, async_op)


def all_gather_into_tensor(
    output_tensor: _Any, input_tensor: _Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all processes in one tensor."""
    return _filled("all_gather_into_tensor", [output_tensor.view_as(input_tensor)], [input_tensor], group, async_op)


def all_gather_object(object_list: list[_Any], obj: _Any, group: ProcessGroup | None = None) -> None:
    """Gather objects of all processes in a list."""
    _of("all_gather_object", group)
    object_list[:] = [obj]


def all_to_all_single(
    output: _Any, input: _Any, output_split_sizes: _Any = None, input_split_sizes: _Any = None, group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Give each process the part of each process's tensor that is meant for it."""
    return _filled("all_to_all_single", [output], [input], group, async_op)


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The numbers of the processes in a group: of the one."""
    _of("get_process_group_ranks", group)
    return [0]


def _between(name: str) -> _Callable[..., _Any]:
    def function(*args: _Any, **kwargs: _Any) -> _Any:
        _of(name)
        raise RuntimeError(f"{name}: there is no other process; retrograde's torch dialect runs in one")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Between two processes; raises RuntimeError, since there is one."
    return function


_several.offer(_sys.modules[__name__])
for _name in ("send", "recv", "isend", "irecv"):
    globals()[_name] = _between(_name)


def __getattr__(name: str) -> _Any:
    raise _missing("torch.distributed", name, globals())
