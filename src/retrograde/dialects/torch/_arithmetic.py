"""Arithmetic of two operands: sums, products, quotients, remainders, powers, and their operators.

Two tensors of one real floating dtype go straight from the operator to the kernel (core/specialise.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.specialise import operator as fast
from ...core.value import Value, dtype_of, shape_of
from ...ops import elementwise as ew
from ...ops.structural import cast
from ...tape import inplace
from .._shared.elementwise import (
    constant,
    in_place_method,
    number_operator,
    power_operator,
    reflected,
    write_at_once,
)
from .._shared.registry import defined
from ._api import METHODS, api
from ._dtype import FROM_NUMPY, dtype
from ._elementwise import (
    ANY,
    BOTH,
    EITHER,
    FLOAT,
    NUMBER,
    OTHER,
    binary,
    in_place_operator,
    operators,
    register,
    settle,
    settled_pair,
    tensor_argument,
)
from ._graph_nodes import NAMES, show_as
from ._promote import number_array, operand, python_number, result_dtype, to_dtype
from ._tensor import Tensor
from ._unary import reciprocal

_ndarray = np.ndarray
_cast = cast.prim.bind
_bind_subtract, _bind_power_by = ew.subtract.prim.bind, ew.power_by.prim.bind

NAMES.update(
    add_scaled="AddBackward0", subtract_scaled="SubBackward0", floor_divide="DivBackward2", trunc_divide="DivBackward2",
    floor_divide_refusing="NotImplemented", remainder="RemainderBackward1", fmod="FmodBackward1",
    power="PowBackward1", power_by="PowBackward0", add_product="AddcmulBackward0", add_quotient="AddcdivBackward0",
    lerp="LerpBackward1", lerp_by="LerpBackward0",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sums and products

_add = binary("add", ew.add, ANY, BOTH)
_subtract = binary("sub", ew.subtract, "r...", BOTH)
mul = binary("mul", ew.multiply, ANY, BOTH)
register("mul multiply", mul)


def factor(name: str, alpha: Any, d: dtype, word: str = "alpha") -> Any:
    """The number by which an argument such as `alpha=` multiplies, checked against the dtype of the result."""
    alpha = python_number(name, word, alpha)
    kind = 0 if isinstance(alpha, bool) else 1 if isinstance(alpha, int) else 2 if isinstance(alpha, float) else 3
    if kind > max(d.category, 1) or (kind == 0 and d.category != 0):
        raise RuntimeError(f"{name}: {word}={alpha!r} does not fit a result of dtype {d!r}")
    return number_array(name, alpha, d.np).item() if d.category == 1 else alpha


def _alike(x: Any, y: Any) -> bool:
    """Whether two operands are tensors over NumPy arrays of one floating dtype, so that nothing is to be settled."""
    if not isinstance(x, Value) or not isinstance(y, Value):
        return False
    a, b = x._a, y._a
    return type(a) is type(b) is _ndarray and a.dtype is b.dtype and a.dtype.kind == "f"


def _scaled(name: str, op: Callable[..., Any], x: Any, y: Any, alpha: Any, numbers: str) -> Any:
    if type(alpha) is float and _alike(x, y):
        return op(x, y, alpha=alpha)
    x, y = settled_pair(name, x, y, ANY, numbers)
    return op(x, y, alpha=factor(name, alpha, FROM_NUMPY[dtype_of(x)]))


def _old_order(name: str, word: str, operands: tuple[Any, ...], last: tuple[Any, ...]) -> dict[str, Any]:
    """The keywords of a call whose factor stands before its last operands, as old programs write `x.add_(0.1, y)`."""
    if len(last) != 1 or isinstance(operands[0], Value) or not isinstance(last[0], Value):
        wanted = "input, other" if word == "alpha" else "input, tensor1, tensor2"
        raise TypeError(f"{name}: wanted ({wanted}, *, {word}=1), got {1 + len(operands) + len(last)} operands by position")
    return {word: operands[0]}


@api(in_place=True, out=True)
def add(input: Any, other: Any, *last: Any, alpha: Any = 1) -> Any:
    """`input + alpha * other`, elementwise."""
    if last:
        return add(input, *last, **_old_order("add", "alpha", (other,), last))
    if type(alpha) is int and alpha == 1:
        return _add(input, other)
    return _scaled("add", ew.add_scaled, input, other, alpha, BOTH)


def _refuse_booleans(name: str, *operands: Any) -> None:
    for x in operands:
        if x is True or x is False or (isinstance(x, Value) and dtype_of(x).kind == "b"):
            raise RuntimeError(f"{name}: booleans have no difference; use logical_xor(), ^, or ~ to negate a mask")


@api("sub", "subtract", in_place=True, out=True)
def sub(input: Any, other: Any, *last: Any, alpha: Any = 1) -> Any:
    """`input - alpha * other`, elementwise; raises RuntimeError for booleans."""
    if last:
        return sub(input, *last, **_old_order("sub", "alpha", (other,), last))
    _refuse_booleans("sub", input, other)
    if type(alpha) is int and alpha == 1:
        return _subtract(input, other)
    return _scaled("sub", ew.subtract_scaled, input, other, alpha, BOTH)


@api(method=False, out=True)
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`other - alpha * input`, elementwise; raises RuntimeError for booleans."""
    if type(other) is int or type(other) is float:
        x = tensor_argument("rsub", input)._a
        if type(x) is _ndarray and x.dtype.kind == "f" and type(alpha) is int and alpha == 1:
            return show_as(_bind_subtract(constant(other, x.dtype), input), "RsubBackward1")
    tensor_argument("rsub", input)
    _refuse_booleans("rsub", input, other)
    name = "RsubBackward0" if isinstance(other, Value) else "RsubBackward1"
    if type(alpha) is int and alpha == 1:
        return show_as(_subtract(other, input), name)
    return show_as(_scaled("rsub", ew.subtract_scaled, other, input, alpha, EITHER), name)


