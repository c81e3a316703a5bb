"""Elementwise functions of two or three tensors beyond arithmetic and comparison: maxima, clipping, special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import comparison as cmp
from ...ops import elementwise as ew
from ...ops import reduction as rd
from ...ops import selection as sel
from ...ops import special as sp
from ...ops import structural as st
from .._shared.elementwise import constant
from .._shared.registry import defined
from . import _zero_division as zero_division
from ._api import api, row
from ._arguments import function
from ._arithmetic import div, mul, pow, sub
from ._dtype import FROM_NUMPY, float64
from ._promote import (
    BUILD,
    FLOAT,
    FLOATING,
    NUMBER,
    REAL,
    number_dtype,
    pair,
    result_dtype,
    same_dtype,
    settle,
    single,
    tensor_argument,
    to_dtype,
)
from ._tensor import from_array
from ._unary import BUILD_XY

Function = Callable[..., Any]

maximum = api("maximum")(BUILD.binary("maximum", sel.maximum, REAL, ties="half"))
minimum = api("minimum")(BUILD.binary("minimum", sel.minimum, REAL, ties="half"))
fmax = api("fmax")(BUILD.binary("fmax", sel.fmax, "x..x"))
fmin = api("fmin")(BUILD.binary("fmin", sel.fmin, "x..x"))
atan2 = api("atan2", "arctan2")(BUILD.binary("atan2", ew.atan2_undefined, FLOATING))
hypot = api("hypot")(BUILD.binary("hypot", ew.hypot, FLOATING))
logaddexp = api("logaddexp")(BUILD.binary("logaddexp", ew.logaddexp, FLOATING, numbers=False))
logaddexp2 = api("logaddexp2")(BUILD.binary("logaddexp2", ew.logaddexp2, FLOATING, numbers=False))


@api()
def xlogy(input: Any, other: Any) -> Any:
    """x log y, and 0 where x is 0; of integers only beside a number."""
    both = isinstance(input, Value) and isinstance(other, Value)
    return sp.xlogy(*pair("xlogy", input, other, "fx.x" if both else "ff.x"))


igamma = api("igamma")(BUILD.binary("igamma", sp.gammainc, FLOATING))
igammac = api("igammac")(BUILD.binary("igammac", sp.gammaincc, FLOATING))
zeta = api("zeta", method=False)(BUILD.binary("zeta", sp.zeta, FLOATING))
gcd = api("gcd")(BUILD.binary("gcd", cmp.gcd, "x.xx"))
lcm = api("lcm")(BUILD.binary("lcm", cmp.lcm, "x.xx"))
nextafter = api("nextafter")(BUILD.binary("nextafter", ew.nextafter, FLOATING))
heaviside = api("heaviside", seconds={"values": "other"})(BUILD.binary("heaviside", sel.heaviside, "x..x"))
truncate_mod = api("truncate_mod", method=False)(BUILD_XY.binary("truncate_mod", ew.fmod, "x..x"))
_truncate_div = BUILD_XY.binary("truncate_div", ew.trunc_divide, "x..x")

truncate_div = row("truncate_div", lambda x, y: zero_division.quotient(_truncate_div(x, y), x, y),
    "x / y rounded towards zero, elementwise.", method=False)  # fmt: skip

bitwise_left_shift = api("bitwise_left_shift")(BUILD.binary("bitwise_left_shift", cmp.left_shift, "x.xx"))
bitwise_right_shift = api("bitwise_right_shift")(BUILD.binary("bitwise_right_shift", cmp.right_shift, "x.xx"))


def squared_difference(x: Any, y: Any) -> Any:
    """(x - y) squared."""
    return ew.square(sub(x, y))


def _rest(name: str, quotient: Callable[[Any, Any], Any], whole: Any) -> Function:
    """What a rounded quotient leaves, computed in floating point as MindSpore does: x - quotient(x, y) y."""

    def f(input: Any, other: Any) -> Any:
        x, y = pair(name, input, other, REAL)
        if dtype_of(x).kind != "f":
            return zero_division.rest(whole(x, y), x, y)
        return ew.subtract(x, ew.multiply(quotient(x, y), y))

    return defined(name, f,
        "The rest of a division, with the sign of the " + ("dividend." if name == "fmod" else "divisor."))  # fmt: skip


fmod = api("fmod")(_rest("fmod", lambda x, y: sel.trunc(ew.divide(x, y)), ew.fmod))
remainder = api("remainder", in_place=True)(_rest("remainder", ew.floor_divide, ew.remainder))


def _logical(name: str, op: Any) -> Function:
    """Of tensors of any dtypes, and Python's True and False."""

    def f(input: Any, other: Any) -> Any:
        for x in (input, other):
            if not isinstance(x, (Value, bool)):
                raise TypeError(f"{name}: wanted Tensors or bools, got {type(x).__name__}")
        if not isinstance(input, Value) and not isinstance(other, Value):
            raise TypeError(f"{name}: one operand must be a Tensor")
        bools = [st.cast(x, dtype=np.dtype(bool)) if isinstance(x, Value) else np.asarray(x) for x in (input, other)]
        return op(*bools)

    return defined(name, f, f"The `{name}` of truth values, elementwise; what is not zero is true.")


