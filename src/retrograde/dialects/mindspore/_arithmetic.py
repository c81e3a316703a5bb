"""The operators of tensors, and the functions of `ops` behind them: arithmetic, comparison, bits, matrix product.

`x += y` makes a new tensor, as in MindSpore: there are no in-place operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.specialise import operator as fast
from ...core.value import Value, dtype_of
from ...ops import comparison as cmp
from ...ops import contraction
from ...ops import elementwise as ew
from .._shared.elementwise import constant
from . import _zero_division as zero_division
from ._api import METHODS, api, row
from ._data import data_array
from ._promote import ANY, BUILD, FLOAT, NUMBER, pair, result_dtype, same_dtype, settle, tensor_argument, to_dtype
from ._tensor import Tensor, from_array

Function = Callable[..., Any]
_ndarray = np.ndarray
_XY, _OF_DIVISION = {"x": "input", "y": "other"}, {"dividend": "input", "divisor": "other"}
"""Second names of operands."""
_bind_power_by = ew.power_by.prim.bind  # type: ignore[attr-defined]

# ------------------------------------------------------------------------------------------ functions

add = BUILD.binary("add", ew.add, ANY, fast="fiu")
_subtract = BUILD.binary("sub", ew.subtract, ANY, fast="fiu")


def sub(input: Any, other: Any) -> Any:
    """`input - other`, elementwise; of booleans, whether they differ."""
    if isinstance(input, Value) and dtype_of(input).kind == "b" and (
        other is True or other is False or (isinstance(other, Value) and dtype_of(other).kind == "b")
    ):
        return cmp.logical_xor(input, other)
    return _subtract(input, other)


mul = BUILD.binary("mul", ew.multiply, ANY, fast="fiu")
api("mul", in_place=True)(mul)
api("multiply")(mul)
api("tensor_mul", "tensor_muls", method=False)(mul)
div = BUILD.binary("div", ew.divide, FLOAT)
_floor_divide = BUILD.binary("floor_divide", ew.floor_divide, ANY, fast="f")
_modulo = BUILD.binary("floor_mod", ew.modulo, NUMBER, fast="f")


@api("floor_div", seconds=_XY)
@api("floor_divide", in_place=True, seconds=_XY)
@api("tensor_floordiv", "floordiv", method=False, seconds=_XY)
def floor_div(input: Any, other: Any) -> Any:
    """`input / other` rounded down, elementwise."""
    return zero_division.quotient(_floor_divide(input, other), input, other)


@api(seconds=_XY)
@api("tensor_mod", "floormod", method=False, seconds=_XY)
def floor_mod(input: Any, other: Any) -> Any:
    """What `input / other` rounded down leaves, elementwise; it has the sign of `other`."""
    return zero_division.lost(_modulo(input, other), input, other)


neg = api("neg", "negative")(BUILD.unary("neg", ew.negative, NUMBER, fast="fi"))
absolute = api("abs", "absolute")(BUILD.unary("abs", ew.absolute, ANY, fast="fi"))


def _power(name: str, input: Any, exponent: Any) -> Any:
    if isinstance(input, Value) and not isinstance(exponent, Value):
        d = settle(name, result_dtype(name, input, exponent), NUMBER)
        if d.category > 1 or exponent >= 0:
            exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
            return ew.power_by(to_dtype(input, d), exponent=exponent)
    return ew.power(*pair(name, input, exponent, NUMBER))


pow = row("pow", lambda input, exponent: _power("pow", input, exponent),
    "`input` to the power of `exponent`, elementwise; one of them may be a number.")  # fmt: skip
api("tensor_pow", "pows", method=False)(pow)


_matmul = contraction.matmul.prim.bind  # type: ignore[attr-defined]


@api()
def matmul(input: Any, other: Any) -> Any:
    """The matrix product, batched over leading axes.

    Raises TypeError for two dtypes, RuntimeError where the shapes do not fit, ValueError for a tensor without axes or
    a vector that does not fit.
    """
    if not isinstance(input, Value) or not isinstance(other, Value):
        tensor_argument("matmul", input)
        tensor_argument("matmul", other, "other")
    if not input.ndim or not other.ndim:
        raise ValueError(
            f"matmul: wanted tensors with at least one axis, got shapes {input.shape} and {other.shape}; use mul()"
        )
    if input._a.dtype is not other._a.dtype:
        same_dtype("matmul", input, other)
    try:
        return _matmul(input, other)
    except ValueError as error:
        kind = ValueError if other.ndim == 1 else RuntimeError
        raise kind(str(error)) from None


equal = BUILD.binary("equal", cmp.equal, ANY)
less = BUILD.binary("less", cmp.less, ANY)
not_equal = BUILD.binary("not_equal", cmp.not_equal, ANY)
greater = BUILD.binary("greater", cmp.greater, ANY)
greater_equal = BUILD.binary("greater_equal", cmp.greater_equal, ANY)
less_equal = BUILD.binary("less_equal", cmp.less_equal, ANY)
for _names, _f in (
    ("equal eq", equal), ("not_equal ne", not_equal), ("greater gt", greater), ("greater_equal ge", greater_equal),
    ("less lt", less), ("less_equal le", less_equal),
):  # fmt: skip
    api(*_names.split())(_f)
for _name, _f in (("tensor_lt", less), ("tensor_le", less_equal), ("tensor_gt", greater), ("tensor_ge", greater_equal)):
    api(_name, method=False)(_f)

bitwise_and = api("bitwise_and")(BUILD.binary("bitwise_and", cmp.bitwise_and, "..xx", fast="iu"))
bitwise_or = api("bitwise_or")(BUILD.binary("bitwise_or", cmp.bitwise_or, "..xx", fast="iu"))
bitwise_xor = api("bitwise_xor")(BUILD.binary("bitwise_xor", cmp.bitwise_xor, "..xx", fast="iu"))


logical_not = row("logical_not", lambda input: cmp.logical_not(tensor_argument("logical_not", input)),
    "Where an element is zero or False.")  # fmt: skip


# ------------------------------------------------------------------------------------------ with alpha, in place


def _scaled(name: str, plain: Function, op: Any, input: Any, other: Any, alpha: Any) -> Any:
    if type(alpha) is int and alpha == 1:
        return plain(input, other)
    x, y = pair(name, input, other, ANY)
    if isinstance(alpha, float) and dtype_of(x).kind in "biu":
        raise ValueError(f"{name}: alpha={alpha} is no factor for integers; convert the tensors with astype()")
    return op(x, y, alpha=alpha)


add_ext = row("add", lambda input, other, *, alpha=1: _scaled("add", add, ew.add_scaled, input, other, alpha),
    "`input + alpha * other`, elementwise.", in_place=True)  # fmt: skip
api("tensor_add", "hyper_add", method=False)(add_ext)


@api("sub", "subtract", in_place=True)
@api("tensor_sub", method=False)
def sub_ext(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha * other`, elementwise."""
    return _scaled("sub", sub, ew.subtract_scaled, input, other, alpha)


