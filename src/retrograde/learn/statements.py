"""The few array statements that update rules are made of: `x += a*y`, `x += s*a/b`, a linear interpolation.

Owns two ways to execute them: `Native` (NumPy arrays, in place, through scratch arrays) and `Rounded` (float16 and bfloat16:
each statement is computed in float32 and rounded once, as frameworks do); functional.py has the third, which changes
nothing, and update_code.py makes one kernel of a whole rule. Each statement returns its result, which a rule goes on with.
Which one a rule gets is said in blocks.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
"""An array of any library, or a value."""


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
    def axpy(x: Array, a: float, y: Array, t: Array) -> Array:
        """`x += a * y`."""
        np.multiply(y, a, t)
        return np.add(x, t, x)

    @staticmethod
    def lerp(x: Array, y: Array, weight: float, far: bool, t: Array) -> Array:
        """`x += weight * (y - x)`, or from the other end where `far`, `x = y - weight * (y - x)`: see `lerp_weight`."""
        np.subtract(y, x, t)
        np.multiply(t, weight, t)
        if far:
            return np.subtract(y, t, x)
        return np.add(x, t, x)

    @staticmethod
    def addmul(x: Array, a: Array, b: Array, t: Array) -> Array:
        """`x += a * b`."""
        np.multiply(a, b, t)
        return np.add(x, t, x)

    @staticmethod
    def addcmul(x: Array, a: Array, b: Array, s: float, t: Array) -> Array:
        """`x += s * a * b`."""
        np.multiply(a, s, t)
        np.multiply(t, b, t)
        return np.add(x, t, x)

    @staticmethod
    def adddiv(x: Array, a: Array, b: Array, t: Array) -> Array:
        """`x += a / b`."""
        np.divide(a, b, t)
        return np.add(x, t, x)

    @staticmethod
    def addcdiv(x: Array, a: Array, b: Array, s: float, t: Array) -> Array:
        """`x += s * a / b`."""
        np.multiply(a, s, t)
        np.divide(t, b, t)
        return np.add(x, t, x)

    @staticmethod
    def scale_where(x: Array, s: float, mask: Array) -> Array:
        """`x *= s` where the mask holds."""
        return np.multiply(x, s, out=x, where=mask)

    @staticmethod
    def add_where(x: Array, y: Array, mask: Array) -> Array:
        """`x += y` where the mask holds."""
        return np.add(x, y, out=x, where=mask)

    @staticmethod
    def subtract_where(x: Array, y: Array, mask: Array) -> Array:
        """`x -= y` where the mask holds."""
        return np.subtract(x, y, out=x, where=mask)

    @staticmethod
    def zero_where(x: Array, mask: Array) -> Array:
        """`x = 0` where the mask holds."""
        np.copyto(x, 0, where=mask)
        return x


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype != np.bool_ else x


def _rounded_ufunc(ufunc: Callable[..., Any]) -> Callable[..., Array]:
    def apply(*operands: Any) -> Array:
        *inputs, out = operands
        out[...] = ufunc(*map(_wide, inputs))
        return out

    return apply


def _rounded_statement(statement: Callable[..., Array]) -> Callable[..., Array]:
    def apply(x: Array, *operands: Any) -> Array:
        wide = _wide(x)
        statement(wide, *map(_wide, operands))
        x[...] = wide
        return x

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
    lerp = staticmethod(_rounded_statement(Native.lerp))
    addmul = staticmethod(_rounded_statement(Native.addmul))
    addcmul = staticmethod(_rounded_statement(Native.addcmul))
    adddiv = staticmethod(_rounded_statement(Native.adddiv))
    addcdiv = staticmethod(_rounded_statement(Native.addcdiv))
    scale_where = staticmethod(_rounded_statement(Native.scale_where))
    add_where = staticmethod(_rounded_statement(Native.add_where))
    subtract_where = staticmethod(_rounded_statement(Native.subtract_where))

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
    def axpy(x: Array, a: float, y: Array, t: Array) -> Array:
        """`x += a * y`."""
        return Rounded.plus(x, a, y, x)

    @staticmethod
    def clip(x: Array, low: float, high: float, out: Array) -> Array:
        """`out = x` limited to `low ... high`."""
        out[...] = np.clip(_wide(x), low, high)
        return out


def lerp_weight(weight: float) -> tuple[float, bool]:
    """The `weight` and `far` of `lerp_`: from the nearer end, so that weight 1 gives exactly the other one."""
    return (weight, False) if abs(weight) < 0.5 else (1.0 - weight, True)
