"""What each dtype can draw, hold and be cast to: the checks and casts of `_stream`, its only caller."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._stream_math import F32, F64, Floats

Shape = int | Sequence[int]
Kind = np.dtype[Any]

SINGLE, DOUBLE, INT64 = np.dtype(F32), np.dtype(F64), np.dtype(np.int64)
HALF, BRAIN = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
DIGITS: dict[Kind, int] = {HALF: 11, BRAIN: 8, SINGLE: 24, DOUBLE: 53}  # bits of the significand, the hidden one too
PARTS: dict[Kind, Kind] = {np.dtype(np.complex64): SINGLE, np.dtype(np.complex128): DOUBLE}
LARGEST: dict[Kind, float] = {kind: float(ml_dtypes.finfo(kind).max) for kind in DIGITS}
NO_KERNEL = frozenset(map(np.dtype, ("uint16", "uint32", "uint64", "complex64", "complex128")))  # nor in PyTorch


def as_tuple(shape: Shape) -> tuple[int, ...]:
    if type(shape) is tuple:
        return shape
    return tuple(shape) if isinstance(shape, Sequence) else (operator.index(shape),)


def size_of(shape: Shape) -> int:
    dimensions = as_tuple(shape)
    if dimensions and min(dimensions) < 0:
        raise RuntimeError(f"random draw: the shape is {dimensions}; no dimension may be negative")
    return math.prod(dimensions)


def float_kind(
    op: str, dtype: DTypeLike, *, complex_too: bool = True, error: type[Exception] = NotImplementedError
) -> Kind:
    kind = np.dtype(dtype)
    if kind in DIGITS or (complex_too and kind in PARTS):
        return kind
    wanted = "a floating-point or complex dtype" if complex_too else "a real floating-point dtype"
    raise error(f"{op}: dtype is {kind}; draw in {wanted} and cast")


def discrete_kind(op: str, dtype: DTypeLike) -> Kind:
    kind = np.dtype(dtype)
    if kind in NO_KERNEL:
        raise NotImplementedError(f"{op}: dtype is {kind}; draw in a float, a signed integer, uint8 or bool")
    return kind


def narrow(x: Floats, kind: Kind) -> Floats:
    """Cast float64 as the reference does: to a 16-bit float by way of float32, out of range to inf."""
    if kind == DOUBLE:
        return x
    with np.errstate(over="ignore"):
        single = x.astype(F32)
        return single if kind == SINGLE else single.astype(kind)


def c_integers(x: Floats, kind: Kind) -> NDArray[Any]:
    """Cast float64 to integers as x86 code does: out of range gives the smallest, then low bits are kept."""
    wide = np.dtype(np.int64 if kind.itemsize == 8 else np.int32)
    limit = 2.0 ** (8 * wide.itemsize - 1)
    return np.where((x >= -limit) & (x < limit), x, -limit).astype(wide).astype(kind)


def random_top(kind: Kind) -> int:
    if kind.kind == "b":
        return 1
    return int(np.iinfo(kind).max) if kind.kind in "iu" else 1 << DIGITS[kind]


def integer_range(low: int, high: int, kind: Kind) -> tuple[int, int]:
    """Check [low, high) against the dtype; a float's ends move inwards where rounding would leave the interval."""
    if kind is INT64 and -(2**63) <= low < high < 2**63:  # which most are, and then there is nothing to refuse
        return low, high
    for name, value in (("low", low), ("high", high)):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"randint: {name} is {value}; it has to fit in 64 bits")
    if low >= high:
        raise RuntimeError(f"randint: low is {low} and high is {high}; low has to be below high")
    if kind.kind == "b":
        least, most = 0, 1
    elif kind.kind in "iu":
        least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    elif kind in DIGITS:
        most = int(LARGEST[kind])
        least = -most
    else:
        raise RuntimeError(f"randint: dtype is {kind}; integers are drawn in integer, floating-point or boolean dtypes")
    for name, value in (("low", low), ("high - 1", high - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"randint: {name} is {value}, outside the range of {kind}; pass one that it holds")
    if kind not in DIGITS:
        return low, high
    digits = DIGITS[kind]
    for name, value in (("low", low), ("high - 1", high - 1)):
        if abs(value) > 1 << digits:
            warnings.warn(
                f"randint: {name} is {value}; {kind} holds not every integer beyond 2**{digits}, so draws are uneven",
                UserWarning,
                stacklevel=3,
            )
    step = 1 << max(abs(low + 1).bit_length() - digits, 0)
    rounded = _rounded(low + 1, kind)
    if rounded < low:
        low = rounded + step
    step = 1 << max(abs(high - 1).bit_length() - digits, 0)
    rounded = _rounded(high - 1, kind)
    if high <= rounded < 2**63:  # the reference compares in 64 bits, where 2**63 has wrapped around
        high = rounded - step
    if low >= high:
        raise RuntimeError(f"randint: {kind} holds no integer of the interval asked for; take a wider dtype")
    return low, high


def _rounded(value: int, kind: Kind) -> int:
    return int(float(np.array(value).astype(F64 if kind == DOUBLE else F32).astype(kind)))
