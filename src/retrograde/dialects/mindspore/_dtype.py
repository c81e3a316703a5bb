"""MindSpore's dtype objects, their NumPy counterparts and the promotion of two tensors' dtypes.

Public under `mindspore.dtype` (common/dtype.py) and, the dtypes themselves, in `mindspore`.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .._shared.dtypes import BaseDtype, numpy_lookup


class Type:
    """A type as MindSpore names it; `str` gives `Float32`, `repr` gives `mindspore.float32`."""

    __slots__ = ()

    name: str
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"mindspore.{self.name}"


class Number(BaseDtype, Type):
    """The type of a tensor's elements."""

    __slots__ = ("text",)

    def __init__(self, name: str, text: str, numpy: Any, category: int) -> None:
        super().__init__(name, numpy, category)
        self.text = text

    __str__ = Type.__str__
    __repr__ = Type.__repr__

    def __reduce__(self) -> Any:
        return _by_name, (self.name,)


class Bool(Number):
    """The type of truth values."""

    __slots__ = ()


class Int(Number):
    """Signed integers."""

    __slots__ = ()


class UInt(Number):
    """Unsigned integers."""

    __slots__ = ()


class Float(Number):
    """Floating-point numbers."""

    __slots__ = ()


class BFloat16(Number):
    """Floating-point numbers of 16 bits with the range of float32."""

    __slots__ = ()


class Complex(Number):
    """Complex numbers."""

    __slots__ = ()


bool_ = Bool("bool", "Bool", np.bool_, 0)
int8 = Int("int8", "Int8", np.int8, 1)
int16 = Int("int16", "Int16", np.int16, 1)
int32 = Int("int32", "Int32", np.int32, 1)
int64 = Int("int64", "Int64", np.int64, 1)
uint8 = UInt("uint8", "UInt8", np.uint8, 1)
uint16 = UInt("uint16", "UInt16", np.uint16, 1)
uint32 = UInt("uint32", "UInt32", np.uint32, 1)
uint64 = UInt("uint64", "UInt64", np.uint64, 1)
float16 = Float("float16", "Float16", np.float16, 2)
bfloat16 = BFloat16("bfloat16", "BFloat16", ml_dtypes.bfloat16, 2)
float32 = Float("float32", "Float32", np.float32, 2)
float64 = Float("float64", "Float64", np.float64, 2)
complex64 = Complex("complex64", "Complex64", np.complex64, 3)
complex128 = Complex("complex128", "Complex128", np.complex128, 3)

ALL: tuple[Number, ...] = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64,
    complex128,
)  # fmt: skip
ALIASES: dict[str, Number] = {
    "byte": int8, "short": int16, "int": int32, "intc": int32, "long": int64, "intp": int64, "ubyte": uint8,
    "ushort": uint16, "uintc": uint32, "uintp": uint64, "half": float16, "single": float32, "float": float32,
    "double": float64, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
FROM_NUMPY: dict[np.dtype, Number] = {d.np: d for d in ALL}
BY_NAME: dict[str, Number] = {d.name: d for d in ALL}
_NUMPY_NAMES = {**ALIASES, "float": float64, "int": int64, "uint": uint64, "float_": float64, "int_": int64}
"""What NumPy's names of C's types mean as strings, where `mindspore.float` itself is float32."""
_PYTHON: dict[Any, Number] = {bool: bool_, int: int64, float: float64, complex: complex128}


def _by_name(name: str) -> Number:
    return BY_NAME[name]


from_numpy_dtype = numpy_lookup("mindspore", FROM_NUMPY, [d.name for d in ALL])


def as_dtype(d: Any, op: str = "dtype") -> Number:
    """What stands for a dtype in a call (a dtype, its name, Python's int, float or bool, a NumPy dtype) as a dtype.

    Raises TypeError for anything else.
    """
    if isinstance(d, Number):
        return d
    if isinstance(d, str):
        found = BY_NAME.get(d.lower().rstrip("_")) or _NUMPY_NAMES.get(d)
        if found is not None:
            return found
    elif isinstance(d, type) and d in _PYTHON:
        return _PYTHON[d]
    elif isinstance(d, np.dtype) or (isinstance(d, type) and issubclass(d, np.generic)):
        return from_numpy_dtype(d)
    raise TypeError(f"{op}: wanted a mindspore dtype, got {d!r}; there are {', '.join(x.name for x in ALL)}")


def only_dtype(d: Any, op: str) -> Number:
    """The dtype `d`; raises TypeError for anything else, the name of one and Python's int, float and bool included."""
    if isinstance(d, Number):
        return d
    raise TypeError(f"{op}: dtype must be a mindspore dtype, as mindspore.float32, got {d!r}")


_WIDE_UNSIGNED = (uint16, uint32, uint64)


def _promote_pair(a: Number, b: Number) -> Number:
    if a is b:
        return a
    if a.category < b.category:
        a, b = b, a
    if b.category == 0:
        return a
    if a in _WIDE_UNSIGNED or b in _WIDE_UNSIGNED:
        raise TypeError(f"{a} and {b} have no common dtype; convert one of the tensors with astype()")
    if a.category > b.category:
        return complex128 if b is float64 else a
    if a.category == 1:
        if uint8 in (a, b):
            other = b if a is uint8 else a
            return int16 if other is int8 else other
    elif {a, b} == {float16, bfloat16}:
        return float32
    return a if a.itemsize >= b.itemsize else b


_PROMOTED: dict[tuple[Number, Number], Number] = {}


def promote_types(a: Number, b: Number) -> Number:
    """The dtype in which tensors of two dtypes are computed with; raises TypeError where there is none."""
    found = _PROMOTED.get((a, b))
    if found is None:
        found = _PROMOTED[a, b] = _promote_pair(a, b)
    return found
