"""The few array statements that update rules are made of: `x += a*y`, `x += s*a/b`, a linear interpolation.

Owns the three ways to execute them: `Native` (NumPy arrays, in place, through scratch arrays that are kept between
steps), `Rounded` (float16 and bfloat16: each statement is computed in float32 and rounded once, as frameworks do) and
whatever a dialect registers for its own tensors (recorded updates, arrays that cannot be written in place).
`run` picks one and cuts large arrays into blocks that stay in the cache. Called by the rules in this folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import UnsupportedError

Array = Any
"""A NumPy array, or a tensor of a dialect that has registered its own statements."""

# Adam's 13 passes over 784*256 float32: 447 us whole, 371 in blocks of 32768, 491 in blocks of 8192.
BLOCK = 32768
_MAX_SCRATCH_SHAPES = 256


class Native:
    """Statements on float32, float64 and complex NumPy arrays; `t` is a scratch array of the operands' shape."""

    add = np.add
    subtract = np.subtract
    multiply = np.multiply
    divide = np.divide
    sqrt = np.sqrt
    absolute = np.absolute
    negative = np.negative
    greater = np.greater
    less = np.less

    @staticmethod
    def maximum(x: Array, y: Array, out: Array) -> Array:
        """`out` = the larger of `x` and `y`; NaN wins."""
        return np.maximum(x, y, out=out)

    @staticmethod
    def copy(x: Array, out: Array) -> Array:
        """`out = x`."""
        out[...] = x
        return out

    @staticmethod
    def constant(x: Array) -> Array:
        """`x` as a value through which nothing is differentiated."""
        return x

    @staticmethod
    def clip(x: Array, low: float, high: float, out: Array) -> Array:
        """`out = x` limited to `low ... high`; NaN stays NaN."""
        np.maximum(x, low, out=out)
        return np.minimum(out, high, out=out)

    @staticmethod
    def plus(x: Array, a: float, y: Array, out: Array) -> Array:
        """`out = x + a * y`; `out` is not `x`."""
        np.multiply(y, a, out)
        return np.add(x, out, out)

    @staticmethod
    def axpy_(x: Array, a: float, y: Array, t: Array) -> None:
        """`x += a * y`."""
        np.multiply(y, a, t)
        np.add(x, t, x)

    @staticmethod
    def lerp_(x: Array, y: Array, weight: float, t: Array) -> None:
        """`x += weight * (y - x)`, from the nearer end, so that weight 1 gives exactly y."""
        np.subtract(y, x, t)
        if abs(weight) < 0.5:
            np.multiply(t, weight, t)
            np.add(x, t, x)
        else:
            np.multiply(t, 1.0 - weight, t)
            np.subtract(y, t, x)

    @staticmethod
    def addcmul_(x: Array, a: Array, b: Array, s: float, t: Array) -> None:
        """`x += s * a * b`."""
        if s == 1.0:
            np.multiply(a, b, t)
        else:
            np.multiply(a, s, t)
            np.multiply(t, b, t)
        np.add(x, t, x)

    @staticmethod
    def addcdiv_(x: Array, a: Array, b: Array, s: float, t: Array) -> None:
        """`x += s * a / b`."""
        if s == 1.0:
            np.divide(a, b, t)
        else:
            np.multiply(a, s, t)
            np.divide(t, b, t)
        np.add(x, t, x)

    @staticmethod
    def scale_where_(x: Array, s: float, mask: Array) -> None:
        """`x *= s` where the mask holds."""
        np.multiply(x, s, out=x, where=mask)

    @staticmethod
    def add_where_(x: Array, y: Array, mask: Array) -> None:
        """`x += y` where the mask holds."""
        np.add(x, y, out=x, where=mask)

    @staticmethod
    def subtract_where_(x: Array, y: Array, mask: Array) -> None:
        """`x -= y` where the mask holds."""
        np.subtract(x, y, out=x, where=mask)

    @staticmethod
    def zero_where_(x: Array, mask: Array) -> None:
        """`x = 0` where the mask holds."""
        np.copyto(x, 0, where=mask)

    @staticmethod
    def scratch(x: Array) -> tuple[Array, Array, Array]:
        """Three arrays like `x` to compute in; small ones are kept between calls, per thread."""
        if x.size > BLOCK:
            return np.empty_like(x), np.empty_like(x), np.empty_like(x)
        kept = _kept.arrays
        key = (x.shape, x.dtype)
        found = kept.get(key)
        if found is None:
            if len(kept) >= _MAX_SCRATCH_SHAPES:
                kept.clear()
            found = kept[key] = tuple(np.empty(x.shape, x.dtype) for _ in range(3))
        return found