logical_and = api("logical_and")(_logical("logical_and", cmp.logical_and))
logical_or = api("logical_or")(_logical("logical_or", cmp.logical_or))
logical_xor = api("logical_xor")(_logical("logical_xor", cmp.logical_xor))


@api()
def xdivy(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0."""
    a, b = (v if isinstance(v, Value) else from_array(v) for v in pair("xdivy", x, y, "xx.."))
    return sel.where(cmp.equal(a, 0), st.zeros_like(a * b), _safe_quotient(a, b, a))


def _safe_quotient(a: Any, b: Any, zero_where: Any) -> Any:
    """a / b with 1 for b where `zero_where` is 0, so that no derivative is infinite there."""
    return a / sel.where(cmp.equal(zero_where, 0), constant(1, dtype_of(b)), b)


def div_no_nan(x1: Any, x2: Any) -> Any:
    """x1 / x2, and 0 where x2 is 0."""
    return rd.divide_or_zero(*pair("DivNoNan", x1, x2, "xx.."))


def mul_no_nan(x: Any, y: Any) -> Any:
    """x y, and 0 where y is 0 whatever x is."""
    a, b = pair("MulNoNan", x, y, NUMBER)
    # A finite x times 0 is 0 by itself, and y has its gradient x; only what would be nan is taken out.
    nan, nothing = cmp.logical_and(cmp.equal(b, 0), cmp.logical_not(cmp.isfinite(a))), constant(0, dtype_of(a))
    return sel.where(nan, nothing, sel.where(nan, nothing, a) * b)


@api()
def copysign(x: Any, other: Any) -> Any:
    """The size of x with the sign of the other; of integers in float32. Where x is nan it has no gradient."""
    tensor_argument("copysign", x, "x")
    d = settle("copysign", FROM_NUMPY[dtype_of(x)], "xf.x")
    if not isinstance(other, (Value, int, float, np.generic)):
        raise TypeError(f"copysign: other must be a Tensor or a number, got {type(other).__name__}")
    x = to_dtype(x, d)
    return ew.copysign(sel.where(cmp.not_equal(x, x), constant(np.nan, dtype_of(x)), x), to_dtype(other, d))


@api()
def ldexp(x: Any, other: Any) -> Any:
    """x times 2 to the power of the other."""
    return mul(x, ew.exp2(single("ldexp", other, FLOAT)) if isinstance(other, Value) else 2.0**other)


@api(seconds={"other": "exponent"})
def float_power(input: Any, exponent: Any) -> Any:
    """`input` to the power of `exponent`, computed in float64."""
    if not isinstance(input, Value) and not isinstance(exponent, Value):
        raise TypeError("float_power: one of input and exponent must be a Tensor")
    x, y = (to_dtype(v, float64) if isinstance(v, Value) and dtype_of(v).kind != "c" else v for v in (input, exponent))
    return pow(x, float(y) if isinstance(y, int) else y)


@api("approximate_equal")
def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5) -> Any:
    """Whether x and y differ by less than the tolerance, elementwise."""
    if tolerance < 0:
        raise ValueError(f"approximate_equal: tolerance must not be negative, got {tolerance}")
    return cmp.less(ew.absolute(sub(x, y)), float(tolerance))


isclose = function("isclose", "input: Tensor, other: Same, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False",
    cmp.isclose, "Whether |input - other| <= atol + rtol |other|, elementwise; both of one dtype.")  # fmt: skip


@api(function=False)
def allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close."""
    return bool(rd.all(isclose(self, other, rtol, atol, equal_nan), axis=tuple(range(self.ndim)), keepdims=False))


# ------------------------------------------------------------------------------------------ clipping


def _clamp(op: str, x: Any, low: Any, high: Any) -> Any:
    x = single(op, x, REAL)
    if low is None and high is None:
        raise ValueError(f"{op}: give a lower bound, an upper bound or both")
    bounds = [b for b in (low, high) if b is not None]
    if any(isinstance(b, bool) for b in bounds):
        raise ValueError(f"{op}: a bound is a number or a Tensor, got a bool")
    d = result_dtype(op, x, *bounds)
    if not any(isinstance(b, Value) for b in bounds):
        for b in bounds:
            number_dtype(op, b)
        return sel.clip(to_dtype(x, d), low=low, high=high)
    x, *ends = (None if v is None else to_dtype(v, d) for v in (x, low, high))
    return sel.clip_by(x, *ends)


clamp = row("clamp", lambda input, min=None, max=None: _clamp("clamp", input, min, max),
    "Elements brought into [min, max] (numbers or tensors); at a bound the gradient passes.", in_place=True)  # fmt: skip

api("clip")(clamp)


@api(method=False)
def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Elements of a tensor (or of each of a list) brought between two bounds; half the gradient passes at a bound."""
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("clip_by_value: give a lower bound, an upper bound or both")
    if isinstance(x, (tuple, list)):
        return tuple(clip_by_value(part, clip_value_min, clip_value_max) for part in x)
    out = single("clip_by_value", x, REAL)
    if clip_value_min is not None:
        out = maximum(out, clip_value_min)
    return out if clip_value_max is None else minimum(out, clip_value_max)


# ------------------------------------------------------------------------------------------ three operands


def _in_common(op: str, *operands: Any) -> list[Any]:
    d = result_dtype(op, *operands)
    return [to_dtype(x, d) for x in operands]


def _alike(op: str, *operands: Any) -> list[Any]:
    tensors = [tensor_argument(op, x) for x in operands]
    same_dtype(op, *tensors)
    return tensors


@api()
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """input + value tensor1 tensor2."""
    x, a, b = _alike("addcmul", input, tensor1, tensor2)
    return x + mul(a * b, value)


@api()
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """input + value tensor1 / tensor2."""
    x, a, b = _alike("addcdiv", input, tensor1, tensor2)
    return x + mul(div(a, b), value)


@api()
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """input + weight (end - input), weight being a number or a tensor."""
    x, y = tensor_argument("lerp", input), tensor_argument("lerp", end, "end")
    same_dtype("lerp", x, y)
    if isinstance(weight, Value):
        return ew.lerp(*(_in_common("lerp", x, y, weight)))
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise TypeError(f"lerp: weight must be a Tensor or a float, got {type(weight).__name__}")
    return ew.lerp_by(x, y, weight=float(weight))


def _added(op: str, x: Any) -> Any:
    if not isinstance(x, (tuple, list)) or not x:
        raise TypeError(f"{op}: wanted a tuple or list of Tensors, got {type(x).__name__}")
    total = tensor_argument(op, x[0])
    for part in x[1:]:
        if tuple(shape_of(tensor_argument(op, part))) != tuple(shape_of(total)):
            raise ValueError(f"{op}: the tensors must have one shape, got {x[0].shape} and {part.shape}")
        same_dtype(op, x[0], part)
        total = total + part
    return st.copy(total) if len(x) == 1 else total


addn = row("addn", lambda x: _added("addn", x), "The sum of tensors of one shape.", method=False)
accumulate_n = row("accumulate_n", lambda x: _added("accumulate_n", x),
    "The sum of tensors of one shape and dtype.", method=False)  # fmt: skip
