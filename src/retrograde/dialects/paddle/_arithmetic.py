"""Arithmetic, comparisons and bits of two operands: the operators, and the functions that compute the same.

Two tensors of one real floating dtype go straight from the operator to the kernel (core/specialise.py). There are no
augmented assignments: `x += y` rebinds the name, as in PaddlePaddle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ...core.specialise import operator as fast
from ...core.value import Value, dtype_of, shape_of
from ...ops import comparison as cmp
from ...ops import contraction as ct
from ...ops import elementwise as ew
from ...tensor import contraction
from .._shared.elementwise import in_place_method, number_operator, operator, power_operator
from . import _kernels
from ._api import METHODS, api, row
from ._dtype import FROM_NUMPY
from ._elementwise import FLOATED, STRICT, TENSORS, TENSORS_FLOATED, binary, register, tensors_in_place, unary
from ._kernels import EnforceNotMet
from ._promote import (
    ALIKE,
    TENSORS_ALIKE,
    beside,
    constant,
    operand,
    pair,
    result_dtype,
    scalar_dtype,
    tensors_only,
    to_dtype,
)  # fmt: skip
from ._tensor import Tensor

_ndarray = np.ndarray
_bind_subtract, _bind_divide = ew.subtract.prim.bind, ew.divide.prim.bind
_bind_matmul = ct.matmul.prim.bind
_FLAT = "biuf"

Function = Callable[..., Any]

# ------------------------------------------------------------------------------------------ arithmetic

_add, _add_tensors = binary("add", ew.add), binary("add", ew.add, TENSORS)
_subtract, _subtract_tensors = binary("subtract", ew.subtract), binary("subtract", ew.subtract, TENSORS)
_multiply = binary("multiply", ew.multiply)
multiply = register("multiply mul", binary("multiply", ew.multiply, TENSORS))
_divide, _divide_tensors = binary("divide", ew.divide, FLOATED), binary("divide", ew.divide, TENSORS_FLOATED)


def _scaled(name: str, op: Function, x: Any, y: Any, alpha: Any) -> Any:
    x, y = pair(name, x, y, TENSORS)
    return op(x, y, alpha=alpha.item() if isinstance(alpha, (Value, np.generic)) else alpha)


@api(in_place=True, out=True)
def add(x: Any, y: Any, name: Any = None, *, alpha: Any = 1) -> Any:
    """`x + alpha * y`, elementwise."""
    if type(alpha) is int and alpha == 1:
        return _add_tensors(x, y)
    return _scaled("add", ew.add_scaled, x, y, alpha)


@api("subtract", "sub", in_place=True, out=True)
def subtract(x: Any, y: Any, name: Any = None, *, alpha: Any = 1) -> Any:
    """`x - alpha * y`, elementwise."""
    if type(alpha) is int and alpha == 1:
        return _subtract_tensors(x, y)
    return _scaled("subtract", ew.subtract_scaled, x, y, alpha)


@api("divide", "div", in_place=True, out=True)
def divide(x: Any, y: Any, name: Any = None, *, rounding_mode: str | None = None) -> Any:
    """`x / y`, elementwise; rounded towards zero ("trunc") or down ("floor") if asked."""
    if rounding_mode is None:
        return _divide_tensors(x, y)
    if rounding_mode == "floor":
        tensors_only("divide", y)
        return floor_divide(x, y)
    if rounding_mode == "trunc":
        return _quotient("divide", ew.trunc_divide, x, y)
    raise ValueError(f"divide: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")


def _quotient(name: str, op: Function, x: Any, y: Any) -> Any:
    x, y = pair(name, x, y)
    if dtype_of(y).kind in "iu" and not np.all(y.numpy() if isinstance(y, Value) else y):
        raise EnforceNotMet(f"{name}: division of whole numbers by zero")
    return op(x, y)


def _floor_divide(x: Any, y: Any) -> Any:
    return _quotient("floor_divide", ew.floor_divide, *(v.detach() if isinstance(v, Value) else v for v in (x, y)))


def _remainder(x: Any, y: Any) -> Any:
    return _quotient("remainder", ew.remainder, x, y)


@api(in_place=True, out=True)
def floor_divide(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient rounded down, elementwise; no gradient flows through it."""
    tensors_only("floor_divide", x)
    return _floor_divide(x, y)


