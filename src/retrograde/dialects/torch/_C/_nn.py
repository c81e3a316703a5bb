"""`torch._C._nn`: how the arguments of `Module.to` are read."""

from __future__ import annotations

from typing import Any

from .._api import attributes
from .._dtype import as_dtype, dtype
from .._size import device
from .._tensor import Tensor


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, non_blocking and memory format that the arguments of `to` ask for; None for what they do not."""
    where, kind = kwargs.get("device"), as_dtype(kwargs.get("dtype"))
    flags = [bool(kwargs.get("non_blocking", False))]
    for a in map(as_dtype, args):
        if isinstance(a, Tensor):
            where, kind = a.device, a.dtype
        elif isinstance(a, dtype):
            kind = a
        elif isinstance(a, bool):
            flags.append(a)
        elif a is not None:
            where = a
    return None if where is None else device(where), kind, flags[-1], kwargs.get("memory_format")


__getattr__ = attributes(globals())
