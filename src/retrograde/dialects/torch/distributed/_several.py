"""What `torch.distributed` has for several processes: names that packages import, each of which says so when it is called.

No object is of the classes, so that `isinstance(x, DTensor)` is False, as it is of every tensor of one process.
"""

from __future__ import annotations

from typing import Any

from .._api import missing, submodule

_NAMES = {
    "_composable": (),
    "_composable.fsdp": ("FSDPModule", "MixedPrecisionPolicy", "fully_shard"),
    "_tensor": ("DTensor", "DeviceMesh", "Partial", "Replicate", "Shard", "distribute_tensor"),
    "_tensor.experimental": ("implicit_replication",),
    "device_mesh": ("DeviceMesh", "init_device_mesh"),
    "fsdp": ("FSDPModule", "FullyShardedDataParallel", "MixedPrecision", "MixedPrecisionPolicy", "fully_shard"),
    "tensor": ("DTensor", "DeviceMesh", "Partial", "Replicate", "Shard", "distribute_module", "distribute_tensor"),
}
"""The names of each module below `torch.distributed`."""
_MADE: dict[str, Any] = {}


def _refusing(name: str, module: str) -> Any:
    """A class or function that raises RuntimeError when it is called; one object for each name, wherever it is offered."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{name}: retrograde's torch dialect runs in one process, and this divides work or tensors between several; "
            "leave it out where torch.distributed.get_world_size() is 1"
        )

    if name not in _MADE:
        made: Any = type(name, (), {"__new__": refuse}) if name[0].isupper() else refuse
        made.__name__, made.__qualname__, made.__module__ = name, name, module
        made.__doc__ = "Of several processes; raises RuntimeError when it is called."
        _MADE[name] = made
    return _MADE[name]


def offer(namespace: dict[str, Any]) -> None:
    """Give a module's namespace its names, and an answer for those that it has not."""
    path = namespace["__name__"].partition(".distributed.")[2]
    public = f"torch.distributed.{path}"
    names = {name: _refusing(name, public) for name in _NAMES[path]}

    def absent(name: str) -> Any:
        if f"{path}.{name}" in _NAMES:
            return submodule(namespace["__name__"], name)
        raise missing(public, name, names)

    namespace.update(names, __all__=list(names), __getattr__=absent)
