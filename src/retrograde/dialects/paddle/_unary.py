"""Functions of one tensor, elementwise: roots, exponentials, trigonometry, rounding, special functions, tests, parts of
complex numbers.

Most are one line of a table: PaddlePaddle's name, the primitive, and what integers become (float32, where the values of
the function are not whole).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import activation, special
from ...ops import comparison as cmp
from ...ops import complex_parts as parts
from ...ops import elementwise as ew
from ...ops import manipulation as mani
from ...ops import selection as sel
from ...ops import structural as st
from ...ops.softmax import softmax as softmax_op
from ...tape import inplace
from .._shared.axes import axis_of, count
from .._shared.elementwise import constant
from .._shared.registry import defined
from ._api import FUNCTIONS, METHODS, api, in_place_form, row
from ._arguments import function
from ._dtype import FROM_NUMPY, as_dtype, float32, float64
from ._elementwise import ANY, FLOATED, register, unary
from ._promote import single, to_dtype

# ------------------------------------------------------------------------------------------ tables

def _floated(name: str, op: Any, fast: str = "fc") -> Any:
    """Register a function whose values are not whole: integers become float32."""
    return register(name, unary(name, op, FLOATED, fast=fast))


def _test(name: str, op: Any) -> Any:
    return register(name, unary(name, op, ANY, fast="iuf"), in_place=False, out=False)


cos, cosh, sin, sinh = _floated("cos", ew.cos), _floated("cosh", ew.cosh), _floated("sin", ew.sin), _floated("sinh", ew.sinh)
tan, tanh, exp, expm1 = _floated("tan", ew.tan), _floated("tanh", ew.tanh), _floated("exp", ew.exp), _floated("expm1", ew.expm1)
acos, acosh, asin = _floated("acos", ew.acos), _floated("acosh", ew.acosh), _floated("asin", ew.asin)
asinh, atan, atanh = _floated("asinh", ew.asinh), _floated("atan", ew.atan), _floated("atanh", ew.atanh)
log, log10, log1p = _floated("log", ew.log), _floated("log10", ew.log10), _floated("log1p", ew.log1p)
log2, sqrt, reciprocal = _floated("log2", ew.log2), _floated("sqrt", ew.sqrt), _floated("reciprocal", ew.reciprocal)
sigmoid, deg2rad = _floated("sigmoid", activation.sigmoid), _floated("deg2rad", ew.deg2rad)
rad2deg, rsqrt = _floated("rad2deg", ew.rad2deg), _floated("rsqrt", ew.rsqrt, "f")
# PaddlePaddle keeps what the tangent was taken of, so that its result may be changed again: ours is computed from the result.
METHODS["tan_"] = FUNCTIONS["tan_"] = in_place_form("tan_", lambda x, name=None: st.copy(tan(x)))
erf, erfinv = _floated("erf", special.erf, "f"), _floated("erfinv", special.erfinv, "f")
lgamma, gammaln = _floated("lgamma", special.lgamma, "f"), _floated("gammaln", special.lgamma, "f")
digamma, i0, i0e = _floated("digamma", special.digamma, "f"), _floated("i0", special.i0, "f"), _floated("i0e", special.i0e, "f")
i1, i1e = _floated("i1", special.i1, "f"), _floated("i1e", special.i1e, "f")
absolute = register("abs", unary("abs", ew.absolute_stopped, ANY, fast="ifc"))
square = register("square", unary("square", ew.square, ANY, fast="ifc"))
isfinite, isinf, isnan = _test("isfinite", cmp.isfinite), _test("isinf", cmp.isinf), _test("isnan", cmp.isnan)
isneginf, isposinf = _test("isneginf", cmp.isneginf), _test("isposinf", cmp.isposinf)
isreal, signbit = _test("isreal", cmp.isreal), _test("signbit", cmp.signbit)
logical_not = register("logical_not", unary("logical_not", cmp.logical_not, ANY, fast="biufc"), in_place=False)

# ------------------------------------------------------------------------------------------ rounding, signs


def _rounding(name: str, op: Any) -> Any:
    def f(x: Any, name: Any = None) -> Any:
        x = single(f.__name__, x)
        return st.copy(x) if dtype_of(x).kind in "iub" else op(x)

    doc = f"The elementwise `{name}` of a tensor; its derivative is 0."
    return api(name, in_place=True, out=True)(defined(name, f, doc))


floor, ceil, trunc = _rounding("floor", sel.floor), _rounding("ceil", sel.ceil), _rounding("trunc", sel.trunc)


@api(in_place=True, out=True)
def round(x: Any, decimals: int = 0, name: Any = None) -> Any:
    """The tensor rounded to a number of decimals, halves to the even digit; its derivative is 0."""
    x = single("round", x)
    kind = dtype_of(x).kind
    if kind in "iub":
        return st.copy(x)
    if kind == "c":
        return parts.make_complex(sel.rint(st.real(x)), sel.rint(st.imag(x)))
    return sel.rint(x) if decimals == 0 else sel.round_to(x, decimals=int(decimals))


sign = function("sign", "x: Tensor", lambda x: ew.sgn(x) if dtype_of(x).kind == "c" else sel.sign(x, nan_to_zero=False),
    "-1, 0 or 1 as an element is negative, zero or positive; `x / |x|` of complex ones.", in_place=True, out=True)  # fmt: skip


@api()
def sgn(x: Any, name: Any = None) -> Any:
    """-1, 0 or 1 as an element is negative, zero or positive; `x / |x|` of complex ones, 0 at 0."""
    x = single("sgn", x)
    if dtype_of(x).kind not in "fVc":
        raise TypeError(f"sgn: wanted a floating or complex tensor, got {x.dtype}; sign() takes integers")
    return sign(x)


def _negative(op: str, x: Any) -> Any:
    x = single(op, x)
    if dtype_of(x).kind == "b":
        raise TypeError(f"{op}: not defined for booleans; use logical_not()")
    return x


neg = function("neg", "x: Tensor", lambda x: st.copy(x) if dtype_of(x).kind == "b" else ew.negative(x),
    "`-x`; booleans stay as they are.", in_place=True)  # fmt: skip


negative = row("negative", lambda x, name=None: ew.negative(_negative("negative", x)),
    "`-x`; raises TypeError for booleans.")  # fmt: skip
positive = row("positive", lambda x, name=None: _negative("positive", x),
    "The tensor itself; raises TypeError for booleans.")  # fmt: skip


def _one_of(op: str, x: Any, kinds: str, wanted: str, error: type[Exception] = TypeError) -> Any:
    """A tensor of one of the kinds of dtypes; raises TypeError, or `error`, for another."""
    x = single(op, x)
    if dtype_of(x).kind not in kinds:
        raise error(f"{op}: wanted {wanted}, got {x.dtype}; convert the tensor with astype() first")
    return x


frac = row("frac", lambda x, name=None: sel.frac(_one_of("frac", x, "fViu", "real numbers")),
    "What `trunc` leaves of each element.", in_place=True, out=True)  # fmt: skip
sinc = row("sinc", lambda x, name=None: special.sinc(_one_of("sinc", x, "fV", "a floating tensor")),
    "sin(pi x) / (pi x), elementwise, and 1 at 0.", in_place=True, out=True)  # fmt: skip


@api(in_place=True)
def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None,
               name: Any = None) -> Any:  # fmt: skip
    """The tensor with nan and the infinities replaced: by 0 and by the largest numbers unless others are given."""
    x = _one_of("nan_to_num", x, "fV", "a floating tensor", AssertionError)
    return sel.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


# ------------------------------------------------------------------------------------------ special functions


@api(in_place=True)
def polygamma(x: Any, n: int, name: Any = None) -> Any:
    """The n-th derivative of the digamma function, elementwise."""
    if not isinstance(n, int):
        raise TypeError(f"polygamma: n must be an int, got {type(n).__name__}")
    if n < 0:
        raise ValueError(f"polygamma: n must not be negative, got {n}")
    x = single("polygamma", x, FLOATED)
    return special.digamma(x) if n == 0 else special.polygamma(x, n=n)


@api(in_place=True)
def multigammaln(x: Any, p: int, name: Any = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension `p`, elementwise."""
    if count("multigammaln", "p", p) < 1:
        raise AssertionError(f"multigammaln: p must be at least 1, got {p}")
    return special.multigammaln(_one_of("multigammaln", x, "fV", "a floating tensor"), p=int(p))