@api("remainder", "mod", "floor_mod", in_place=True, out=True)
def remainder(x: Any, y: Any, name: Any = None) -> Any:
    """What is left after `floor_divide`, elementwise, with the sign of the divisor."""
    tensors_only("remainder", x)
    return _remainder(x, y)


@api(in_place=True, out=True, seconds={"exponent": "y"})
def pow(x: Any, y: Any, name: Any = None) -> Any:
    """`x` to the power `y`, elementwise; one of them may be a number. PaddlePaddle cuts a number to a whole one beside
    integers (4 to the power 0.5 is 1 there, and 2 here)."""
    if isinstance(x, Value):
        _kernels.check("pow", dtype_of(x))
    return _power(x, y)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, Value) and not isinstance(y, (Value, _ndarray)):
        if not isinstance(y, (int, float, complex, np.generic)):
            raise TypeError(f"pow: the exponent must be a Tensor or a number, got {type(y).__name__}")
        y = y.item() if isinstance(y, np.generic) else y
        d = beside(FROM_NUMPY[dtype_of(x)], scalar_dtype(y))
        if d.category >= 2:
            return ew.power_by(to_dtype(x, d), exponent=y)
    x, y = pair("pow", x, y)
    if dtype_of(x).kind in "iu" and (np.asarray(y.numpy() if isinstance(y, Value) else y) < 0).any():
        raise ValueError("pow: an integer to a negative power is no integer; convert with astype('float32')")
    return ew.power(x, y)


@api("matmul", out=True)
def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: Any = None) -> Any:
    """The matrix product of the last two axes, which `transpose_x` and `transpose_y` exchange first."""
    if not isinstance(x, Value) or not isinstance(y, Value):
        raise ValueError(f"matmul: wanted two Tensors, got {type(x).__name__} and {type(y).__name__}")
    _kernels.check("matmul", dtype_of(x))
    if dtype_of(x) != dtype_of(y):
        if dtype_of(y).kind in "iu" and dtype_of(x).kind == "f":  # integers on the right take the dtype on the left
            y = to_dtype(y, FROM_NUMPY[dtype_of(x)])
        elif "c" not in (dtype_of(x).kind, dtype_of(y).kind):
            raise ValueError(f"matmul: the operands have dtype {x.dtype} and {y.dtype}; convert one with astype()")
        d = result_dtype("matmul", x, y, strict=True)
        x, y = to_dtype(x, d), to_dtype(y, d)
    if transpose_x and len(shape_of(x)) > 1:
        x = x.mT
    if transpose_y and len(shape_of(y)) > 1:
        y = y.mT
    try:
        return contraction.matmul(x, y)
    except ShapeError as error:
        raise ValueError(str(error)) from None


def _matmul(x: Any, y: Any) -> Any:
    """`x @ y`, in the dtype of x where both are real; quick about two matrices of one dtype."""
    y = operand("matmul", y)
    if isinstance(y, Value):
        a, b = x._a, y._a
        if type(a) is _ndarray and type(b) is _ndarray and a.dtype is b.dtype and a.ndim == 2 == b.ndim:
            return _bind_matmul(x, y)
        if dtype_of(x) != dtype_of(y) and "c" not in (dtype_of(x).kind, dtype_of(y).kind):
            y = to_dtype(y, FROM_NUMPY[dtype_of(x)])
    return matmul(x, y)


def _matmul_right(y: Any, x: Any) -> Any:
    """`x @ y` where x is no Tensor: an array, in the dtype of y where both are real."""
    x = operand("matmul", x)
    if isinstance(x, Value) and "c" not in (dtype_of(x).kind, dtype_of(y).kind):
        x = to_dtype(x, FROM_NUMPY[dtype_of(y)])
    return matmul(x, y)


def _reversed(f: Function) -> Function:
    """`f` as the operator of the right operand."""
    return operator(lambda self, other: f(other, self))


def _reversed_number(f: Function, bind: Function) -> Function:
    """The same, quick about a Python number on the left of a floating tensor."""

    def swapped(self: Any, other: Any) -> Any:
        if type(other) is float or type(other) is int:
            x = self._a
            if type(x) is _ndarray and x.dtype.kind == "f":
                return bind(constant(other, x.dtype), self)
        return f(other, self)

    return operator(swapped)


