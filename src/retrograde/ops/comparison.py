"""Comparisons, logical and bitwise operations, tests for nan and infinity: no derivatives, results bool or integer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.dtypes import astype, dtype_in, is_boolean, is_complex, is_inexact, is_unsigned, numpy_dtype
from ..core.primitive import Ufunc
from .kernels import scalar, zero_of
from .rules import infer_elementwise, nondifferentiable
from .samples import binary, sample, uniform

# ------------------------------------------------------------------------------------------ comparisons


def _compared() -> Any:
    yield from binary(-2, 2)()
    yield sample(np.array([1.0, 2.0, np.nan, np.inf]), np.array([1.0, 1.0, np.nan, np.inf]))


equal = nondifferentiable("equal", kernel=Ufunc("equal"), samples=_compared)
not_equal = nondifferentiable("not_equal", kernel=Ufunc("not_equal"), samples=_compared)
less = nondifferentiable("less", kernel=Ufunc("less"), samples=_compared)
less_equal = nondifferentiable("less_equal", kernel=Ufunc("less_equal"), samples=_compared)
greater = nondifferentiable("greater", kernel=Ufunc("greater"), samples=_compared)
greater_equal = nondifferentiable("greater_equal", kernel=Ufunc("greater_equal"), samples=_compared)


def _isclose_kernel(xp: Any, x: Any, y: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = x == y
    whole = not is_inexact(x)
    if equal_nan and not whole:
        close = close | ((x != x) & (y != y))
    if rtol == 0 and atol == 0:
        return close
    # Integers are compared in float64, in which their difference cannot wrap.
    if whole:
        x, y = astype(xp, x, np.float64), astype(xp, y, np.float64)
    size = xp.abs(x - y)
    return close | (xp.isfinite(size) & (size <= xp.abs(y) * rtol + atol))


# |x - y| <= atol + rtol |y|, or equal; nan equals nan if asked.
isclose = nondifferentiable(
    "isclose", kernel=_isclose_kernel,
    samples=lambda: [sample(np.array([1.0, 1.1, np.nan]), np.array([1.0 + 1e-9, 1.0, np.nan]), rtol=1e-5, atol=1e-8,
                            equal_nan=True),
                     sample(np.array([[1], [2]]), np.array([1, 2]), rtol=0.0, atol=1.0, equal_nan=False)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ logic and bits

_BOOLS = (np.array([True, False, True, False]), np.array([True, True, False, False]))
_INTS = (np.array([5, -3, 12, 0]), np.array([3, 6, -5, 7]))
_SHIFTS = (np.array([5, -3, 12, 1]), np.array([1, 0, 2, 3]))


def _logical_samples() -> Any:
    yield sample(*_BOOLS)
    yield sample(np.array([0.0, 2.0]), np.array(3.0))


def _bit_samples() -> Any:
    yield sample(*_BOOLS)
    yield sample(*_INTS)


def _truths(xp: Any, x: Any) -> Any:
    return x if is_boolean(x) else x != zero_of(x)


def _logical(name: str) -> Any:
    def kernel(xp: Any, x: Any, y: Any) -> Any:
        return getattr(xp, name)(_truths(xp, x), _truths(xp, y))

    return nondifferentiable(name, kernel=kernel, numpy=getattr(np, name), samples=_logical_samples)


logical_and = _logical("logical_and")
logical_or = _logical("logical_or")
logical_xor = _logical("logical_xor")
logical_not = nondifferentiable(
    "logical_not", kernel=lambda xp, x: xp.logical_not(_truths(xp, x)), numpy=np.logical_not,
    samples=lambda: [sample(_BOOLS[0]), sample(np.array(0.0))],
)  # fmt: skip

bitwise_and = nondifferentiable(
    "bitwise_and", kernel=Ufunc("bitwise_and"), samples=_bit_samples, infer=infer_elementwise,
)  # fmt: skip
bitwise_or = nondifferentiable(
    "bitwise_or", kernel=Ufunc("bitwise_or"), samples=_bit_samples, infer=infer_elementwise,
)  # fmt: skip
bitwise_xor = nondifferentiable(
    "bitwise_xor", kernel=Ufunc("bitwise_xor"), samples=_bit_samples, infer=infer_elementwise,
)  # fmt: skip
bitwise_not = nondifferentiable(
    "bitwise_not", kernel=Ufunc("bitwise_invert"), samples=lambda: [sample(_BOOLS[0]), sample(_INTS[0])],
    infer=infer_elementwise,
)  # fmt: skip


# A shift by less than 0, or by the width or more, leaves nothing: 0, or the sign.
def _left_shift_kernel(xp: Any, x: Any, y: Any) -> Any:
    out = (y < 0) | (y >= 8 * numpy_dtype(x.dtype).itemsize)
    return xp.where(out, scalar(0, x), xp.bitwise_left_shift(x, xp.where(out, scalar(0, y), y)))


def _right_shift_kernel(xp: Any, x: Any, y: Any) -> Any:
    signed = not is_unsigned(x)
    width = 8 * numpy_dtype(x.dtype).itemsize - signed
    return xp.bitwise_right_shift(x, xp.where((y < 0) | (y >= width), scalar(width - (not signed), y), y))


left_shift = nondifferentiable(
    "left_shift", kernel=_left_shift_kernel, samples=lambda: [sample(*_SHIFTS)], infer=infer_elementwise,
)  # fmt: skip
right_shift = nondifferentiable(
    "right_shift", kernel=_right_shift_kernel, samples=lambda: [sample(*_SHIFTS)], infer=infer_elementwise,
)  # fmt: skip


def _gcd_kernel(xp: Any, x: Any, y: Any) -> Any:
    """Euclid's algorithm for as many steps as numbers of that width can need."""
    x, y = xp.abs(x), xp.abs(y)
    for _ in range(int(1.5 * 8 * numpy_dtype(x.dtype).itemsize)):
        done = y == 0
        x, y = xp.where(done, x, y), xp.where(done, y, xp.remainder(x, xp.where(done, scalar(1, y), y)))
    return x


