"""DataParallel on one device: the module itself, under the name `module`."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ..modules.module import Module


class DataParallel(Module):
    """Holds a module as `module` and calls it, on one device: inputs go to where its parameters are."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return data_parallel(self.module, inputs, module_kwargs=kwargs)


def data_parallel(
    module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Call a module on its inputs (a tuple, or one), which go to where its first parameter is."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    first = next(module.parameters(), None)
    where = None if first is None or first.is_cpu else first.device
    return module(*_there(given, where), **_there(module_kwargs or {}, where))


def _there(x: Any, where: Any) -> Any:
    """Tensors, and those in tuples, lists and dictionaries, on a device; None: as they are."""
    if where is None:
        return x
    if isinstance(x, Tensor):
        return x.to(where)
    if type(x) in (tuple, list):
        return type(x)(_there(part, where) for part in x)
    return {key: _there(part, where) for key, part in x.items()} if type(x) is dict else x