_over, _under = fast(ew.divide, Tensor, number_operator(_divide, ew.divide)), _reversed_number(_divide, _bind_divide)
METHODS.update(
    __add__=fast(ew.add, Tensor, number_operator(_add, ew.add)),
    __radd__=number_operator(_add, ew.add),
    __sub__=fast(ew.subtract, Tensor, number_operator(_subtract, ew.subtract)),
    __rsub__=_reversed_number(_subtract, _bind_subtract),
    __mul__=fast(ew.multiply, Tensor, number_operator(_multiply, ew.multiply)),
    __rmul__=number_operator(_multiply, ew.multiply),
    __truediv__=_over,
    __rtruediv__=_under,
    __div__=_over,
    __rdiv__=_under,
    __floordiv__=operator(_floor_divide),
    __rfloordiv__=_reversed(_floor_divide),
    __mod__=operator(_remainder),
    __rmod__=_reversed(_remainder),
    __pow__=power_operator(_power, ew.power_by),
    __rpow__=_reversed(_power),
    __matmul__=operator(_matmul),
    __rmatmul__=operator(_matmul_right),
)
for _names, _ufunc in (("add", np.add), ("subtract sub", np.subtract), ("multiply mul", np.multiply),
                       ("divide div", np.divide)):  # fmt: skip
    for _name in _names.split():
        METHODS[_name + "_"] = in_place_method(_name + "_", METHODS[_name + "_"], _ufunc)
    tensors_in_place(_names)

# ------------------------------------------------------------------------------------------ one operand

negated = row("__neg__", lambda self: self if dtype_of(self).kind == "b" else ew.negative(self),
    "`-x`; booleans stay as they are, as in PaddlePaddle.", function=False)  # fmt: skip
unchanged = row("__pos__", lambda self: self, "`+x`: the tensor itself.", function=False)


@api("__abs__", function=False)
def magnitude(self: Any) -> Any:
    """`abs(x)`."""
    _kernels.check("abs", dtype_of(self))
    return ew.absolute_stopped(self)


# ------------------------------------------------------------------------------------------ comparisons


def _comparison(names: str, op: Any) -> Any:
    """Register the function of these names, the last of which is its operator's."""
    name, symbol = names.split()[0], names.split()[-1]
    METHODS[f"__{symbol}__"] = operator(binary(name, op, fast=_FLAT))
    return register(names, binary(name, op, TENSORS, fast=_FLAT))


not_equal, less_than = _comparison("not_equal ne", cmp.not_equal), _comparison("less_than less lt", cmp.less)
less_equal = _comparison("less_equal le", cmp.less_equal)
greater_than = _comparison("greater_than greater gt", cmp.greater)
greater_equal = _comparison("greater_equal ge", cmp.greater_equal)


@api("equal", "eq", in_place=True, out=True)
def equal(x: Any, y: Any, name: Any = None) -> Any:
    """Whether elements are equal to those of another tensor, or to a number."""
    tensors_only("equal", x)
    return _equal(x, y)


_equal = binary("equal", cmp.equal, fast=_FLAT)
METHODS["__eq__"] = operator(_equal)

# ------------------------------------------------------------------------------------------ bits

_BITS = {
    "and": ("bitwise_and", cmp.bitwise_and), "or": ("bitwise_or", cmp.bitwise_or),
    "xor": ("bitwise_xor", cmp.bitwise_xor), "lshift": ("bitwise_left_shift", cmp.left_shift),
    "rshift": ("bitwise_right_shift", cmp.right_shift),
}  # fmt: skip

for _symbol, (_name, _op) in _BITS.items():
    register(_name, binary(_name, _op, TENSORS_ALIKE, fast="biu"))
    _f = binary(_name, _op, ALIKE, fast="biu")
    METHODS[f"__{_symbol}__"] = operator(_f)
    METHODS[f"__r{_symbol}__"] = _reversed(_f)

bitwise_not = register("bitwise_not bitwise_invert", unary("bitwise_not", cmp.bitwise_not, STRICT, fast="biu"))
METHODS["__invert__"] = bitwise_not
tensors_in_place("floor_divide remainder mod floor_mod bitwise_and bitwise_or bitwise_xor")