# ------------------------------------------------------------------------------------------ quotients and remainders

_true_divide = binary("div", ew.divide, FLOAT, BOTH)
register("true_divide", _true_divide)


def _refuse_zero(name: str, divisor: Any) -> None:
    """Raise RuntimeError where a whole number would be divided by 0."""
    array = divisor._a if isinstance(divisor, Value) else divisor
    if type(array) is _ndarray and array.dtype.kind in "iu" and not array.all():
        raise RuntimeError(f"{name}: division of whole numbers by zero (ZeroDivisionError)")


def _quotient(name: str, op: Callable[..., Any], kinds: str, numbers: str) -> Callable[..., Any]:
    """A function of dividend and divisor that whole numbers stay whole under."""

    def f(input: Any, other: Any) -> Any:
        if type(other) is int and other:  # of a tensor's own dtype, whatever it is beside truths
            array = getattr(input, "_a", None)
            if type(array) is _ndarray and array.dtype.kind in "if":
                return op(input, constant(other, array.dtype))
        x, y = settled_pair(name, input, other, kinds, numbers)
        if dtype_of(y).kind in "iu":
            _refuse_zero(name, y)
        return op(x, y)

    return defined(name, f, f"The elementwise `{name}` of two tensors, or a tensor and a number.")


_floored = _quotient("div", ew.floor_divide, NUMBER, EITHER)
_truncated = _quotient("div", ew.trunc_divide, NUMBER, EITHER)


