"""`DistributedDataParallel`: a module of which every process has a copy, with gradients averaged while backward runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ....._tree import flatten
from .....core.value import make
from .....learn.data_parallel import Bucket, Reducer, without
from ... import distributed as dist
from ..._api import attributes
from ..._grad_modes import is_grad_enabled, no_grad
from ..._tensor import Tensor
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ..modules.module import Module

_MEGABYTE = 1 << 20


class GradBucket:
    """Gradients that are reduced together, as a communication hook is given them."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket, self._flat = bucket, make(Tensor, bucket.flat)

    def index(self) -> int:
        """The place among the buckets: they are reduced in this order."""
        return self._bucket.index

    def buffer(self) -> Tensor:
        """The gradients one behind the other, in one dimension."""
        return self._flat

    def set_buffer(self, buffer: Tensor) -> None:
        """Take other elements for them."""
        self._flat = buffer

    def gradients(self) -> list[Tensor]:
        """The gradients, as views of the buffer."""
        return [self._flat[place].view(p.shape) for p, place in zip(self.parameters(), self._bucket.places)]

    def parameters(self) -> list[Any]:
        """The parameters."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Whether it is the last one of the pass."""
        return self._bucket.last


class DistributedDataParallel(Module, Joinable):
    """The module of each process, with the parameters and buffers of process 0 to begin with and the mean of all gradients.

    module: has a parameter that requires a gradient at least. find_unused_parameters: whether some may take no part in a
    pass; without it such a pass is an error in the next one. broadcast_buffers: whether process 0's buffers are everybody's
    before each forward pass. bucket_cap_mb: gradients that are reduced at once, in MiB.

    Raises ValueError without a process group, RuntimeError for modules without parameters to be trained, or that are not the
    same in all processes.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0, broadcast_buffers: bool = True,
        init_sync: bool = True, process_group: Any = None, bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False, check_reduction: bool = False, gradient_as_bucket_view: bool = False,
        static_graph: bool = False, delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None, device_mesh: Any = None, skip_all_reduce_unused_params: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        Joinable.__init__(self)
        group = dist._of("DistributedDataParallel", process_group)
        if mixed_precision is not None or device_mesh is not None:
            raise NotImplementedError("DistributedDataParallel: mixed_precision and device_mesh are not offered; use autocast")
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.module, self.process_group, self.dim = module, group, dim
        self.device_ids = self.output_device = None
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.gradient_as_bucket_view, self.static_graph = gradient_as_bucket_view, static_graph
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._names = [n for n, p in module.named_parameters() if p.requires_grad and n not in ignored]
        parameters = [p for n, p in module.named_parameters() if p.requires_grad and n not in ignored]
        if not parameters:
            raise RuntimeError("DistributedDataParallel: no parameter of the module requires a gradient: there is none to share")
        if (elsewhere := next((p.device for p in parameters if not p.is_cpu), None)) is not None:
            raise NotImplementedError(
                f"DistributedDataParallel: processes exchange what is on the CPU, and the module is on {elsewhere}; use cpu()"
            )
        buffers = dict(module.named_buffers())
        self._buffers_shared = {n: b for n, b in buffers.items() if n not in ignored}
        every = [p for n, p in module.named_parameters() if n not in ignored]
        if init_sync:
            self._alike(every)
            self._share([*every, *self._buffers_shared.values()], 0)
        most = 25 if bucket_cap_mb is None else bucket_cap_mb
        unused = find_unused_parameters or static_graph
        self._reducer = Reducer(parameters, group._members, most=int(most * _MEGABYTE), unused=unused)
        self._hook: Any = None
        self._joined = False

    def _alike(self, tensors: list[Any]) -> None:
        mine = [(str(t.dtype), tuple(t.shape)) for t in tensors]
        every = self.process_group._members.all_gather_objects(mine)
        for other, theirs in enumerate(every):
            if theirs != every[0]:
                k = next((k for k, (a, b) in enumerate(zip(theirs, every[0])) if a != b), min(len(theirs), len(every[0])))
                found = [x[k] if k < len(x) else "missing" for x in (every[0], theirs)]
                raise RuntimeError(
                    f"DistributedDataParallel: parameter {k} is {found[0]} in process 0 and {found[1]} in process {other}; the "
                    "processes have to make the same module"
                )

    def _share(self, tensors: list[Any], root: int) -> None:
        """Give everybody the tensors of a process: those of one dtype at once."""
        by_dtype: dict[Any, list[Any]] = {}
        for t in tensors:
            by_dtype.setdefault(t.dtype, []).append(t)
        for some in by_dtype.values():
            flat = np.concatenate([np.ravel(dist._array(t)) for t in some])
            found = self.process_group._members.broadcast(flat, root).wait()
            if root != self.process_group.rank():
                with no_grad():
                    for t, part in zip(some, np.split(found, np.cumsum([t.numel() for t in some])[:-1])):
                        dist._write(t, part)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives. Where gradients are recorded, the next backward pass shares them."""
        syncing = is_grad_enabled() and self.require_backward_grad_sync
        if syncing:
            self._reducer.check("DistributedDataParallel", lambda: self._names)
        Join.notify_join_context(self)
        if self._join_config.enable:
            self._tell(syncing)
        if self.require_forward_param_sync and self.broadcast_buffers and self._buffers_shared:
            self._share(list(self._buffers_shared.values()), self._authority())
        found = self.module(*inputs, **kwargs)
        if syncing:
            self._reducer.expect([y for y in flatten(found)[0] if isinstance(y, Tensor)])
        else:
            self._reducer.running = False
        return found

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        """A block whose backward passes leave gradients with their process, to be shared with the next pass outside of it."""
        return without(self, "require_backward_grad_sync")

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """Reduce buckets by `hook(state, bucket)`, which gives a future of a tensor like the bucket's buffer.

        Raises RuntimeError where there is a hook already, TypeError where it cannot be called.
        """
        if not callable(hook):
            raise TypeError(f"register_comm_hook: hook must be a function, got {type(hook).__name__}")
        if self._hook is not None:
            raise RuntimeError("register_comm_hook: there is a communication hook already; a module has one")
        self._hook = hook

        def reduce(bucket: Bucket) -> Callable[[], Any]:
            future = hook(state, GradBucket(bucket))

            def result() -> np.ndarray:
                found = future.wait()
                return np.ravel(dist._array(found[0] if isinstance(found, (list, tuple)) else found))

            return result

        self._reducer.reduction = reduce

    def _set_static_graph(self) -> None:
        self.static_graph = self._reducer.unused = True

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_reducer", "process_group")}

    # ---------------------------------------------------------------------------------------- joining

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """A context in which processes may have different numbers of batches."""
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What this process does when it has no more batches."""
        return _Shadow(self, **kwargs)

    @property
    def join_device(self) -> Any:
        return next(self.module.parameters()).device

    @property
    def join_process_group(self) -> Any:
        return self.process_group

    def _tell(self, syncing: bool) -> bool:
        """Among processes of which some have no more batches: whether gradients will be shared, and how many are still there."""
        count = np.array([not self._joined, syncing], np.int32)
        active, wanted = self.process_group._members.all_reduce(count).wait()
        if not self._divides_by_all():
            self._reducer.divisor = int(active)
        return bool(wanted)

    def _divides_by_all(self) -> bool:
        return bool(self._join_hook_options.get("divide_by_initial_world_size", True))

    def _authority(self) -> int:
        """The process whose buffers are everybody's: 0, or among joining ones the last that still has batches."""
        if not self._join_config.enable:
            return 0
        mine = np.array([-1 if self._joined else self.process_group.rank()], np.int32)
        return int(self.process_group._members.all_reduce(mine, "max").wait()[0])


class _Shadow(JoinHook):
    """Takes part in what the others' passes do, with gradients of zero."""

    def __init__(self, ddp: DistributedDataParallel, **options: Any) -> None:
        self.ddp = ddp
        ddp._join_hook_options = options

    def main_hook(self) -> None:
        ddp = self.ddp
        ddp._joined = True
        syncing = ddp._tell(False)
        if ddp.require_forward_param_sync and ddp.broadcast_buffers and ddp._buffers_shared:
            ddp._share(list(ddp._buffers_shared.values()), ddp._authority())
        if syncing:
            ddp._reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        ddp = self.ddp
        rank = ddp.process_group.rank()
        root = int(ddp.process_group._members.all_reduce(np.array([rank if is_last_joiner else -1]), "max").wait()[0])
        ddp._share([*ddp.module.parameters(), *ddp._buffers_shared.values()], root)
        ddp._joined, ddp._reducer.divisor = False, ddp.process_group.size()


__getattr__ = attributes(globals())
