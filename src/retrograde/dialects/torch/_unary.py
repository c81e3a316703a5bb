"""Functions of one tensor: exponentials, logarithms, trigonometry, rounding, signs, special functions."""

from __future__ import annotations

from typing import Any

from ...core.value import Value, dtype_of
from ...ops import activation, special
from ...ops import elementwise as ew
from ...ops import selection as sel
from ...ops import structural as st
from ...tape import inplace
from .._shared.axes import count
from ._api import METHODS, api
from ._elementwise import ANY, FLOAT, FLOATING, REAL_FLOAT, register, single, tensor_argument, unary
from ._graph_nodes import NAMES
from ._return_types import return_type

NAMES.update(
    tanh_slope="TanhBackwardBackward0", sigmoid_slope="SigmoidBackwardBackward0", scaled_product="MulBackward0",
    absolute="AbsBackward0", log1p="Log1PBackward0", deg2rad="Deg2RadBackward0", rad2deg="Rad2DegBackward0",
    rint="RoundBackward0", round_to="RoundBackward1", multigammaln="MvlgammaBackward0",
    i0e="SpecialI0EBackward0", i1="SpecialI1Backward0", i1e="SpecialI1EBackward0", entr="SpecialEntrBackward0",
    ndtri="SpecialNdtriBackward0", log_ndtr="SpecialLogNdtrBackward0", erfcx="SpecialErfcxBackward0",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ from tables

def _plain(names: str, op: Any, kinds: str = FLOAT) -> Any:
    """Register the function of one tensor that a primitive computes."""
    return register(names, unary(names.split()[0], op, kinds))


exp, exp2, expm1 = _plain("exp", ew.exp), _plain("exp2", ew.exp2), _plain("expm1", ew.expm1)
log, log2, log10, log1p = _plain("log", ew.log), _plain("log2", ew.log2), _plain("log10", ew.log10), _plain("log1p", ew.log1p)
sin, cos, tan = _plain("sin", ew.sin), _plain("cos", ew.cos), _plain("tan", ew.tan)
asin, acos, atan = _plain("asin arcsin", ew.asin), _plain("acos arccos", ew.acos), _plain("atan arctan", ew.atan)
sinh, cosh, tanh = _plain("sinh", ew.sinh), _plain("cosh", ew.cosh), _plain("tanh", ew.tanh)
asinh, acosh = _plain("asinh arcsinh", ew.asinh), _plain("acosh arccosh", ew.acosh)
atanh, reciprocal = _plain("atanh arctanh", ew.atanh), _plain("reciprocal", ew.reciprocal)
sqrt, rsqrt = _plain("sqrt", ew.sqrt), _plain("rsqrt", ew.rsqrt)
sigmoid, sinc = _plain("sigmoid", activation.sigmoid), _plain("sinc", special.sinc)
erf, erfc = _plain("erf", special.erf, REAL_FLOAT), _plain("erfc", special.erfc, REAL_FLOAT)
erfinv, i0 = _plain("erfinv", special.erfinv, REAL_FLOAT), _plain("i0", special.i0, REAL_FLOAT)
lgamma, digamma = _plain("lgamma", special.lgamma, REAL_FLOAT), _plain("digamma", special.digamma, REAL_FLOAT)
deg2rad, rad2deg = _plain("deg2rad", ew.deg2rad, "ff.r"), _plain("rad2deg", ew.rad2deg, "ff.r")

neg = register("neg negative", unary("neg", ew.negative, "r..."))
METHODS["__neg__"] = neg
sign = register("sign", unary("sign", sel.sign, "...x", nan_to_zero=True))
sgn, frac = _plain("sgn", ew.sgn, ANY), _plain("frac", sel.frac, FLOATING)
register("angle", unary("angle", ew.angle, FLOAT), in_place=False)

absolute = unary("abs", ew.absolute, "x...")
register("abs absolute", absolute, in_place=False)
METHODS["__abs__"] = absolute


@api("abs_", "absolute_", function=False)
def abs_(self: Any) -> Any:
    """The absolute value written into this tensor; raises RuntimeError for a complex one."""
    if dtype_of(self).kind == "c":
        raise RuntimeError("abs_: a complex tensor cannot hold its absolute value in place; use abs()")
    return inplace.update("abs_", self, lambda: absolute(self))

# ------------------------------------------------------------------------------------------ rounding


def _rounding(names: str, op: Any) -> Any:
    """A rounding function: whole numbers are returned as they are, as a new tensor."""
    name = names.split()[0]
    rounded = unary(name, op, "x..x")

    def f(input: Any) -> Any:
        if isinstance(input, Value) and dtype_of(input).kind in "iu":
            return st.copy(input)
        return rounded(input)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = rounded.__doc__
    register(names, f)
    return f


floor, ceil, trunc = _rounding("floor", sel.floor), _rounding("ceil", sel.ceil), _rounding("trunc fix", sel.trunc)
_round = unary("round", sel.rint, FLOATING)


@api(in_place=True, out=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """To whole numbers, or to `decimals` decimals (tens, hundreds where negative); halves to the even digit."""
    if isinstance(input, Value) and dtype_of(input).kind in "iu" and decimals == 0:
        return st.copy(input)
    if decimals == 0:
        return _round(input)
    return sel.round_to(single("round", input, FLOATING), decimals=decimals)


# ------------------------------------------------------------------------------------------ with parameters


@api(in_place=True, out=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), elementwise; with `eps`, x is clipped to [eps, 1 - eps] first."""
    return special.logit(single("logit", input, REAL_FLOAT), eps=None if eps is None else float(eps))


@api(in_place=True, out=True)
def nan_to_num(input: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """The tensor with nan and the infinities replaced: by 0 and by the largest numbers unless others are given."""
    tensor_argument("nan_to_num", input)
    if dtype_of(input).kind in "iub":
        return st.copy(input)
    return sel.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def _polygamma(n: int, x: Any) -> Any:
    if not isinstance(n, int):
        raise TypeError(f"polygamma: n must be an int, got {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"polygamma: n must not be negative, got {n}")
    return special.polygamma(single("polygamma", x, REAL_FLOAT), n=n)


@api(method=False, out=True)
def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of the digamma function, elementwise."""
    return _polygamma(n, input)


@api("polygamma", function=False, in_place=True)
def polygamma_method(self: Any, n: int) -> Any:
    """The n-th derivative of the digamma function, elementwise."""
    return _polygamma(n, self)


@api(in_place=True, out=True)
def mvlgamma(input: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension `p`, elementwise."""
    x = single("mvlgamma", input, REAL_FLOAT)
    if count("mvlgamma", "p", p) < 1:
        raise RuntimeError(f"mvlgamma: p must be at least 1, got {p}")
    return special.multigammaln(x, p=p)


_Frexp = return_type("frexp", "mantissa", "exponent")


@api(out=True)
def frexp(input: Any) -> Any:
    """The mantissa (of absolute value in [0.5, 1)) and the exponent of 2 of each element."""
    return _Frexp(ew.frexp(single("frexp", input, "rr.r")))


# ------------------------------------------------------------------------------------------ identity


@api()
def positive(input: Any) -> Any:
    """The tensor itself; raises RuntimeError for booleans."""
    if dtype_of(tensor_argument("positive", input)).kind == "b":
        raise RuntimeError("positive: not defined for booleans")
    return input


METHODS["__pos__"] = positive