@api("div", "divide", in_place=True, out=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """`input / other`, elementwise; rounded towards zero ("trunc") or down ("floor") if asked.

    Raises RuntimeError for another rounding mode, and for whole numbers divided by zero with one.
    """
    if rounding_mode is None:
        return _true_divide(input, other)
    if rounding_mode == "floor":
        return _floored(input, other)
    if rounding_mode == "trunc":
        return _truncated(input, other)
    raise RuntimeError(f"div: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")


floor_divide = _quotient("floor_divide", ew.floor_divide_refusing, NUMBER, BOTH)
register("floor_divide", floor_divide)


def _by_number(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` whose node has another name when the second operand is a number."""

    def g(input: Any, other: Any) -> Any:
        out = f(input, other)
        return out if isinstance(other, Value) else show_as(out, name)

    g.__name__, g.__qualname__, g.__doc__ = f.__name__, f.__qualname__, f.__doc__
    return g


remainder = _by_number("RemainderBackward0", _quotient("remainder", ew.remainder, NUMBER, EITHER))
register("remainder", remainder)
register("fmod", _by_number("FmodBackward0", _quotient("fmod", ew.fmod, NUMBER, OTHER)))


def _divided_number(x: Any, number: Any) -> Any:
    """`number / x`, as PyTorch computes it: through the reciprocal."""
    return mul(reciprocal(x), number)


# ------------------------------------------------------------------------------------------ powers


def _check_whole_exponent(exponent: int, d: dtype) -> None:
    if exponent < 0:
        raise RuntimeError("pow: whole numbers have no negative powers; convert the tensor to a floating dtype first")
    if exponent > np.iinfo(d.np).max:
        raise RuntimeError(f"pow: the exponent {exponent} does not fit dtype {d!r}")


def _power_of_tensor(x: Value, exponent: Any) -> Any:
    array = x._a
    if type(array) is _ndarray and array.dtype.kind == "f" and (type(exponent) is int or type(exponent) is float):
        return _bind_power_by(x, exponent=exponent)
    exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
    d = result_dtype(x, exponent)
    if d.category == 1:
        _check_whole_exponent(exponent, d)
    elif d.category == 0:
        return _cast(_power_of_tensor(_cast(x, dtype=np.dtype(np.uint8)), int(exponent)), dtype=d.np)
    return ew.power_by(to_dtype(x, d), exponent=exponent)


@api(in_place=True, out=True)
def square(input: Any) -> Any:
    """The square, elementwise."""
    return _power_of_tensor(tensor_argument("square", input), 2)


@api(in_place=True, out=True)
def pow(input: Any, exponent: Any) -> Any:
    """`input` to the power of `exponent`, elementwise; one of them may be a number."""
    if isinstance(input, Value):
        if not isinstance(exponent, (Value, np.ndarray)):
            if not isinstance(exponent, (int, float, complex, np.generic)):
                raise TypeError(f"pow: the exponent must be a tensor or a number, got {type(exponent).__name__}")
            return _power_of_tensor(input, exponent)
        return ew.power(*settled_pair("pow", input, exponent, "x...", EITHER))
    out = ew.power(*settled_pair("pow", input, exponent, "x...", EITHER))
    return show_as(out, "PowBackward2")


def _doubled(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """The operands of float_power in float64, or complex128 if one is complex; numbers as Python numbers."""
    if not isinstance(x, Value) and not isinstance(y, Value):
        raise TypeError(f"{name}: one argument must be a tensor, got {type(x).__name__} and {type(y).__name__}")
    complex_ = any(
        dtype_of(v).kind == "c" if isinstance(v, Value) else isinstance(v, (complex, np.complexfloating))
        for v in (x, y)
    )
    d = np.dtype(np.complex128 if complex_ else np.float64)

    def convert(v: Any) -> Any:
        if isinstance(v, Value):
            return v if dtype_of(v) == d else _cast(v, dtype=d)
        return complex(v) if complex_ else float(v)

    return convert(x), convert(y)


@api(out=True)
def float_power(input: Any, exponent: Any) -> Any:
    """`input` to the power of `exponent`, computed in float64 or complex128."""
    return pow(*_doubled("float_power", input, exponent))


@api(function=False)
def float_power_(self: Any, exponent: Any) -> Any:
    """`float_power` written into this tensor, whose dtype must be float64 or complex128."""

    def compute() -> Any:
        out = float_power(self, exponent)
        if dtype_of(out) != dtype_of(self):
            raise RuntimeError(f"float_power_: the result has dtype {out.dtype}, and this tensor {self.dtype}")
        return out

    return inplace.update("float_power_", self, compute)


# ------------------------------------------------------------------------------------------ operators

_over, _under = fast(ew.divide, Tensor, number_operator(_true_divide, ew.divide)), reflected(_divided_number, swap=False)
_over_in_place = in_place_operator("__itruediv__", _true_divide, np.divide)
METHODS.update(
    __add__=fast(ew.add, Tensor, number_operator(_add, ew.add)),
    __radd__=reflected(_add, swap=False),
    __iadd__=in_place_operator("__iadd__", _add, np.add),
    __sub__=fast(ew.subtract, Tensor, number_operator(sub, ew.subtract)),
    __rsub__=reflected(rsub, swap=False),
    __isub__=in_place_operator("__isub__", sub, np.subtract),
    __mul__=fast(ew.multiply, Tensor, number_operator(mul, ew.multiply)),
    __rmul__=reflected(mul, swap=False),
    __imul__=in_place_operator("__imul__", mul, np.multiply),
    __truediv__=_over, __rtruediv__=_under, __itruediv__=_over_in_place,
    __div__=_over, __rdiv__=_under, __idiv__=_over_in_place,
)  # fmt: skip
for _names, _ufunc in (("add", np.add), ("sub subtract", np.subtract), ("mul multiply", np.multiply),
                       ("div divide", np.divide)):  # fmt: skip
    for _name in _names.split():
        METHODS[_name + "_"] = in_place_method(_name + "_", METHODS[_name + "_"], _ufunc)


def _weighted_in_place(name: str, op: Callable[..., Any], word: str, *, positional: bool) -> None:
    """Let an in-place method with a factor, by its name or also by position, write at once where there is no history."""
    general = METHODS[name]

    def method(self: Any, other: Any = None, *last: Any, **options: Any) -> Any:
        if other is None:  # by name, as `end` of lerp_ is
            return general(self, **options)
        by: Any = None
        if len(options) == 1 and not last:
            by = options.get(word)
        elif len(last) == 1 and not options and positional:
            (by,) = last
        if type(by) is float and isinstance(other, Value):

            def written(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
                np.copyto(out, op(x, y, **{word: by}))

            if write_at_once(name, written, self, other):
                return self
        return general(self, other, *last, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = general.__doc__
    METHODS[name] = method


for _name in ("add_", "sub_", "subtract_"):
    _weighted_in_place(_name, ew.add_scaled if _name == "add_" else ew.subtract_scaled, "alpha", positional=False)
operators("floordiv", floor_divide)
operators("mod", remainder)
operators("pow", pow)

METHODS["__pow__"] = power_operator(pow, ew.power_by)

# ------------------------------------------------------------------------------------------ three operands


def _three(name: str, op: Callable[..., Any], kinds: str, input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    for x, argument in ((input, "input"), (tensor1, "tensor1"), (tensor2, "tensor2")):
        tensor_argument(name, x, argument)
    d = settle(name, result_dtype(input, tensor1, tensor2), kinds)
    value = value.item() if isinstance(value, (Value, np.generic)) else value
    value = number_array(name, value, d.np).item() if d.category == 1 else factor(name, value * 1, d, "value")
    return op(to_dtype(input, d), to_dtype(tensor1, d), to_dtype(tensor2, d), value=value)


@api(in_place=True, out=True)
def addcmul(input: Any, tensor1: Any, tensor2: Any, *last: Any, value: Any = 1) -> Any:
    """`input + value * tensor1 * tensor2`, elementwise."""
    if last:
        return addcmul(input, tensor2, *last, **_old_order("addcmul", "value", (tensor1, tensor2), last))
    return _three("addcmul", ew.add_product, "x...", input, tensor1, tensor2, value)


@api(in_place=True, out=True)
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *last: Any, value: Any = 1) -> Any:
    """`input + value * tensor1 / tensor2`, elementwise; raises RuntimeError for whole numbers."""
    if last:
        return addcdiv(input, tensor2, *last, **_old_order("addcdiv", "value", (tensor1, tensor2), last))
    if all(isinstance(x, Value) and dtype_of(x).kind in "iub" for x in (tensor1, tensor2)):
        raise RuntimeError("addcdiv: whole numbers have no exact quotient; convert tensor1 or tensor2 first")
    return _three("addcdiv", ew.add_quotient, "rr..", input, tensor1, tensor2, value)


@api(in_place=True, out=True)
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """`input + weight * (end - input)`, elementwise; all of one floating dtype."""
    if type(weight) is float and _alike(input, end):
        return ew.lerp_by(input, end, weight=weight)
    tensor_argument("lerp", input)
    tensor_argument("lerp", end, "end")
    d = FROM_NUMPY[dtype_of(input)]
    if isinstance(weight, Value) and not shape_of(weight) and end.dtype is d:  # counts as a number does
        d = settle("lerp", result_dtype(input, weight), "xx..")
        input, end, weight = (to_dtype(x, d) for x in (input, end, weight))
    for x, argument in ((end, "end"), (weight, "weight")):
        if isinstance(x, Value) and x.dtype is not d:
            raise RuntimeError(f"lerp: {argument} has dtype {x.dtype}, input {d}; all must have the same")
    settle("lerp", d, "xx..")
    if isinstance(weight, Value):
        return ew.lerp(input, end, weight)
    return ew.lerp_by(input, end, weight=factor("lerp", weight * 1, d, "weight"))


_weighted_in_place("lerp_", ew.lerp_by, "weight", positional=True)


@api(method=False)
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype that an operation on two tensors or numbers computes in."""
    return result_dtype(operand("result_type", tensor1), operand("result_type", tensor2))
