"""The array-API promotion rules that the native functions and operators apply above `bind`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..backend import backend_of, is_array
from ..backend.canonical import canonical
from ..core import value as values
from ..core.bind import weak
from ..core.number import Number
from ..core.value import Value, dtype_of, make
from ..ops.structural import cast

_cast = cast.prim.bind

def constant(number: Any, dtype: np.dtype) -> np.ndarray:
    """A Python number beside operands of `dtype`, as a read-only 0-d array; the common ones are kept (0.3 µs)."""
    if type(number) is Number:
        return weak(number, dtype)
    return _kept(number, dtype) if number else _kept.__wrapped__(number, dtype)  # 0.0 and -0.0 are equal keys


@functools.lru_cache(4096, typed=True)
def _kept(number: Any, dtype: np.dtype) -> np.ndarray:
    found = weak(number, dtype)
    found.flags.writeable = False
    return found


def is_number(x: Any) -> bool:
    """Whether an operand is a Python number, whose dtype gives way to that of the other."""
    return isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)


_common = functools.cache(np.result_type)


def common_dtype(*dtypes: np.dtype) -> np.dtype:
    """The dtype to which dtypes promote."""
    result = dtypes[0]
    for d in dtypes[1:]:
        if d is not result:
            result = _common(result, d)
    return result


def to_dtype(x: Any, dtype: np.dtype) -> Any:
    """An array or value in a dtype."""
    return x if dtype_of(x) == dtype else cast(x, dtype=dtype)


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in one dtype; a Python number takes the other operand's dtype where that can hold its kind."""
    if is_number(x):
        if not is_number(y):
            x = constant(x, dtype_of(y))
    elif is_number(y):
        y = constant(y, dtype_of(x))
    a, b = dtype_of(x), dtype_of(y)
    if a is b:
        return x, y
    dtype = common_dtype(a, b)
    return to_dtype(x, dtype), to_dtype(y, dtype)


# What NumPy computes a function of integers in.
_FLOATING = {np.dtype(c): np.dtype(f) for c, f in zip("?bBhH", "eeeff")}
FLOAT64 = np.dtype(np.float64)


def floating(x: Any) -> Any:
    """Integers and booleans in the floating dtype in which NumPy computes functions of them; others as they are."""
    dtype = dtype_of(x)
    return cast(x, dtype=_FLOATING.get(dtype, FLOAT64)) if dtype.kind in "iub" else x


def double(x: Any) -> Any:
    """Integers and booleans in float64, as quotients and means want them; others as they are."""
    return cast(x, dtype=FLOAT64) if dtype_of(x).kind in "iub" else x


def as_operand(x: Any) -> Any:
    """An operand of an operator as a value, an array or a Python number; NotImplemented for anything else."""
    if isinstance(x, (Value, np.generic, bool, int, float, complex)):
        return x
    if isinstance(x, np.ndarray):
        return canonical(x)
    if isinstance(x, (list, tuple, str)) or x is None or not is_array(x):
        return NotImplemented
    return backend_of(x).wrap(x)


def lifted(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of which one at least is a value."""
    if isinstance(x, Value) or isinstance(y, Value):
        return x, y
    return make(values.core_class, canonical(np.asarray(x))), y
