"""The array-API promotion rules that the native Tensor's operators apply above `bind`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.bind import weak
from ..core.value import Value, dtype_of, make
from ..ops.structural import cast


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in one dtype; a Python scalar takes the other operand's dtype where that can hold its kind."""
    x_scalar = isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)
    y_scalar = isinstance(y, (bool, int, float, complex)) and not isinstance(y, np.generic)
    if x_scalar and not y_scalar:
        x = weak(x, dtype_of(y))
    elif y_scalar and not x_scalar:
        y = weak(y, dtype_of(x))
    a, b = dtype_of(x), dtype_of(y)
    if a == b:
        return x, y
    dtype = np.result_type(a, b)
    return (x if a == dtype else cast(x, dtype=dtype)), (y if b == dtype else cast(y, dtype=dtype))


def floating(x: Any) -> Any:
    """Integers and booleans as the default floating dtype (float64), as true division wants them."""
    if dtype_of(x).kind in "iub":
        return cast(x, dtype=np.dtype(np.float64))
    return x


def as_operand(x: Any) -> Any:
    """An operand of an operator as a value, an array or a Python scalar; NotImplemented for anything else."""
    if isinstance(x, (Value, np.ndarray, np.generic, bool, int, float, complex)):
        return x
    if isinstance(x, (list, tuple)):
        return NotImplemented
    if hasattr(x, "__array_namespace__") or hasattr(x, "__dlpack__"):
        return x
    return NotImplemented


def value(array: Any, cls: type[Value]) -> Value:
    """A constant of class `cls` around an array."""
    return make(cls, array)
