"""`paddle.distributed`: groups of processes, over MPI, and layers of which each process has a copy."""

from __future__ import annotations

import contextlib
import os as _os
import subprocess as _subprocess
from typing import Any

from ...._state import is_grad_enabled as _is_grad_enabled
from ...._tree import flatten as _flatten
from ....learn.data_parallel import Reducer as _Reducer
from ....learn.data_parallel import without as _without
from .. import nn as _nn
from .._api import attributes as _attributes
from .._tensor import Tensor as _Tensor
from ._collective import (
    Group, P2POp, ReduceOp, all_gather, all_gather_object, all_reduce, all_to_all, alltoall, alltoall_single, barrier,
    batch_isend_irecv, broadcast, broadcast_object_list, destroy_process_group, gather, get_group, get_rank, get_world_size,
    init_parallel_env, irecv, is_initialized, isend, new_group, recv, reduce, reduce_scatter, scatter, scatter_object_list, send,
    wait,
)  # fmt: skip
from ._collective import array as _array
from ._collective import write as _write


def is_available() -> bool:
    """Whether process groups are offered."""
    return True


def get_backend(group: Group | None = None) -> str:
    """What the processes speak through."""
    return "MPI"


class ParallelEnv:
    """What is known of this process among others."""

    dev_id = device_id = 0
    device_type = ""

    @property
    def rank(self) -> int:
        """The number among all."""
        return get_rank()

    @property
    def local_rank(self) -> int:
        """The number on this machine."""
        return int(_os.environ.get("LOCAL_RANK", get_rank()))

    @property
    def world_size(self) -> int:
        """How many there are."""
        return get_world_size()

    nranks = world_size


class DataParallel(_nn.Layer):
    """The layer of each process, with the parameters of process 0 to begin with and the mean of all gradients.

    comm_buffer_size: gradients that are reduced at once, in MiB. find_unused_parameters: whether some may take no part in a pass.
    """

    def __init__(
        self, layers: Any, strategy: Any = None, comm_buffer_size: int = 25, last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False, group: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(layers, _nn.Layer):
            raise TypeError(f"DataParallel: wanted a Layer, got {type(layers).__name__}")
        self._layers, self._synced = layers, True
        among = (init_parallel_env() if group is None else group)._members
        trained = [p for p in layers.parameters() if not p.stop_gradient]
        if among.size > 1 and not trained:
            raise RuntimeError("DataParallel: no parameter of the layer is trained, so there is no gradient to share")
        for x in [*layers.parameters(), *layers.buffers()] if among.size > 1 else ():
            found = among.broadcast(_array("DataParallel", x), 0).wait()
            if among.rank:
                _write(x, found)
        self._reducer = None
        if among.size > 1:
            self._reducer = _Reducer(trained, among, most=comm_buffer_size << 20, unused=find_unused_parameters)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """What the layer computes; where gradients are recorded, the next backward pass shares them."""
        reducer = self._reducer
        if reducer is None or not (self._synced and _is_grad_enabled()):
            if reducer is not None:
                reducer.running = False
            return self._layers(*inputs, **options)
        reducer.check("DataParallel", lambda: [p.name for p in reducer.parameters])
        found = self._layers(*inputs, **options)
        reducer.expect([y for y in _flatten(found)[0] if isinstance(y, _Tensor)])
        return found

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        """A block whose backward passes leave gradients with their process, to be shared with the next pass outside of it."""
        return _without(self, "_synced")

    def scale_loss(self, loss: Any) -> Any:
        """The loss itself: gradients are averaged."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing: gradients are averaged while backward runs."""

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """The state of the layer."""
        return self._layers.state_dict(*args, **options)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Take over the state of a layer."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


class MultiprocessContext:
    """The processes that `spawn` has started."""

    def __init__(self, started: Any) -> None:
        self._started = started

    def join(self, timeout: float | None = None) -> bool:
        """Wait for all: whether they have ended; raises RuntimeError with the traceback of one that failed."""
        try:
            failed = self._started.wait(timeout)
        except _subprocess.TimeoutExpired:
            return False
        if failed is not None:
            raise RuntimeError(f"spawn: process {failed[0]} ended with this exception:\n{failed[1]}")
        return True


def spawn(
    func: Any, args: Any = (), nprocs: int = -1, join: bool = True, daemon: bool = False, **options: Any
) -> MultiprocessContext:
    """Call `func(*args)` in `nprocs` processes of one MPI job (-1: one for each core); get_rank() tells each its number.

    Raises RuntimeError with the traceback of the first that raised something, unless join is False.
    """
    from ..._shared.spawning import Started  # multiprocessing, which few programs need

    context = MultiprocessContext(Started(func, args, (_os.cpu_count() or 1) if nprocs == -1 else nprocs, numbered=False))
    if join:
        context.join()
    return context


__all__ = [
    "DataParallel", "Group", "P2POp", "ParallelEnv", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "all_to_all",
    "alltoall", "alltoall_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group",
    "gather", "get_backend", "get_group", "get_rank", "get_world_size", "init_parallel_env", "irecv", "is_available",
    "is_initialized", "isend", "new_group", "recv", "reduce", "reduce_scatter", "scatter", "scatter_object_list", "send", "spawn",
    "wait",
]  # fmt: skip

__getattr__ = _attributes(globals(), "fleet", "launch")
