"""The statements of update rules where nothing is changed in place: on values, other libraries' arrays, symbols of a kernel."""

from __future__ import annotations

from typing import Any

from ..ops.kernels import zero_of

Array = Any
"""An array of any library, a value, or a symbol."""


class Functional:
    """Statements that change nothing, in a namespace of functions: a library's, or that of the operations on values."""

    def __init__(self, functions: Any) -> None:
        self.sqrt_of, self.absolute_of, self.choose = functions.sqrt, functions.abs, functions.where
        self.larger, self.smaller = functions.maximum, functions.minimum
        self.greater, self.less = functions.greater, functions.less
        self.constant = getattr(functions, "constant", lambda x: x)
        self.zero = getattr(functions, "zero", zero_of)

    def add(self, x: Array, y: Array, out: Any) -> Array:
        return x + y

    def subtract(self, x: Array, y: Array, out: Any) -> Array:
        return x - y

    def multiply(self, x: Array, y: Array, out: Any) -> Array:
        return x * y

    def divide(self, x: Array, y: Array, out: Any) -> Array:
        return x / y

    def negative(self, x: Array, out: Any) -> Array:
        return -x

    def sqrt(self, x: Array, out: Any) -> Array:
        return self.sqrt_of(x)

    def absolute(self, x: Array, out: Any) -> Array:
        return self.absolute_of(x)

    def maximum(self, x: Array, y: Array, out: Any) -> Array:
        return self.larger(x, y)

    def clip(self, x: Array, low: Array, high: Array, out: Any) -> Array:
        return self.smaller(self.larger(x, low), high)

    def copy(self, x: Array, out: Any) -> Array:
        return x

    def plus(self, x: Array, a: Array, y: Array, out: Any) -> Array:
        return x + a * y

    def axpy(self, x: Array, a: Array, y: Array, t: Any) -> Array:
        return x + a * y

    def lerp(self, x: Array, y: Array, weight: Array, far: bool, t: Any) -> Array:
        return y - weight * (y - x) if far else x + weight * (y - x)

    def addmul(self, x: Array, a: Array, b: Array, t: Any) -> Array:
        return x + a * b

    def addcmul(self, x: Array, a: Array, b: Array, s: Array, t: Any) -> Array:
        return x + s * a * b

    def adddiv(self, x: Array, a: Array, b: Array, t: Any) -> Array:
        return x + a / b

    def addcdiv(self, x: Array, a: Array, b: Array, s: Array, t: Any) -> Array:
        return x + s * a / b

    def scale_where(self, x: Array, s: Array, mask: Array) -> Array:
        return self.choose(mask, s * x, x)

    def add_where(self, x: Array, y: Array, mask: Array) -> Array:
        return self.choose(mask, x + y, x)

    def subtract_where(self, x: Array, y: Array, mask: Array) -> Array:
        return self.choose(mask, x - y, x)

    def zero_where(self, x: Array, mask: Array) -> Array:
        return self.choose(mask, self.zero(x), x)
