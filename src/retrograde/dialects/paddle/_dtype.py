"""PaddlePaddle's dtype objects, what may stand for one, the default dtype, promotion of dtypes, finfo and iinfo."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .._shared.dtypes import BaseDtype, FloatLimits, IntegerLimits, numpy_lookup


class dtype(BaseDtype):
    """The type of a tensor's elements, as PaddlePaddle names it (`paddle.float32`)."""

    __slots__ = ("value", "label")

    def __init__(self, label: str, numpy: Any, category: int, value: int) -> None:
        super().__init__(label.upper(), numpy, category)
        self.label, self.value = label, value
        self.is_signed = category != 0 and not label.startswith("uint")

    def __str__(self) -> str:
        return f"paddle.{self.label}"

    def __repr__(self) -> str:
        return f"<DataType.{self.name}: {self.value}>"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> str:
        return self.label


dtype.__module__, dtype.__name__, dtype.__qualname__ = "paddle", "DataType", "DataType"

bool_ = dtype("bool", np.bool_, 0, 1)
uint8 = dtype("uint8", np.uint8, 1, 2)
int8 = dtype("int8", np.int8, 1, 3)
int16 = dtype("int16", np.int16, 1, 5)
uint32 = dtype("uint32", np.uint32, 1, 6)
int32 = dtype("int32", np.int32, 1, 7)
uint64 = dtype("uint64", np.uint64, 1, 8)
int64 = dtype("int64", np.int64, 1, 9)
float32 = dtype("float32", np.float32, 2, 10)
float64 = dtype("float64", np.float64, 2, 11)
complex64 = dtype("complex64", np.complex64, 3, 12)
complex128 = dtype("complex128", np.complex128, 3, 13)
float16 = dtype("float16", np.float16, 2, 15)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, 2, 16)
_uint16 = dtype("uint16", np.uint16, 1, 4)  # `paddle.uint16` means bfloat16; NumPy arrays of it still have a dtype

ALL = (bool_, uint8, int8, int16, int32, int64, uint32, uint64, float16, bfloat16, float32, float64, complex64,
       complex128)  # fmt: skip
FROM_NUMPY: dict[np.dtype, dtype] = {d.np: d for d in (*ALL, _uint16)}
BY_LABEL: dict[str, dtype] = {d.label: d for d in ALL}

ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128, "uint16": bfloat16,
}  # fmt: skip
for _d in (*ALL, _uint16):
    setattr(dtype, _d.name, _d)


def as_dtype(op: str, d: Any) -> dtype:
    """What stands for a dtype (a paddle or NumPy dtype, its name, or Python's `float`) as one; raises TypeError."""
    if type(d) is dtype:
        return d
    if isinstance(d, str):
        found = BY_LABEL.get(d)
        if found is not None:
            return found
        if d == "uint16":
            return bfloat16
        if d.startswith("paddle."):
            found = BY_LABEL.get(d[7:])
            if found is not None:
                return found
    try:
        np_dtype = np.dtype(d) if d is not None else None
    except TypeError:
        np_dtype = None
    if np_dtype is None or np_dtype not in FROM_NUMPY:
        raise TypeError(f"{op}: no dtype is called {d!r}; there are {', '.join(BY_LABEL)}")
    return bfloat16 if np_dtype == np.uint16 else FROM_NUMPY[np_dtype]


def full_dtype(op: str, d: Any) -> dtype:
    """As `as_dtype`, for functions to which PaddlePaddle does not say "float", nor a Python type other than `bool`."""
    if d is float or d is int or d is complex or d is np.bool_ or (isinstance(d, str) and d in ALIASES and d != "uint16"):
        raise TypeError(f"{op}: a dtype is given in full, as one of {', '.join(BY_LABEL)}, not as {d!r}")
    return as_dtype(op, d)


def np_dtype_of(op: str, d: Any, default: dtype | None = None) -> np.dtype:
    """The NumPy dtype of an optional dtype argument; the default dtype where neither is given."""
    if d is None:
        return (default or _default).np
    return as_dtype(op, d).np


from_numpy_dtype = numpy_lookup("paddle", FROM_NUMPY, BY_LABEL)
_default = float32  # of the process: threads share it


def get_default_dtype() -> str:
    """The name of the dtype of tensors made from Python floats."""
    return _default.label


def default_dtype() -> dtype:
    """The dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(d: Any) -> None:
    """Set the dtype of tensors made from Python floats; raises TypeError for one that is not floating."""
    global _default
    found = full_dtype("set_default_dtype", d)
    if found.category != 2:
        raise TypeError(f"set_default_dtype: wanted float16, bfloat16, float32 or float64, got {found}")
    _default = found


def complex_of(d: dtype) -> dtype:
    """The complex dtype whose parts have a floating one."""
    return complex128 if d is float64 or d is complex128 else complex64


def promoted(a: dtype, b: dtype) -> dtype | None:
    """The dtype in which two tensors meet; None where PaddlePaddle refuses (integers of two dtypes, say)."""
    if a is b:
        return a
    if a.category < b.category:
        a, b = b, a
    if a.category == 3:
        return complex128 if b is float64 or b is complex128 else a
    if a.category != 2 or b.category != 2:
        return None
    if a.itemsize == b.itemsize:  # float16 and bfloat16
        return float32
    return a if a.itemsize > b.itemsize else b


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a tensor that keeps its dtype may store an in-place result: its kind stays or goes up."""
    return from_.category <= to.category


class finfo(FloatLimits):
    """The limits of a floating dtype."""

    def __init__(self, dtype: Any) -> None:
        d = as_dtype("finfo", dtype)
        if d.category < 2:
            raise ValueError(f"finfo: wanted a floating dtype, got {d}; integers have paddle.iinfo")
        super().__init__({complex64: float32, complex128: float64}.get(d, d))
        self.dtype = d.label

    def __repr__(self) -> str:
        names = "min max eps resolution smallest_normal tiny bits dtype"
        shown = ", ".join(f"{n}={v:.6g}" if isinstance(v := getattr(self, n), float) else f"{n}={v}" for n in names.split())
        return f"paddle.finfo({shown})"


class iinfo(IntegerLimits):
    """The limits of an integer dtype."""

    def __init__(self, dtype: Any) -> None:
        d = as_dtype("iinfo", dtype)
        if d.category != 1:
            raise ValueError(f"iinfo: wanted an integer dtype, got {d}; floating ones have paddle.finfo")
        super().__init__(d)
        self.dtype = d.label

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"
