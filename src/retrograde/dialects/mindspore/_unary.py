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
from ._promote import ANY, BUILD, FLOAT, FLOATING, NUMBER, REAL, pair, single, tensor_argument

Function = Callable[..., Any]

BUILD_XY = Builders(single=single, pair=pair, check_cast=check_cast, parameters=("x", "y"))
"""The builders of functions whose operands are called `x` and `y`, as the older ones of `ops` are."""

INEXACT = "xx.."
"""Floating and complex dtypes."""
INTEGER_AS_FLOAT = "xf.."
WHOLE_ONLY = "x.xx"

_TABLE: tuple[tuple[str, Any, str, str], ...] = (
    ("acos arccos", ew.acos, INEXACT, "input"), ("acosh arccosh", ew.acosh, INEXACT, "input"),
    ("asin", ew.asin, INEXACT, "input"), ("arcsin", ew.asin, INEXACT, "x"),
    ("asinh arcsinh", ew.asinh, INEXACT, "input"), ("atan arctan", ew.atan, INEXACT, "input"),
    ("atanh arctanh", ew.atanh, INEXACT, "input"), ("sin", ew.sin, INEXACT, "input"),
    ("cos", ew.cos, INEXACT, "input"), ("tan", ew.tan, INEXACT, "input"), ("sinh", ew.sinh, INEXACT, "input"),
    ("cosh", ew.cosh, INEXACT, "input"), ("tanh", ew.tanh, INEXACT, "input"),
    ("exp tensor_exp", ew.exp, INEXACT, "input"), ("exp2", ew.exp2, FLOAT, "input"),
    ("expm1 tensor_expm1", ew.expm1, INEXACT, "input"), ("log", ew.log, INEXACT, "input"),
    ("log2", ew.log2, INEXACT, "input"), ("log10", ew.log10, INEXACT, "input"), ("log1p", ew.log1p, INEXACT, "input"),
    ("sqrt", ew.sqrt, FLOAT, "x"), ("rsqrt", ew.rsqrt, INEXACT, "input"), ("reciprocal", ew.reciprocal, FLOAT, "input"),
    ("square", ew.square, NUMBER, "input"), ("sinc", sp.sinc, FLOAT, "input"),
    ("deg2rad", ew.deg2rad, FLOATING, "x"), ("rad2deg", ew.rad2deg, FLOATING, "x"),
    ("floor", sel.floor, FLOATING, "input"), ("ceil", sel.ceil, FLOATING, "input"), ("rint", sel.rint, FLOATING, "x"),
    ("trunc", sel.trunc, REAL, "input"), ("frac", sel.frac, "x..x", "x"), ("sgn", ew.sgn, NUMBER, "input"),
    ("erf", sp.erf, FLOATING, "input"), ("erfc", sp.erfc, FLOATING, "input"), ("erfinv", sp.erfinv, FLOATING, "input"),
    ("lgamma", sp.lgamma, "xf.x", "input"), ("digamma", sp.digamma, FLOATING, "input"),
    ("i0", sp.i0, FLOATING, "input"), ("bessel_i0", sp.i0, FLOATING, "x"), ("bessel_i0e", sp.i0e, FLOATING, "x"),
    ("bessel_i1", sp.i1, FLOATING, "x"), ("bessel_i1e", sp.i1e, FLOATING, "x"),
    ("bessel_j0", sp.j0, FLOATING, "x"), ("bessel_j1", sp.j1, FLOATING, "x"),
    ("bessel_y0", sp.y0, FLOATING, "x"), ("bessel_y1", sp.y1, FLOATING, "x"),
    ("bessel_k0", sp.k0, FLOATING, "x"), ("bessel_k0e", sp.k0e, FLOATING, "x"),
    ("bessel_k1", sp.k1, FLOATING, "x"), ("bessel_k1e", sp.k1e, FLOATING, "x"),
    ("isnan", cmp.isnan, ANY, "input"), ("isfinite", cmp.isfinite, REAL, "input"), ("isinf", cmp.isinf, FLOATING, "input"),
    ("isneginf", cmp.isneginf, FLOATING, "input"), ("isposinf", cmp.isposinf, FLOATING, "input"),
    ("isreal", cmp.isreal, ANY, "input"), ("signbit", cmp.signbit, REAL, "input"),
    ("bitwise_not", cmp.bitwise_not, "..xx", "input"), ("invert", cmp.bitwise_not, WHOLE_ONLY, "x"),
)  # fmt: skip
_NO_METHOD = frozenset(("rint", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"))
_IN_PLACE = frozenset(("exp", "log", "tanh", "floor", "erfinv"))


def _unary(names: str, op: Any, kinds: str, parameter: str) -> Function:
    first, *others = names.split()
    f = (BUILD if parameter == "input" else BUILD_XY).unary(first, op, kinds)
    return api(first, *others, method=not first.startswith("bessel") and first not in _NO_METHOD,
               in_place=first in _IN_PLACE)(f)  # fmt: skip


FUNCTIONS_OF_ONE: dict[str, Function] = {}
for _names, _op, _kinds, _parameter in _TABLE:
    for _name in _names.split():
        FUNCTIONS_OF_ONE[_name] = _unary(_name, _op, _kinds, _parameter)

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


@api(method=False)
def inv(x: Any) -> Any:
    """The reciprocal of each element; of integers without its fraction, as they hold it."""
    x = single("inv", x, NUMBER)
    return ew.trunc_divide(constant(1, dtype_of(x)), x) if dtype_of(x).kind in "iu" else ew.reciprocal(x)


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


@api()
def real(input: Any) -> Any:
    """The real part."""
    x = tensor_argument("real", input)
    return st.real(x) if dtype_of(x).kind == "c" else st.copy(x)


@api()
def imag(input: Any) -> Any:
    """The imaginary part; 0 of a real tensor."""
    x = tensor_argument("imag", input)
    return st.imag(x) if dtype_of(x).kind == "c" else x * 0


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