class _Kept(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[Any, tuple[Array, Array, Array]] = {}


_kept = _Kept()


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype != np.bool_ else x


def _rounded_ufunc(ufunc: Callable[..., Any]) -> Callable[..., Array]:
    def apply(*operands: Any) -> Array:
        *inputs, out = operands
        out[...] = ufunc(*map(_wide, inputs))
        return out

    return apply


def _rounded_statement(statement: Callable[..., None]) -> Callable[..., None]:
    def apply(x: Array, *operands: Any) -> None:
        wide = _wide(x)
        statement(wide, *map(_wide, operands))
        x[...] = wide

    return apply


class Rounded(Native):
    """Statements on 16-bit floats: each is computed in float32 and rounded once.

    What is added, and the factor of what is added, is rounded beforehand, as PyTorch does (measured on 2.13).
    """

    subtract = staticmethod(_rounded_ufunc(np.subtract))  # type: ignore[assignment]
    multiply = staticmethod(_rounded_ufunc(np.multiply))  # type: ignore[assignment]
    divide = staticmethod(_rounded_ufunc(np.divide))  # type: ignore[assignment]
    maximum = staticmethod(_rounded_ufunc(np.maximum))
    sqrt = staticmethod(_rounded_ufunc(np.sqrt))  # type: ignore[assignment]
    absolute = staticmethod(_rounded_ufunc(np.absolute))  # type: ignore[assignment]
    lerp_ = staticmethod(_rounded_statement(Native.lerp_))
    addcmul_ = staticmethod(_rounded_statement(Native.addcmul_))
    addcdiv_ = staticmethod(_rounded_statement(Native.addcdiv_))
    scale_where_ = staticmethod(_rounded_statement(Native.scale_where_))
    add_where_ = staticmethod(_rounded_statement(Native.add_where_))
    subtract_where_ = staticmethod(_rounded_statement(Native.subtract_where_))

    @staticmethod
    def add(x: Array, y: Array | float, out: Array) -> Array:  # type: ignore[override]
        """`out = x + y`."""
        out[...] = _wide(x) + _wide(np.asarray(y, x.dtype))
        return out

    @staticmethod
    def plus(x: Array, a: float, y: Array, out: Array) -> Array:
        """`out = x + a * y`."""
        out[...] = _wide(x) + _wide(np.asarray(a, x.dtype)) * _wide(y)
        return out

    @staticmethod
    def axpy_(x: Array, a: float, y: Array, t: Array) -> None:
        """`x += a * y`."""
        Rounded.plus(x, a, y, x)

    @staticmethod
    def clip(x: Array, low: float, high: float, out: Array) -> Array:
        """`out = x` limited to `low ... high`."""
        out[...] = np.clip(_wide(x), low, high)
        return out


_REGISTERED: dict[type, Any] = {}


def register(kind: type, kernels: Any) -> None:
    """Let the rules run on instances of `kind`: `kernels` has the names of `Native` (scratch arrays may be None)."""
    _REGISTERED[kind] = kernels


def _registered(x: Any) -> Any:
    for kind in type(x).__mro__:
        if kind in _REGISTERED:
            return _REGISTERED[kind]
    raise UnsupportedError(
        f"update rule: the parameter is a {type(x).__module__}.{type(x).__qualname__}; "
        "optimisers write to NumPy arrays in place: keep the parameters in NumPy arrays"
    )


def run(rule: Callable[..., None], arrays: tuple[Array, ...], *scalars: Any) -> None:
    """Apply `rule(kernels, *arrays, *scalars)` in place; `arrays` are parameter, gradient, then the state.

    Complex arrays go in as real ones (real and imaginary parts are independent coordinates to every rule that is run
    through here); arrays of more than BLOCK elements go in by blocks. Missing state is None.

    Raises UnsupportedError for arrays that are neither NumPy's nor of a registered type.
    """
    x = arrays[0]
    if not isinstance(x, np.ndarray):
        rule(_registered(x), *arrays, *scalars)
        return
    dtype = x.dtype
    if dtype.kind == "c":
        _run_complex(rule, arrays, scalars)
        return
    kernels = Native if dtype.char in "fd" else Rounded
    size = x.size
    if size <= BLOCK or not all(a is None or a.flags.c_contiguous for a in arrays):
        rule(kernels, *arrays, *scalars)
        return
    flat = [None if a is None else a.reshape(-1) for a in arrays]
    for start in range(0, size, BLOCK):
        stop = start + BLOCK
        rule(kernels, *[None if a is None else a[start:stop] for a in flat], *scalars)


def _run_complex(rule: Callable[..., None], arrays: tuple[Array, ...], scalars: tuple[Any, ...]) -> None:
    real = np.float32 if arrays[0].dtype.char == "F" else np.float64
    dense = [a if a is None or a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays]
    run(rule, tuple(None if a is None else a.reshape(-1).view(real) for a in dense), *scalars)
    for position, (a, b) in enumerate(zip(arrays, dense)):
        if a is not b and position != 1:
            a[...] = b
