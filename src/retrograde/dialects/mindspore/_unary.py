"""Elementwise functions of one tensor, each a line: primitive, dtypes it takes, what its operand is called.

Most functions of the reals take floating and complex tensors only, as MindSpore's do: integers raise TypeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...ops import comparison as cmp
from ...ops import complex_parts as parts
from ...ops import elementwise as ew
from ...ops import manipulation as mp
from ...ops import selection as sel
from ...ops import special as sp
from ...ops import structural as st
from .._shared.axes import count, integer
from .._shared.elementwise import Builders, constant
from ._api import api, check_cast, row
from ._arguments import function
from ._promote import ANY, BUILD, FLOAT, FLOATING, NUMBER, REAL, pair, single, tensor_argument

Function = Callable[..., Any]

BUILD_XY = Builders(single=single, pair=pair, check_cast=check_cast, parameters=("x", "y"))
"""The builders of functions whose operands are called `x` and `y`, as the older ones of `ops` are."""

INEXACT = "xx.."
"""Floating and complex dtypes."""
INTEGER_AS_FLOAT = "xf.."
WHOLE_ONLY = "x.xx"

def _unary(
    name: str, op: Any, kinds: str = INEXACT, make: Builders = BUILD, method: bool = True, in_place: bool = False
) -> Function:  # fmt: skip
    """Register the function of one tensor that a primitive computes."""
    return api(name, method=method, in_place=in_place)(make.unary(name, op, kinds))


def _bessel(name: str, op: Any) -> Function:
    return _unary(name, op, FLOATING, BUILD_XY, method=False)


sin, cos, tan = _unary("sin", ew.sin), _unary("cos", ew.cos), _unary("tan", ew.tan)
asin, arcsin = _unary("asin", ew.asin), _unary("arcsin", ew.asin, make=BUILD_XY)
acos, arccos = _unary("acos", ew.acos), _unary("arccos", ew.acos)
atan, arctan = _unary("atan", ew.atan), _unary("arctan", ew.atan)
sinh, cosh, tanh = _unary("sinh", ew.sinh), _unary("cosh", ew.cosh), _unary("tanh", ew.tanh, in_place=True)
asinh, arcsinh = _unary("asinh", ew.asinh), _unary("arcsinh", ew.asinh)
acosh, arccosh = _unary("acosh", ew.acosh), _unary("arccosh", ew.acosh)
atanh, arctanh = _unary("atanh", ew.atanh), _unary("arctanh", ew.atanh)
exp, tensor_exp, exp2 = _unary("exp", ew.exp, in_place=True), _unary("tensor_exp", ew.exp), _unary("exp2", ew.exp2, FLOAT)
expm1, tensor_expm1 = _unary("expm1", ew.expm1), _unary("tensor_expm1", ew.expm1)
log, log2 = _unary("log", ew.log, in_place=True), _unary("log2", ew.log2)
log10, log1p = _unary("log10", ew.log10), _unary("log1p", ew.log1p)
sqrt, rsqrt = _unary("sqrt", ew.sqrt, FLOAT, BUILD_XY), _unary("rsqrt", ew.rsqrt)
reciprocal, square = _unary("reciprocal", ew.reciprocal, FLOAT), _unary("square", ew.square, NUMBER)
deg2rad, rad2deg = _unary("deg2rad", ew.deg2rad, FLOATING, BUILD_XY), _unary("rad2deg", ew.rad2deg, FLOATING, BUILD_XY)
floor, ceil = _unary("floor", sel.floor, FLOATING, in_place=True), _unary("ceil", sel.ceil, FLOATING)
rint, trunc = _unary("rint", sel.rint, FLOATING, BUILD_XY, method=False), _unary("trunc", sel.trunc, REAL)
frac, sgn = _unary("frac", sel.frac, "x..x", BUILD_XY), _unary("sgn", ew.sgn, NUMBER)
erf, erfc = _unary("erf", sp.erf, FLOATING), _unary("erfc", sp.erfc, FLOATING)
erfinv, sinc = _unary("erfinv", sp.erfinv, FLOATING, in_place=True), _unary("sinc", sp.sinc, FLOAT)
lgamma, digamma = _unary("lgamma", sp.lgamma, "xf.x"), _unary("digamma", sp.digamma, FLOATING)
i0, bessel_i0, bessel_i0e = _unary("i0", sp.i0, FLOATING), _bessel("bessel_i0", sp.i0), _bessel("bessel_i0e", sp.i0e)
bessel_i1, bessel_i1e = _bessel("bessel_i1", sp.i1), _bessel("bessel_i1e", sp.i1e)
bessel_j0, bessel_j1 = _bessel("bessel_j0", sp.j0), _bessel("bessel_j1", sp.j1)
bessel_y0, bessel_y1 = _bessel("bessel_y0", sp.y0), _bessel("bessel_y1", sp.y1)
bessel_k0, bessel_k0e = _bessel("bessel_k0", sp.k0), _bessel("bessel_k0e", sp.k0e)
bessel_k1, bessel_k1e = _bessel("bessel_k1", sp.k1), _bessel("bessel_k1e", sp.k1e)
isnan, isreal = _unary("isnan", cmp.isnan, ANY), _unary("isreal", cmp.isreal, ANY)
isfinite, signbit = _unary("isfinite", cmp.isfinite, REAL), _unary("signbit", cmp.signbit, REAL)
isinf = _unary("isinf", cmp.isinf, FLOATING)
isneginf, isposinf = _unary("isneginf", cmp.isneginf, FLOATING), _unary("isposinf", cmp.isposinf, FLOATING)
bitwise_not, invert = _unary("bitwise_not", cmp.bitwise_not, "..xx"), _unary("invert", cmp.bitwise_not, WHOLE_ONLY, BUILD_XY)

sign = row("sign", lambda input: sel.sign(single("sign", input, NUMBER), nan_to_zero=False),
    "-1, 0 or 1 by the sign of each element.", in_place=True)  # fmt: skip
positive = row("positive", lambda input: st.copy(tensor_argument("positive", input)), "The tensor itself, copied.")
identity = row("identity", lambda x: tensor_argument("identity", x, "x"), "The tensor itself.", method=False)


@api()
def round(input: Any, *, decimals: int = 0) -> Any:
    """To the nearest whole number (or number of decimals), halves to the even one."""
    x = single("round", input, "x..x")
    decimals = integer("round", "decimals", decimals)
    if dtype_of(x).kind in "iu":
        return st.copy(x)
    return sel.round_to(x, decimals=decimals) if decimals else sel.rint(x)


inv = function("inv", "x: Number", lambda x:
    ew.trunc_divide(constant(1, dtype_of(x)), x) if dtype_of(x).kind in "iu" else ew.reciprocal(x),
    "The reciprocal of each element; of integers without its fraction, as they hold it.")  # fmt: skip


@api()
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x first brought into [eps, 1 - eps] where `eps` is given."""
    return sp.logit(single("logit", input, FLOATING), eps=None if eps is None or eps < 0 else float(eps))