def _lcm_kernel(xp: Any, x: Any, y: Any) -> Any:
    divisor = _gcd_kernel(xp, x, y)
    return xp.abs(xp.floor_divide(x, xp.where(divisor == 0, scalar(1, divisor), divisor)) * y)


gcd = nondifferentiable(
    "gcd", kernel=_gcd_kernel, numpy=np.gcd, samples=lambda: [sample(*_INTS)], infer=infer_elementwise,
)  # fmt: skip
lcm = nondifferentiable(
    "lcm", kernel=_lcm_kernel, numpy=np.lcm, samples=lambda: [sample(*_INTS)], infer=infer_elementwise,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ tests of one number


def _tested() -> Any:
    yield sample(np.array([1.0, -2.0, np.nan, np.inf, -np.inf, -0.0]))
    yield sample(uniform(-2, 2))


isnan = nondifferentiable("isnan", kernel=Ufunc("isnan"), samples=_tested)
isinf = nondifferentiable("isinf", kernel=Ufunc("isinf"), samples=_tested)
isfinite = nondifferentiable("isfinite", kernel=Ufunc("isfinite"), samples=_tested)


def _is_infinity(name: str, infinity: float) -> Any:
    def kernel(xp: Any, x: Any) -> Any:
        return x == scalar(infinity, x) if is_inexact(x) else xp.zeros_like(x, dtype=dtype_in(xp, np.bool))

    return nondifferentiable(name, kernel=kernel, samples=_tested)


isposinf = _is_infinity("isposinf", np.inf)
isneginf = _is_infinity("isneginf", -np.inf)
signbit = nondifferentiable("signbit", kernel=Ufunc("signbit"), samples=_tested)
isreal = nondifferentiable(
    "isreal", kernel=lambda xp, x: xp.imag(x) == 0 if is_complex(x) else xp.ones_like(x, dtype=dtype_in(xp, np.bool)),
    samples=lambda: [*_tested(), sample(np.array([1.0 + 0j, 2j]))],
)  # fmt: skip