@api("div", "divide", "true_divide", in_place=True, seconds=_OF_DIVISION)
@api("tensor_div", method=False, seconds=_OF_DIVISION)
def div_ext(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """`input / other`, elementwise; rounded towards zero ("trunc") or down ("floor") if asked."""
    if rounding_mode is None:
        return div(input, other)
    if rounding_mode == "floor":
        return zero_division.quotient(ew.floor_divide(*pair("div", input, other, ANY)), input, other)
    if rounding_mode == "trunc":
        return zero_division.lost(ew.trunc_divide(*pair("div", input, other, ANY)), input, other)
    raise ValueError(f"div: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")


sub_ext.__name__, div_ext.__name__ = "sub", "div"

# ------------------------------------------------------------------------------------------ operators

_NUMBERS = (int, float, np.generic)


_BESIDE_SEQUENCES = frozenset(("add", "sub", "floor_divide"))
_SEQUENCES_BESIDE = _BESIDE_SEQUENCES | {"pow"}


def _other(name: str, other: Any, takes: frozenset[str]) -> Any:
    """The other operand of an operator: sequences of numbers become tensors where the operator `takes` such, NumPy arrays
    are refused."""
    if name in takes and isinstance(other, (list, tuple)):
        return from_array(data_array(other, None, name))
    raise TypeError(f"{name}: wanted a Tensor or a number beside a Tensor, got {type(other).__name__}; use Tensor(...)")


def _operator(name: str, f: Function, bind: Function | None = None) -> Function:
    """`f` as a binary operator, quick (through `bind`) about a Python number beside a floating tensor."""

    def method(self: Any, other: Any) -> Any:
        if bind is not None and (type(other) is float or type(other) is int):
            x = self._a
            if type(x) is _ndarray and x.dtype.kind == "f":
                return bind(self, constant(other, x.dtype))
        if not isinstance(other, Value) and not isinstance(other, _NUMBERS):
            if hasattr(other, "_beside_dense"):
                return NotImplemented
            other = _other(name, other, _BESIDE_SEQUENCES)
        return f(self, other)

    return method


def _reflected(name: str, f: Function, ufunc: np.ufunc) -> Function:
    """`f` as the operator of the right operand; a NumPy array on the left computes with this tensor's array."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            if isinstance(other, _ndarray):
                if self._node is None:
                    return ufunc(other, self.asnumpy())
                other = from_array(other)
            elif not isinstance(other, Value):
                other = _other(name, other, _SEQUENCES_BESIDE)
        return f(other, self)

    return method


def _install(symbol: str, name: str, f: Function, op: Any, ufunc: np.ufunc) -> None:
    at_once = bool(op.prim.texts)
    plain = _operator(name, f, op.prim.bind if at_once else None)
    METHODS[f"__{symbol}__"] = fast(op, Tensor, plain) if at_once else plain
    METHODS[f"__r{symbol}__"] = _reflected(name, f, ufunc)


_install("add", "add", add, ew.add, np.add)
_install("sub", "sub", sub, ew.subtract, np.subtract)
_install("mul", "mul", mul, ew.multiply, np.multiply)
_install("truediv", "div", div, ew.divide, np.divide)
_install("floordiv", "floor_divide", floor_div, ew.floor_divide, np.floor_divide)
_install("mod", "floor_mod", floor_mod, ew.modulo, np.remainder)
_install("matmul", "matmul", matmul, contraction.matmul, np.matmul)
METHODS["__rpow__"] = _reflected("pow", pow, np.power)
_general_power = _operator("pow", pow)


def _power_operator(self: Any, exponent: Any) -> Any:
    """`pow`, quick about a Python number beside a floating tensor."""
    if type(exponent) is int or type(exponent) is float:
        x = self._a
        if type(x) is _ndarray and x.dtype.kind == "f":
            return _bind_power_by(self, exponent=exponent)
    return _general_power(self, exponent)


METHODS["__pow__"] = _power_operator
for _symbol, _f in (("and", bitwise_and), ("or", bitwise_or), ("xor", bitwise_xor)):
    METHODS[f"__{_symbol}__"] = _operator(_symbol, _f)
    METHODS[f"__r{_symbol}__"] = _reflected(_symbol, _f, getattr(np, f"bitwise_{_symbol}"))
for _symbol, _f in (("lt", less), ("le", less_equal), ("gt", greater), ("ge", greater_equal)):
    METHODS[f"__{_symbol}__"] = _operator(_symbol, _f)

METHODS.update(__neg__=neg, __abs__=absolute, __invert__=logical_not, __pos__=lambda self: self)


def _equality(f: Function, otherwise: bool) -> Function:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (Value, *_NUMBERS)):
            return f(self, other)
        return otherwise

    return method


METHODS.update(__eq__=_equality(equal, False), __ne__=_equality(not_equal, True))


@api(method=False)
def is_nonzero(input: Any) -> bool:
    """Whether the only element of a tensor is not zero."""
    return bool(tensor_argument("is_nonzero", input).item())


@api("is_", method=False)
def is_(x: Any, y: Any) -> bool:
    """Whether two objects are one."""
    return x is y


@api("is_not", method=False)
def is_not(x: Any, y: Any) -> bool:
    """Whether two objects are not one."""
    return x is not y
