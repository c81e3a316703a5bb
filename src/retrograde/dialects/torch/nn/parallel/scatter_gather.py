"""`torch.nn.parallel.scatter_gather`: inputs divided between devices, of which there is one."""

from __future__ import annotations

from typing import Any

from ..._api import attributes


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """The inputs for each device; raises RuntimeError for more than one."""
    if len(target_gpus) != 1:
        raise RuntimeError(f"scatter: {len(target_gpus)} devices; a module is computed on one")
    return [inputs]


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The outputs of all devices together: those of the one."""
    (only,) = outputs
    return only


__getattr__ = attributes(globals())