@api()
def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """nan and the infinities replaced by numbers: 0 and the largest ones, if not given."""
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise TypeError(f"nan_to_num: {name} must be a float or None, got {type(value).__name__}")
    x = single("nan_to_num", input, FLOATING)
    return sel.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@api("__round__", function=False)
def rounded(self: Any, ndigits: int | None = None) -> Any:
    """`round(x)`, to even where two are equally near."""
    return round(self, decimals=ndigits or 0)


@api(method=False)
def polygamma(n: Any, input: Any) -> Any:
    """The n-th derivative of digamma; `n` is an int or an integer tensor with one element."""
    order = n if isinstance(n, int) else int(tensor_argument("polygamma", n, "n"))
    if order < 0:
        raise ValueError(f"polygamma: n must not be negative, got {order}")
    return sp.polygamma(single("polygamma", input, FLOATING), n=order)


@api()
def mvlgamma(input: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension `p`."""
    if count("mvlgamma", "p", p) < 1:
        raise ValueError(f"mvlgamma: p must be at least 1, got {p}")
    return sp.multigammaln(single("mvlgamma", input, FLOATING), p=p)


# ------------------------------------------------------------------------------------------ complex numbers


@api()
def conj(input: Any) -> Any:
    """The complex conjugate."""
    x = single("conj", input, NUMBER)
    return st.conj(x) if dtype_of(x).kind == "c" else st.copy(x)


real = function("real", "input: Tensor", lambda x: st.real(x) if dtype_of(x).kind == "c" else st.copy(x), "The real part.")
imag = function("imag", "input: Tensor", lambda x: st.imag(x) if dtype_of(x).kind == "c" else x * 0,
    "The imaginary part; 0 of a real tensor.")  # fmt: skip


angle = row("angle", lambda input: ew.angle(single("angle", input, INTEGER_AS_FLOAT)),
    "The argument of a complex number; of a real one 0 or pi.")  # fmt: skip
make_complex = row("complex", lambda real, imag: parts.make_complex(*pair("complex", real, imag, FLOATING)),
    "The complex tensor with these parts.", method=False)  # fmt: skip
polar = row("polar", lambda abs, angle: parts.polar(*pair("polar", abs, angle, FLOATING)),
    "The complex tensor with this modulus and argument.", method=False)  # fmt: skip


@api(method=False)
def view_as_real(input: Any) -> Any:
    """A complex tensor as a real one with a last axis of length 2."""
    x = tensor_argument("view_as_real", input)
    if dtype_of(x).kind != "c":
        raise TypeError(f"view_as_real: wanted a complex tensor, got {x.dtype}")
    return mp.view_as_real(x)


@api(method=False)
def population_count(input_x: Any) -> Any:
    """How many bits are set in each integer."""
    from ._tensor import from_array

    x = single("population_count", input_x, WHOLE_ONLY)
    array = np.asarray(x._concrete("population_count"))
    bits = np.unpackbits(np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.itemsize), axis=-1)
    return from_array(bits.sum(axis=-1, dtype=np.uint8))