@api(in_place=True)
def logit(x: Any, eps: float | None = None, name: Any = None) -> Any:
    """log(x / (1 - x)), elementwise; with `eps`, x is clipped to [eps, 1 - eps] first."""
    return special.logit(single("logit", x, FLOATED), eps=float(eps) if eps else None)


stanh = function("stanh", "x: Floated, scale_a: float = 0.67, scale_b: float = 1.7159",
    lambda x, scale_a, scale_b: ew.tanh(x * scale_a) * scale_b, "`scale_b * tanh(scale_a * x)`, elementwise.")  # fmt: skip


@api()
def frexp(x: Any, name: Any = None) -> tuple[Any, Any]:
    """The mantissa (of absolute value in [0.5, 1)) and the exponent of 2 of each element, both in x's dtype."""
    if dtype_of(single("frexp", x)) not in (float32.np, float64.np):
        raise TypeError(f"frexp: wanted a tensor of dtype float32 or float64, got {x.dtype}")
    mantissa, exponent = ew.frexp(x)
    return mantissa, st.cast(exponent, dtype=dtype_of(x))


@api(in_place=True)
def scale(x: Any, scale: Any = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None,
          name: Any = None) -> Any:  # fmt: skip
    """`scale * x + bias`, or `scale * (x + bias)` without `bias_after_scale`, in x's dtype; then the activation."""
    x = single("scale", x)
    d = FROM_NUMPY[dtype_of(x)]
    if isinstance(scale, Value):
        factor = to_dtype(scale, d) if not shape_of(scale) else st.reshape(to_dtype(scale, d), shape=())
    else:
        factor = constant(int(scale) if d.category < 2 else scale, d.np)
    shift = constant(int(bias) if d.category < 2 else bias, d.np)
    if not bias:
        out = ew.multiply(x, factor)
    elif bias_after_scale:
        out = ew.add(ew.multiply(x, factor), shift)
    else:
        out = ew.multiply(ew.add(x, shift), factor)
    if act is None:
        return out
    activation = getattr(type(out), act, None)
    if activation is None:
        from .nn import functional

        activation = getattr(functional, act)
    return activation(out)


