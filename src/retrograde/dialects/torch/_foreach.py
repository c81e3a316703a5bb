"""`torch._foreach_*`: one operation over lists of tensors, as optimisers written for speed call it.

Out of place they give a tuple of tensors, in place the list that they were given. A further operand is one number or
0-d tensor for all, or a list of numbers or tensors with one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.value import Value
from . import _arithmetic, _binary, _unary
from ._api import api, in_place

_UNARY = (
    _unary.absolute, _unary.acos, _unary.asin, _unary.atan, _unary.ceil, _unary.cos, _unary.cosh, _unary.erf, _unary.erfc,
    _unary.exp, _unary.expm1, _unary.floor, _unary.frac, _unary.lgamma, _unary.log, _unary.log10, _unary.log1p, _unary.log2,
    _unary.neg, _unary.reciprocal, _unary.round, _unary.rsqrt, _unary.sigmoid, _unary.sign, _unary.sin, _unary.sinh,
    _unary.sqrt, _unary.tan, _unary.tanh, _unary.trunc,
)  # fmt: skip
_BINARY = {
    "add": _arithmetic.add, "sub": _arithmetic.sub, "mul": _arithmetic.mul, "div": _arithmetic.div,
    "maximum": _binary.clamp_min, "minimum": _binary.clamp_max, "clamp_min": _binary.clamp_min, "clamp_max": _binary.clamp_max,
}  # fmt: skip
"""The method for each element, by name; the larger of a tensor and a number is the tensor clamped."""


def _tensors(name: str, given: Any) -> Sequence[Any]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(x, Value) for x in given):
        raise TypeError(f"{name}: wanted a list of tensors, got {type(given).__name__}")
    if not given:
        raise RuntimeError(f"{name}: the list of tensors is empty")
    return given


def _each(name: str, operand: Any, count: int) -> Sequence[Any]:
    """An operand for each tensor: from a list of as many, or the same one."""
    if isinstance(operand, (list, tuple)):
        if len(operand) != count:
            raise RuntimeError(f"{name}: {count} tensors go with as many operands, got {len(operand)}")
        return operand
    if isinstance(operand, Value) and operand._a.ndim == 1 and len(operand._a) == count:
        return operand.tolist()  # type: ignore[attr-defined]
    if not isinstance(operand, (Value, bool, int, float, complex)):
        raise TypeError(f"{name}: an operand must be a number, a tensor or a list of them, got {type(operand).__name__}")
    return [operand] * count


def _register(name: str, compute: Callable[..., Any], written: Callable[..., Any]) -> Any:
    """The function `_foreach_NAME` from one over elements, and its form in place."""

    def function(self: Any, *operands: Any, **options: Any) -> tuple[Any, ...]:
        tensors = _tensors(function.__name__, self)
        columns = [_each(function.__name__, x, len(tensors)) for x in operands]
        return tuple(compute(*row, **options) for row in zip(tensors, *columns))

    def in_place(self: Any, *operands: Any, **options: Any) -> Any:
        tensors = _tensors(in_place.__name__, self)
        columns = [_each(in_place.__name__, x, len(tensors)) for x in operands]
        for row in zip(tensors, *columns):
            written(*row, **options)
        return self

    for f, suffix in ((function, ""), (in_place, "_")):
        f.__name__ = f.__qualname__ = f"_foreach_{name}{suffix}"
        f.__doc__ = f"`{name}` of each tensor of a list" + (", in place." if suffix else ".")
        api(method=False)(f)
    return function


def _weighted(method: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`addcmul` and `addcdiv`, whose factors come as a keyword or as a last operand."""

    def by(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, a, b, scalar=None, *, value=1: f(x, a, b, value=value if scalar is None else scalar)

    return by(method), by(in_place(method))


for _method in _UNARY:
    _register(_method.__name__, _method, in_place(_method))
for _name, _method in _BINARY.items():
    _register(_name, _method, in_place(_method))
_register("addcmul", *_weighted(_arithmetic.addcmul))
_register("addcdiv", *_weighted(_arithmetic.addcdiv))
_register("lerp", _arithmetic.lerp, in_place(_arithmetic.lerp))

_power = _register("pow", _arithmetic.pow, in_place(_arithmetic.pow))


@api("_foreach_pow", method=False)
def foreach_pow(self: Any, exponent: Any) -> tuple[Any, ...]:
    """Each tensor of a list to a power, or a number to the power of each."""
    if isinstance(self, (bool, int, float, complex)):
        return tuple(_arithmetic.pow(self, x) for x in _tensors("_foreach_pow", exponent))
    return _power(self, exponent)


@api("_foreach_clone", method=False)
def foreach_clone(self: Any) -> tuple[Any, ...]:
    """A copy of each tensor of a list."""
    return tuple(x.clone() for x in _tensors("_foreach_clone", self))


@api("_foreach_zero_", method=False)
def foreach_zero_(self: Any) -> Any:
    """Fill each tensor of a list with zeros."""
    for x in _tensors("_foreach_zero_", self):
        x.zero_()
    return self


@api("_foreach_copy_", method=False)
def foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy each tensor of a list into the one of another."""
    for x, source in zip(_tensors("_foreach_copy_", self), _each("_foreach_copy_", src, len(self))):
        x.copy_(source)
    return self


@api("_foreach_norm", method=False)
def foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The vector norm of each tensor of a list."""
    return tuple(x.norm(ord, dtype=dtype) for x in _tensors("_foreach_norm", self))


@api("_foreach_max", method=False)
def foreach_max(self: Any) -> tuple[Any, ...]:
    """The largest element of each tensor of a list."""
    return tuple(x.max() for x in _tensors("_foreach_max", self))
