"""`torch.nn.utils._named_member_accessor`: a module's tensors exchanged by name."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ..modules.module import Module


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor where a module has its parameter, buffer or attribute of a name; returns what was there.

    Raises:
        TypeError: `module` is none, or what would be exchanged is no tensor.
        KeyError: the name has a dot, or is empty.
        AttributeError: there is nothing of that name, and `allow_missing` is False.
    """
    if not isinstance(module, Module):
        raise TypeError(f"swap_tensor: wanted a module, got {type(module).__name__}")
    if not name or "." in name:
        raise KeyError(f"swap_tensor: wanted the name of a member, got {name!r}")
    homes = [table for table in (module._parameters, module._buffers) if name in table]
    home: dict[str, Any] = homes[0] if homes else module.__dict__
    if name not in home and not allow_missing:
        raise AttributeError(f"swap_tensor: {type(module).__name__} has no {name!r}")
    before = home.get(name)
    for x in (before, tensor):
        if x is not None and not isinstance(x, Tensor):
            raise TypeError(f"swap_tensor: {name} is to be a tensor, got {type(x).__name__}")
    if homes:
        home[name] = tensor
    else:
        setattr(module, name, tensor)
    return before
