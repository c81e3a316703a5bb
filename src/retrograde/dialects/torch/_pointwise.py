"""Arithmetic on tensors: the operators and their functions. Two tensors of one dtype go straight to `bind`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.specialise import operator as fast
from ...core.value import Value, dtype_of
from ...ops import elementwise as ew
from ...tape import inplace
from ._api import METHODS, api, check_cast
from ._promote import operand, pair, result_dtype
from ._tensor import Tensor

_ndarray = np.ndarray


def binary(name: str, op: Callable[..., Any], *, floating: bool = False) -> Callable[..., Any]:
    """The two-operand function of a primitive: promotion for all but the everyday case."""
    bind = op.prim.bind  # type: ignore[attr-defined]

    def f(input: Any, other: Any) -> Any:
        if isinstance(other, Value) and isinstance(input, Value):
            x, y = input._a, other._a
            if type(x) is _ndarray and type(y) is _ndarray and x.dtype is y.dtype and x.dtype.kind == "f":
                return bind(input, other)
        elif not isinstance(input, Value) and not isinstance(other, Value):
            raise TypeError(
                f"{name}: wanted a tensor, got {type(input).__name__} and {type(other).__name__}; use torch.tensor(...)"
            )
        return bind(*pair(name, input, other, floating=floating))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The elementwise `{name}` of two tensors, or a tensor and a number, in their common dtype."
    return f


def operator(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as a binary operator: NotImplemented for operands that are no tensors or numbers."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, _OPERANDS):
            return f(self, other)
        return NotImplemented

    return method


def reflected(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as the operator of the right operand."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, _OPERANDS):
            return f(other, self)
        return NotImplemented

    return method


def in_place_operator(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as an augmented assignment."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return NotImplemented

        def compute() -> Any:
            result = f(self, other)
            check_cast(name, result, self)
            return result

        return inplace.update(name, self, compute)

    return method


_OPERANDS = (Value, int, float, complex, np.ndarray, np.generic)

_add = binary("add", ew.add)
_sub = binary("sub", ew.subtract)
mul = binary("mul", ew.multiply)
_true_divide = binary("div", ew.divide, floating=True)

api("mul", "multiply", in_place=True, out=True)(mul)


def _scaled(name: str, other: Any, alpha: Any) -> Any:
    return other if isinstance(alpha, (int, float)) and alpha == 1 else mul(operand(name, other), alpha) if isinstance(
        other, Value) else other * alpha  # fmt: skip


@api(in_place=True, out=True)
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input + alpha * other`, elementwise."""
    return _add(input, other if alpha == 1 else _scaled("add", other, alpha))


@api("sub", "subtract", in_place=True, out=True)
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha * other`, elementwise; raises RuntimeError for booleans."""
    for x in (input, other):
        if isinstance(x, bool) or (isinstance(x, Value) and dtype_of(x).kind == "b"):
            if result_dtype(input, other).name == "bool":
                raise RuntimeError("sub: booleans have no difference; use logical_xor(), or ^")
    return _sub(input, other if alpha == 1 else _scaled("sub", other, alpha))


@api("neg", "negative", in_place=True, out=True)
def neg(input: Any) -> Any:
    """`-input`, elementwise; raises RuntimeError for booleans."""
    if dtype_of(input).kind == "b":
        raise RuntimeError("neg: booleans have no negative; use logical_not(), or ~")
    return ew.negative(input)


@api(in_place=True, out=True)
def exp(input: Any) -> Any:
    """The exponential, elementwise."""
    from ._promote import floated

    return ew.exp(floated(input))


METHODS.update(
    __add__=fast(ew.add, Tensor, operator(_add), ("g", "g")), __radd__=operator(_add), __iadd__=in_place_operator("__iadd__", _add),
    __sub__=fast(ew.subtract, Tensor, operator(sub), ("g", "-g")), __rsub__=reflected(sub), __isub__=in_place_operator("__isub__", sub),
    __mul__=fast(ew.multiply, Tensor, operator(mul), ("g * y", "g * x")), __rmul__=operator(mul), __imul__=in_place_operator("__imul__", mul),
    __truediv__=fast(ew.divide, Tensor, operator(_true_divide), ("g / y", "-g * (x / y / y)")), __rtruediv__=reflected(_true_divide),
    __itruediv__=in_place_operator("__itruediv__", _true_divide),
    __neg__=neg,
)  # fmt: skip
