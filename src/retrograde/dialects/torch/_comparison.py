"""Comparisons, logical and bitwise operations, and tests for nan, infinity and closeness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arrays import on_host
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import comparison as cmp
from ...tape import inplace
from ._api import METHODS, api
from ._data import computed_there
from ._elementwise import (
    ANY,
    EITHER,
    NEVER,
    WHOLE,
    binary,
    operator,
    operators,
    register,
    replaced,
    tensor_argument,
    unary,
)

# ------------------------------------------------------------------------------------------ comparisons

_COMPARISONS = {
    "eq": (cmp.equal, ANY), "ne not_equal": (cmp.not_equal, ANY), "lt less": (cmp.less, "...x"),
    "le less_equal": (cmp.less_equal, "...x"), "gt greater": (cmp.greater, "...x"),
    "ge greater_equal": (cmp.greater_equal, "...x"),
}  # fmt: skip


def _in_place(names: str, f: Callable[..., Any], shown: str) -> None:
    """The in-place forms of a function without a derivative: what was there has the derivative 0."""
    for name in names.split():
        def form(self: Any, *other: Any, _name: str = name + "_") -> Any:
            named = shown + "Backward" + ("1" if other and isinstance(other[0], Value) else "0")
            return inplace.update(_name, tensor_argument(_name, self), lambda: replaced(self, f(self, *other), named))

        form.__name__ = form.__qualname__ = name + "_"
        form.__doc__ = f"`{name}` written into this tensor, as 0 and 1; returns it."
        METHODS[name + "_"] = form


for _names, (_op, _kinds) in _COMPARISONS.items():
    _name = _names.split()[0]
    _f = register(_names, binary(_name, _op, _kinds), in_place=False)
    METHODS[f"__{_name}__"] = operator(_f)
    _in_place(_names, _f, _name.capitalize())


@api(out=True)
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Where |input - other| <= atol + rtol |other|; nan equals nan if asked. Both of one dtype."""
    tensor_argument("isclose", input)
    tensor_argument("isclose", other, "other")
    if dtype_of(input) != dtype_of(other):
        raise RuntimeError(f"isclose: the dtypes differ ({input.dtype} and {other.dtype}); convert one")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"isclose: rtol and atol must not be negative, got {rtol} and {atol}")
    return cmp.isclose(input, other, rtol=float(rtol), atol=float(atol), equal_nan=bool(equal_nan))


@api()
def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds for all elements."""
    return bool(computed_there("allclose", isclose(input, other, rtol, atol, equal_nan), lambda array: array.all()))


@api()
def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    tensor_argument("equal", input)
    tensor_argument("equal", other, "other")
    if tuple(shape_of(input)) != tuple(shape_of(other)):
        return False
    if type(input._a) is not np.ndarray and not on_host(input):
        return bool(computed_there("equal", cmp.equal(input.detach(), other.detach()), lambda array: array.all()))
    return bool(np.array_equal(concrete("equal", input), concrete("equal", other)))


# ------------------------------------------------------------------------------------------ logic


def _logical(name: str, op: Any, shown: str) -> Any:
    f = register(name, binary(name, op, ANY, NEVER), in_place=False)
    _in_place(name, f, shown)
    return f


logical_and = _logical("logical_and", cmp.logical_and, "LogicalAnd")
logical_or = _logical("logical_or", cmp.logical_or, "LogicalOr")
logical_xor = _logical("logical_xor", cmp.logical_xor, "LogicalXor")
_in_place("logical_not", register("logical_not", unary("logical_not", cmp.logical_not, ANY), in_place=False), "LogicalNot")

# ------------------------------------------------------------------------------------------ bits

_BITS = {
    "and": ("bitwise_and", cmp.bitwise_and, WHOLE), "or": ("bitwise_or", cmp.bitwise_or, WHOLE),
    "xor": ("bitwise_xor", cmp.bitwise_xor, WHOLE), "lshift": ("bitwise_left_shift", cmp.left_shift, "x.xx"),
    "rshift": ("bitwise_right_shift", cmp.right_shift, "x.xx"),
}  # fmt: skip

for _symbol, (_name, _op, _kinds) in _BITS.items():
    operators(_symbol, register(_name, binary(_name, _op, _kinds, EITHER)))

bitwise_not = register("bitwise_not", unary("bitwise_not", cmp.bitwise_not, WHOLE))


@api("__invert__", function=False)
def invert(self: Any) -> Any:
    """The bitwise complement; raises TypeError for a floating or complex tensor."""
    if dtype_of(self).kind not in "iub":
        raise TypeError(f"~ is defined for booleans and whole numbers, not for {self.dtype}")
    return bitwise_not(self)


register("gcd", binary("gcd", cmp.gcd, "x.xx", NEVER))
register("lcm", binary("lcm", cmp.lcm, "x.xx", NEVER))

# ------------------------------------------------------------------------------------------ tests of each element


for _name, _op in (("isnan", cmp.isnan), ("isinf", cmp.isinf), ("isfinite", cmp.isfinite), ("isreal", cmp.isreal)):
    api(_name)(unary(_name, _op, ANY))
for _name, _op, _kinds in (
    ("isposinf", cmp.isposinf, "...r"), ("isneginf", cmp.isneginf, "...r"), ("signbit", cmp.signbit, "...x"),
):  # fmt: skip
    api(_name, out=True)(unary(_name, _op, _kinds))
