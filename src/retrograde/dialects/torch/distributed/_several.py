"""What `torch.distributed` has for several processes: names that packages import, each of which says so when it is called.

No object is of the classes, so that `isinstance(x, DTensor)` is False, as it is of every tensor of one process.
"""

from __future__ import annotations

import dataclasses
import datetime
import sys
import types
from typing import Any

from .._api import missing

_NAMES = {
    "_composable": (),
    "_composable.fsdp": ("FSDPModule", "MixedPrecisionPolicy", "fully_shard"),
    "_functional_collectives": ("all_to_all_single_autograd", "wait_tensor"),
    "_tensor": ("DTensor", "DeviceMesh", "Partial", "Replicate", "Shard", "distribute_tensor"),
    "_tensor.experimental": ("implicit_replication",),
    "autograd": ("DistAutogradContext", "backward", "context", "get_gradients", "is_available"),
    "checkpoint": ("FileSystemReader", "FileSystemWriter", "load", "save"),
    "checkpoint.hf_storage": ("HuggingFaceStorageReader", "HuggingFaceStorageWriter"),
    "constants": ("default_pg_timeout",),
    "device_mesh": ("DeviceMesh", "init_device_mesh"),
    "elastic": (),
    "elastic.multiprocessing": (),
    "elastic.multiprocessing.errors": ("ChildFailedError", "record"),
    "fsdp": (
        "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecision", "MixedPrecisionPolicy",
        "ShardingStrategy", "fully_shard",
    ),
    "fsdp.fully_sharded_data_parallel": ("FullyShardedDataParallel", "ShardingStrategy", "StateDictType"),
    "fsdp.wrap": ("transformer_auto_wrap_policy",),
    "rpc": ("RRef", "init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"),
    "tensor": (
        "DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor",
    ),
    "tensor._utils": ("compute_local_shape_and_global_offset",),
    "tensor.placement_types": ("Partial", "Placement", "Replicate", "Shard", "_StridedShard"),
}  # fmt: skip
"""The names of each module below `torch.distributed`."""
class Placement:
    """How a tensor lies on several processes."""


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Divided along a dimension."""

    dim: int


@dataclasses.dataclass(frozen=True)
class _StridedShard(Shard):
    """Divided along a dimension that is divided already."""

    split_factor: int = 1


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """The same on all."""


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """To be combined."""

    reduce_op: str = "sum"


_ANSWERS: dict[str, Any] = {
    "is_available": lambda: False, "record": lambda fn: fn, "default_pg_timeout": datetime.timedelta(minutes=30),
    **{kind.__name__: kind for kind in (Placement, Shard, _StridedShard, Replicate, Partial)},
}  # fmt: skip
"""The names that answer for one process."""
_MADE: dict[str, Any] = {}


def _refusing(name: str, module: str) -> Any:
    """A class or function that raises RuntimeError when it is called; one object for each name, wherever it is offered."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{name}: retrograde's torch dialect divides no tensors and no programs between processes; use one process, or "
            "DistributedDataParallel and the collective operations of torch.distributed"
        )

    if name not in _MADE:
        made: Any = type(name, (), {"__new__": refuse}) if name.lstrip("_")[0].isupper() else refuse
        made.__name__, made.__qualname__, made.__module__ = name, name, module
        made.__doc__ = "Of several processes; raises RuntimeError when it is called."
        _MADE[name] = made
    return _MADE[name]


def offer(package: types.ModuleType) -> None:
    """Make the modules, below the package and where imports look for them."""
    for path, names in _NAMES.items():
        public = f"torch.distributed.{path}"
        made = types.ModuleType(f"{package.__name__}.{path}", f"`{public}`: what divides work between processes.")
        members = {name: _ANSWERS.get(name) or _refusing(name, public) for name in names}
        vars(made).update(members, __all__=list(names), __path__=[])
        vars(made)["__getattr__"] = _absent(public, names)
        above = sys.modules[made.__name__.rpartition(".")[0]]
        setattr(above, path.rpartition(".")[2], made)
        sys.modules[made.__name__] = made


def _absent(public: str, names: tuple[str, ...]) -> Any:
    def absent(name: str) -> Any:
        raise missing(public, name, names)

    return absent