@api()
def increment(x: Any, value: float = 1.0, name: Any = None) -> Any:
    """The tensor, of one element, with `value` added in place."""
    x = single("increment", x)
    if math.prod(shape_of(x)) != 1:
        raise ValueError(f"increment: wanted a tensor of one element, got shape {list(shape_of(x))}")
    return inplace.update("increment", x, lambda: ew.add(x, constant(value, dtype_of(x))))


@api(in_place=True, out=True)
def clip(x: Any, min: Any = None, max: Any = None, name: Any = None) -> Any:
    """The tensor with elements below `min` and above `max` replaced by these; at a bound the gradient passes."""
    x = single("clip", x)
    low, high = _bound("min", min), _bound("max", max)
    if low is not None and high is not None and low > high:
        raise ValueError(f"clip: min {low} is greater than max {high}")
    if dtype_of(x).kind in "iub" and any_float(low, high):
        x = st.cast(x, dtype=float32.np)
    if low is None and high is None:
        return st.copy(x)
    return sel.clip(x, low=low, high=high)


def any_float(*numbers: Any) -> bool:
    """Whether one of the numbers is a float."""
    return any(isinstance(n, float) for n in numbers)


def _bound(name: str, bound: Any) -> Any:
    """A bound as a Python number: given as one, or as a tensor of one element."""
    if bound is None or type(bound) in (int, float):
        return bound
    if isinstance(bound, Value):
        if math.prod(shape_of(bound)) != 1:
            raise ValueError(f"clip: {name} must be a number or a tensor of one element, got {list(shape_of(bound))}")
        return bound.item()
    if isinstance(bound, (np.generic, bool)):
        return np.asarray(bound).item()
    raise TypeError(f"clip: {name} must be a number, got {type(bound).__name__}")


api("clamp", in_place=True, out=True)(clip)

# ------------------------------------------------------------------------------------------ complex numbers


def _complex(op: str, x: Any) -> Any:
    x = single(op, x)
    if dtype_of(x).kind != "c":
        raise RuntimeError(f"{op}: wanted a complex tensor, got {x.dtype}")
    return x


real = row("real", lambda x, name=None: st.real(_complex("real", x)), "The real part of a complex tensor.")
imag = row("imag", lambda x, name=None: st.imag(_complex("imag", x)), "The imaginary part of a complex tensor.")


conj = function("conj", "x: Tensor", lambda x: st.conj(x) if dtype_of(x).kind == "c" else st.copy(x),
    "The complex conjugate of each element; real ones are their own.")  # fmt: skip


angle = row("angle", lambda x, name=None: ew.angle(single("angle", x, FLOATED)),
    "The angle of each element in the complex plane, in radians: 0 or pi of a real one.")  # fmt: skip
as_real = row("as_real view_as_real", lambda x, name=None: inplace.view(mani.view_as_real, _complex("as_real", x)),
    "A complex tensor as a real one with a last axis of two.")  # fmt: skip


@api("as_complex", "view_as_complex")
def as_complex(x: Any, name: Any = None) -> Any:
    """A real tensor whose last axis has two elements as a complex one."""
    x = single("as_complex", x)
    if not shape_of(x) or shape_of(x)[-1] != 2:
        raise ValueError(f"as_complex: the last axis must have 2 elements, the shape is {list(shape_of(x))}")
    if dtype_of(x) not in (float32.np, float64.np):
        raise RuntimeError(f"as_complex: wanted a tensor of dtype float32 or float64, got {x.dtype}")
    return mani.view_as_complex(x)


# ------------------------------------------------------------------------------------------ softmax


@api(method=True, out=True)
def softmax(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The exponentials over their sum along an axis (the last one)."""
    x = single("softmax", x)
    if dtype is not None:
        x = to_dtype(x, as_dtype("softmax", dtype))
    i = axis_of("softmax", -1 if axis is None else axis, len(shape_of(x)))
    return softmax_op(x, axis=i) if shape_of(x) else ew.divide(x, x)
