"""PyTorch's type promotion: tensors with axes before 0-d tensors before Python numbers, each by kind.

`pair` is what binary operations call when their operands are not two tensors of one dtype already.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core.number import Number
from ...core.value import Value, shape_of
from ...ops.structural import cast
from .._shared.arguments import operand_check
from .._shared.dtypes import number_kind
from .._shared.elementwise import constant
from . import _dtype
from ._api import REGISTRY
from ._dtype import FROM_NUMPY, complex64, complex128, dtype, float64, int64, promote_types

_ndarray = np.ndarray
_cast = cast.prim.bind  # type: ignore[attr-defined]


def scalar_dtype(x: Any) -> dtype:
    """The dtype that a Python number stands for when it decides."""
    return number_dtype(number_kind(x))


def number_dtype(kind: int) -> dtype:
    """The dtype that Python numbers of a kind stand for, which counts as `category` does."""
    if kind < 2:
        return int64 if kind else _dtype.bool_
    default = _dtype.get_default_dtype()
    return default if kind == 2 else default.to_complex()


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if lower.category <= higher.category:
        return higher
    if higher.category == 2:  # a lower complex only changes the kind, not the precision
        return complex128 if higher is float64 else complex64
    return promote_types(higher, lower)


def result_dtype(*operands: Any) -> dtype:
    """The dtype in which an operation on these tensors and numbers takes place."""
    dimensioned: dtype | None = None
    zero: dtype | None = None
    number: dtype | None = None
    for x in operands:
        if isinstance(x, Value):
            array = x._a
            d = FROM_NUMPY[array.dtype if not isinstance(array, Value) else _dtype_of(array)]
            if _ndim(array):
                dimensioned = d if dimensioned is None else promote_types(dimensioned, d)
            else:
                zero = d if zero is None else promote_types(zero, d)
        else:
            d = scalar_dtype(x)
            number = d if number is None else promote_types(number, d)
    result = _combine(dimensioned, _combine(zero, number))
    assert result is not None, "promotion of no operands"
    return result


def _dtype_of(x: Any) -> Any:
    while isinstance(x, Value):
        x = x._a
    return x.dtype


def _ndim(x: Any) -> int:
    while isinstance(x, Value):
        x = x._a
    return len(x.shape)


def to_dtype(x: Any, d: dtype) -> Any:
    """A tensor or number in a dtype: a tensor is cast (recorded), a number becomes a 0-d array."""
    if isinstance(x, Value):
        return x if _dtype_of(x._a) == d.np else _cast(x, dtype=d.np)
    return constant(x.item() if isinstance(x, np.generic) else x, d.np)


def python_number(op: str, argument: str, x: Any) -> Any:
    """A number, or a tensor of one element, as a Python number; raises TypeError for anything else."""
    if isinstance(x, np.generic) or (isinstance(x, Value) and math.prod(shape_of(x)) == 1):
        x = x.item()  # type: ignore[union-attr]
    if not isinstance(x, (int, float, complex)):
        raise TypeError(f"{op}: {argument} must be a number, got {type(x).__name__}")
    return x


def number_array(op: str, value: Any, np_dtype: np.dtype) -> np.ndarray:
    """A Python number as a read-only 0-d array of a tensor's dtype; raises RuntimeError where that cannot hold it.

    Fractions are cut off for whole numbers. A negative int wraps around in an unsigned dtype if its magnitude fits.
    """
    if type(value) is float and np_dtype.kind == "f" and -60000.0 < value < 60000.0:
        return constant(value, np_dtype)
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is Number and (np_dtype.kind == "f" or (value.kind is int and np_dtype.name == "int64")):
        return constant(value, np_dtype)
    if np_dtype.kind == "b" or (type(value) is int and -128 < value < 128):
        return constant(value, np_dtype)
    if not isinstance(value, float) and isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError(f"{op}: {value} does not fit into 64 bits")
    if isinstance(value, complex) and np_dtype.kind != "c":
        if value.imag:
            raise RuntimeError(f"{op}: the complex number {value} cannot be stored in dtype {FROM_NUMPY[np_dtype]}")
        value = value.real
    if np_dtype.kind in "iu":
        info = np.iinfo(np_dtype)
        whole = isinstance(value, int)
        least = info.min if np_dtype.kind == "i" else -info.max if whole else 0
        if not least <= value <= info.max:  # which nan is not
            raise RuntimeError(f"{op}: {value} is out of the range of dtype {FROM_NUMPY[np_dtype]}")
        value = int(value)
    elif np_dtype.kind != "c":
        value = float(value)
        if abs(value) > _largest(np_dtype) and math.isfinite(value):
            raise RuntimeError(f"{op}: {value} is out of the range of dtype {FROM_NUMPY[np_dtype]}")
    return constant(value, np_dtype)


@functools.cache
def _largest(np_dtype: np.dtype) -> float:
    return _dtype.finfo(FROM_NUMPY[np_dtype]).max


def stored_number(op: str, value: Any, np_dtype: np.dtype) -> np.ndarray:
    """As `number_array`, for operations that cast to 16-bit floats last, so that these overflow to inf."""
    if np_dtype.itemsize == 2 and np_dtype.kind not in "iu":
        return number_array(op, value, np.dtype(np.float64)).astype(np_dtype)
    return number_array(op, value, np_dtype)


def pair(op: str, x: Any, y: Any, *, floating: bool = False) -> tuple[Any, Any]:
    """Two operands, of which one at least is a tensor, in their common dtype (a floating one, if asked)."""
    if isinstance(x, Value) and isinstance(y, Value):
        a, b = x._a, y._a
        if type(a) is _ndarray and type(b) is _ndarray and a.dtype is b.dtype and a.dtype.kind == "f":
            return x, y
    x, y = operand(op, x), operand(op, y)
    d = result_dtype(x, y)
    if floating and d.category < 2:
        d = _dtype.get_default_dtype()
    return to_dtype(x, d), to_dtype(y, d)


operand = operand_check(REGISTRY, TypeError, "a tensor")


def floated(x: Value) -> Value:
    """A tensor in a floating dtype: integers and booleans are cast to the default one."""
    d = FROM_NUMPY[_dtype_of(x._a)]
    return x if d.category >= 2 else _cast(x, dtype=_dtype.get_default_dtype().np)
