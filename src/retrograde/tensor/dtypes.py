"""Dtypes: the names, what they hold (finfo, iinfo), kinds and promotion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..backend.canonical import canonical_dtype
from ..core.value import Value, dtype_of
from .promotion import common_dtype, constant, is_number

bool_ = np.dtype(np.bool_)
int8, int16, int32, int64 = (np.dtype(f"i{n}") for n in (1, 2, 4, 8))
uint8, uint16, uint32, uint64 = (np.dtype(f"u{n}") for n in (1, 2, 4, 8))
float16, float32, float64 = (np.dtype(f"f{n}") for n in (2, 4, 8))
complex64, complex128 = np.dtype("c8"), np.dtype("c16")


def __getattr__(name: str) -> Any:
    if name == "bfloat16":  # ml_dtypes takes 8 ms to import
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_dtype(dtype: Any) -> np.dtype:
    """A dtype given as a dtype, a NumPy or Python type or a name; raises TypeError for anything else."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        return __getattr__("bfloat16")
    try:
        return canonical_dtype(np.dtype(dtype))
    except TypeError:
        raise TypeError(f"dtype: there is no {dtype!r}; take one of the namespace, such as retrograde.float32") from None


class finfo_object(NamedTuple):
    """What a floating dtype holds; `dtype` is that of the real part."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class iinfo_object(NamedTuple):
    """What an integer dtype holds."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def _dtype_argument(x: Any) -> np.dtype:
    return dtype_of(x) if isinstance(x, (Value, np.ndarray)) else as_dtype(x)


def finfo(type: Any, /) -> finfo_object:
    """Bits, precision and range of a floating dtype (or a tensor's); of the real part for a complex one.

    Raises TypeError for another dtype.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.finfo(rg.float32).bits
    32
    """
    dtype = _dtype_argument(type)
    if dtype.name == "bfloat16":
        import ml_dtypes

        found: Any = ml_dtypes.finfo(dtype)
        real = dtype
    elif dtype.kind in "fc":
        found = np.finfo(dtype)
        real = found.dtype
    else:
        raise TypeError(f"finfo: wanted a floating or complex dtype, got {dtype}; use iinfo for integers")
    numbers = (float(found.eps), float(found.max), float(found.min), float(found.smallest_normal))
    return finfo_object(int(found.bits), *numbers, np.dtype(real))


def iinfo(type: Any, /) -> iinfo_object:
    """Bits and range of an integer dtype (or a tensor's).

    Raises TypeError for another dtype.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.iinfo(rg.int8).max
    127
    """
    dtype = _dtype_argument(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: wanted an integer dtype, got {dtype}; use finfo for floating ones")
    found = np.iinfo(dtype)
    return iinfo_object(int(found.bits), int(found.max), int(found.min), dtype)


_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: a dtype, one of the standard's names, or a tuple of these.

    Raises ValueError for a kind that there is not.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.isdtype(rg.float32, ("integral", "real floating"))
    True
    """
    dtype = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: the kinds are {', '.join(map(repr, _KINDS))} and dtypes, not {kind!r}")
        return ("f" if dtype.name == "bfloat16" else dtype.kind) in _KINDS[kind]
    return dtype == as_dtype(kind)


def can_cast(from_: Any, to: Any, /, casting: Any = "safe") -> bool:
    """Whether promotion (or NumPy's rule of the name `casting`) may turn a dtype (or a tensor's) into another.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.can_cast(rg.float64, rg.float32)
    False
    """
    return bool(np.can_cast(_dtype_argument(from_), as_dtype(to), casting))


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype to which tensors, dtypes and Python numbers promote; raises ValueError without any.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.result_type(rg.int8, rg.float32, 1.5)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: give at least one tensor, dtype or number")
    dtypes = [_dtype_argument(x) for x in arrays_and_dtypes if not is_number(x)]
    if not dtypes:
        return np.result_type(*arrays_and_dtypes)
    result = common_dtype(*dtypes)
    for x in arrays_and_dtypes:
        if is_number(x):
            result = common_dtype(result, constant(x, result).dtype)
    return result
