"""Special functions: error functions, gamma family, Bessel and Airy functions, the normal distribution, logit.

Kernels are SciPy's. Formulas of derivatives: NIST Digital Library of Mathematical Functions, the chapter named beside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype
from ..core.value import dtype_of
from .comparison import equal, greater_equal, isfinite, less_equal, logical_and, logical_not
from .elementwise import absolute, cos, exp, log, sin
from .kernels import scalar, special, special_functions, widened, widened_numpy, zero_of
from .rules import conj, elementwise, infer_same, sum_tangents
from .samples import binary, sample, unary, uniform
from .selection import between, drop, keep, sign, where
from .structural import cast

SQRT_PI, SQRT2PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)


def _one(name: str, function: str, partial: Any, samples: Any) -> Any:
    """A function of one operand that SciPy has, with its derivative."""
    return elementwise(
        name, kernel=special(function), operands=("x",), partials=[partial], samples=samples, infer=infer_same,
        # The others are made of functions of the standard there, less accurate than SciPy's.
        generated=function in ("erf", "digamma"),
    )  # fmt: skip


def _refuse(name: str, operand: str) -> Any:
    raise NotImplementedError(f"{name}: there is no derivative with respect to {operand}; detach it")


# ------------------------------------------------------------------------------------------ logit


@widened
def _logit_kernel(xp: Any, x: Any, *, eps: float | None) -> Any:
    if eps is not None:
        x = xp.minimum(xp.maximum(x, scalar(eps, x)), scalar(1 - eps, x))
    return special_functions(xp).logit(x)


def _logit_partial(x: Any, _out: Any, *, eps: float | None) -> Any:
    slope = 1 / (x * (1 - x))
    if eps is None:
        return where(logical_and(greater_equal(x, 0), less_equal(x, 1)), slope, x * 0 + math.nan)
    return between(slope, x, low=eps, high=1 - eps, closed=True, inside=True, of_nan=False)


# log(x / (1 - x)); with eps, x is clipped to [eps, 1 - eps] first.
logit = elementwise(
    "logit", kernel=_logit_kernel, partials=[_logit_partial], generated=False,
    samples=lambda: [sample(uniform(0.2, 0.8, 2, 3), eps=None), sample(np.array([0.05, 0.4, 0.97]), eps=0.1)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ error functions (DLMF 7)

erf = _one("erf", "erf", lambda x, _out: exp(-(x * x)) * (2 / SQRT_PI), unary(-2, 2))
erfc = _one("erfc", "erfc", lambda x, _out: exp(-(x * x)) * (-2 / SQRT_PI), unary(-2, 2))
# exp(x^2) erfc(x).
erfcx = _one("erfcx", "erfcx", lambda x, out: x * out * 2 - 2 / SQRT_PI, unary(-2, 2))


def _erfinv_partial(x: Any, _out: Any) -> Any:
    y = erfinv(x)
    return exp(y * y) * (SQRT_PI / 2)


erfinv = _one("erfinv", "erfinv", _erfinv_partial, unary(-0.9, 0.9))

# ------------------------------------------------------------------------------------------ the normal distribution


def normal_density(x: Any) -> Any:
    """The density of the standard normal distribution."""
    return exp(x * x * -0.5) * (1 / SQRT2PI)


@widened
def _ndtr_slope_kernel(xp: Any, x: Any) -> Any:
    tail = math.sqrt(2 / math.pi) / special_functions(xp).erfcx(x * -math.sqrt(0.5))
    # The distribution function is 1 there, and the divisor soon infinite.
    return xp.where(x > 9, xp.exp(x * x * -0.5) / SQRT2PI, tail)


# The density over the distribution function, which is the derivative of its logarithm. By itself: r' = -r (x + r) stays finite
# where the quotient of derivatives would be inf / inf.
ndtr_slope = elementwise(
    "ndtr_slope", kernel=_ndtr_slope_kernel, partials=[lambda x, out: -(out * (x + out))], samples=unary(-2, 2), generated=False,
)  # fmt: skip

# The distribution function, its logarithm, its inverse.
ndtr = _one("ndtr", "ndtr", lambda x, _out: normal_density(x), unary(-2, 2))
log_ndtr = _one("log_ndtr", "log_ndtr", lambda x, _out: ndtr_slope(x), unary(-2, 2))
ndtri = _one("ndtri", "ndtri", lambda _x, out: exp(out * out * 0.5) * SQRT2PI, unary(0.1, 0.9))

# ------------------------------------------------------------------------------------------ gamma family (DLMF 5, 8)


@widened
def _polygamma_kernel(xp: Any, x: Any, *, n: int) -> Any:
    f = special_functions(xp)
    if n == 0:
        return f.digamma(x)
    # Beyond 170! a double has no room; the result is the infinity that it would be.
    factor = math.factorial(n) if n <= 170 else math.inf
    return astype(xp, f.zeta(n + 1, x) * (factor if n % 2 else -factor), x.dtype)


polygamma = elementwise(
    "polygamma", kernel=_polygamma_kernel, partials=[lambda x, _out, *, n: polygamma(x, n=n + 1)],
    samples=lambda: [sample(uniform(0.5, 3, 3), n=0), sample(uniform(0.5, 3, 2, 2), n=1), sample(uniform(1, 2), n=3)],
)  # fmt: skip

digamma = _one("digamma", "digamma", lambda x, _out: polygamma(x, n=1), unary(0.5, 3))


def _gammaln(xp: Any, x: Any) -> Any:
    out = special_functions(xp).gammaln(x)
    return xp.where(xp.isinf(x), xp.abs(x), out)  # SciPy's is -inf at -inf


# log |Gamma(x)|.
lgamma = elementwise(
    "lgamma", kernel=widened(lambda xp, x: _gammaln(xp, x)), partials=[lambda x, _out: digamma(x)], infer=infer_same,
    samples=unary(0.5, 3),
)  # fmt: skip


@widened
def _multigammaln_kernel(xp: Any, x: Any, *, p: int) -> Any:
    total = _gammaln(xp, x)
    for i in range(1, p):
        total = total + _gammaln(xp, x - i / 2)
    return total + scalar(p * (p - 1) / 4 * math.log(math.pi), x)


def _multigammaln_partial(x: Any, _out: Any, *, p: int) -> Any:
    total = digamma(x)
    for i in range(1, p):
        total = total + digamma(x - i / 2)
    return total


# The logarithm of the multivariate gamma function of dimension p.
multigammaln = elementwise(
    "multigammaln", kernel=_multigammaln_kernel, partials=[_multigammaln_partial],
    samples=lambda: [sample(uniform(2, 4, 2, 2), p=1), sample(uniform(2, 4, 3), p=3)],
)  # fmt: skip


def _gamma_density(a: Any, x: Any, out: Any) -> Any:
    a = cast(a, dtype=dtype_of(out))  # it may be whole numbers
    return exp((a - 1) * log(x) - x - lgamma(a))


def _whole_first() -> Any:
    yield sample(np.array([1, 2, 5]), uniform(0.5, 3, 3))
    yield sample(np.array([[2], [3]]), uniform(0.5, 3, 3))


# The regularised incomplete gamma functions P(a, x) and Q(a, x).
gammainc = elementwise(
    "gammainc", kernel=special("gammainc"), generated=False, operands=("a", "x"), samples=_whole_first,
    partials=[lambda _a, _x, _out: _refuse("gammainc", "a"), lambda a, x, out_: _gamma_density(a, x, out_)],
)  # fmt: skip

gammaincc = elementwise(
    "gammaincc", kernel=special("gammaincc"), generated=False, operands=("a", "x"), samples=_whole_first,
    partials=[lambda _a, _x, _out: _refuse("gammaincc", "a"), lambda a, x, out_: -_gamma_density(a, x, out_)],
)  # fmt: skip

# Hurwitz's zeta function, the sum of (k + q)^-x over k = 0, 1, 2... (DLMF 25.11).
zeta = elementwise(
    "zeta", kernel=special("zeta"), generated=False, operands=("x", "q"),
    samples=lambda: [sample(np.array([2, 3, 5]), uniform(0.5, 3, 3)), sample(np.array([[2], [4]]), uniform(0.5, 3, 3))],
    partials=[lambda _x, _q, _out: _refuse("zeta", "x"), lambda x, q, _out: -x * zeta(x + 1, q)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ x log y and its kin


def _entr_partial(x: Any, _out: Any) -> Any:
    return -log(x) - 1


# -x log x: 0 at 0, -inf below.
entr = _one("entr", "entr", _entr_partial, unary(0.2, 3))


def _x_log(name: str, lowest: float) -> Any:
    """x log(y - lowest), which is 0 where x is 0 (but for nan)."""

    def along_x(g: Any, x: Any, y: Any) -> Any:
        # What is 0 stays so where there is no logarithm, and so does the derivative where x is 0.
        return drop(own(g, y), logical_and(equal(x, 0), less_equal(y, lowest)))

    def jvp(tangents: Any, out: Any, x: Any, y: Any) -> Any:
        dx, dy = tangents
        return sum_tangents([None if dx is None else along_x(dx, x, y), None if dy is None else dy * (x / (y - lowest))])

    own = elementwise(
        name, kernel=special(name), operands=("x", "y"), samples=binary(0.5, 3), jvp=jvp,
        vjps=[lambda g, _out, x, y: along_x(g, x, y), lambda g, _out, x, y: g * (x / (y - lowest))],
    )  # fmt: skip
    return own


xlogy = _x_log("xlogy", 0)
xlog1py = _x_log("xlog1py", -1)

# ------------------------------------------------------------------------------------------ sinc


def _off_zero(x: Any) -> Any:
    """x, and 1 where x is 0: a divisor."""
    return where(equal(x, 0), x + 1, x)


_SINC_SLOPE = (-1 / 3, 1 / 30, -1 / 840, 1 / 45360, -1 / 3991680, 1 / 518918400, -1 / 93405312000)


def _sinc_partial(x: Any, _out: Any) -> Any:
    """pi (t cos t - sin t) / t^2 for t = pi x; by its series near 0, where the difference loses its digits."""
    t = x * math.pi
    near = less_equal(absolute(t), 0.5)
    small = keep(t, near)
    square = small * small
    series = _SINC_SLOPE[-1]
    for factor in _SINC_SLOPE[-2::-1]:
        series = series * square + factor
    far = where(near, t + 1, t)
    return where(near, t * series + 0.0, (far * cos(far) - sin(far)) / (far * far)) * math.pi


@widened
def _sinc_kernel(xp: Any, x: Any) -> Any:
    t = xp.where(x == zero_of(x), scalar(1.0e-20, x), x) * math.pi  # of which the sine is itself
    return xp.sin(t) / t


# sin(pi x) / (pi x).
sinc = elementwise(
    "sinc", kernel=_sinc_kernel, numpy=widened_numpy(lambda x: np.sinc(x).astype(x.dtype)),
    partials=[_sinc_partial],
    # Its slope at 0, which is 0, hides an infinite cotangent; of a finite one the second derivative has to be left.
    vjps=[lambda g, _out, x: drop(
        g * conj(_sinc_partial(x, None)), logical_and(equal(x, 0), logical_not(isfinite(g))))],
    infer=infer_same, samples=unary(0.1, 2, complex_too=True),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Bessel functions (DLMF 10)


def _order_one(x: Any, out: Any, lower: Any) -> Any:
    """f1' = f0 - f1 / x for the functions of the first kind; f0 / 2 near 0, where the quotient loses its digits."""
    near_zero = less_equal(absolute(x), float(np.finfo(dtype_of(x)).eps) if dtype_of(x).kind == "f" else 1e-3)
    return where(near_zero, lower * 0.5, lower - out / where(near_zero, x + 1, x))


i0 = _one("i0", "i0", lambda x, _out: i1(x), unary(-2, 2))
i0e = _one("i0e", "i0e", lambda x, out: i1e(x) - sign(x, nan_to_zero=True) * out, unary(0.3, 2))
i1 = _one("i1", "i1", lambda x, out: _order_one(x, out, i0(x)), unary(0.3, 2))
i1e = _one("i1e", "i1e", lambda x, out: _order_one(x, out, i0e(x)) - sign(x, nan_to_zero=True) * out, unary(0.3, 2))
j0 = _one("bessel_j0", "j0", lambda x, _out: -j1(x), unary(-3, 3))
j1 = _one("bessel_j1", "j1", lambda x, out: _order_one(x, out, j0(x)), unary(0.3, 3))
y0 = _one("bessel_y0", "y0", lambda x, _out: -y1(x), unary(0.5, 3))
y1 = _one("bessel_y1", "y1", lambda x, out: y0(x) - out / x, unary(0.5, 3))
k0 = _one("bessel_k0", "k0", lambda x, _out: -k1(x), unary(0.5, 3))
k1 = _one("bessel_k1", "k1", lambda x, out: -k0(x) - out / x, unary(0.5, 3))
k0e = _one("bessel_k0e", "k0e", lambda x, out: out - k1e(x), unary(0.5, 3))
k1e = _one("bessel_k1e", "k1e", lambda x, out: out - k0e(x) - out / x, unary(0.5, 3))


@widened
def _spherical_j0_kernel(xp: Any, x: Any) -> Any:
    return xp.where(xp.isinf(x), zero_of(x), _sinc_kernel(xp, x / math.pi))


@widened_numpy
def _spherical_j0_numpy(x: Any) -> Any:
    return np.where(np.isinf(x), x.dtype.type(0), np.sinc(x / math.pi).astype(x.dtype))


def _spherical_j0_partial(x: Any, out: Any) -> Any:
    return drop((cos(x) - out) / _off_zero(x), equal(x, 0))


# sin(x) / x.
spherical_j0 = elementwise(
    "spherical_j0", kernel=_spherical_j0_kernel, numpy=_spherical_j0_numpy,
    partials=[_spherical_j0_partial], samples=unary(0.3, 3), infer=infer_same,
)  # fmt: skip


def _airy(which: int) -> Any:
    # Above 110 both are 0 in double precision, where SciPy answers nan for the largest arguments.
    return widened(lambda xp, x: special_functions(xp).airy(xp.minimum(x, scalar(110, x)))[which])


# Airy's function Ai and its derivative (DLMF 9).
airy_ai = elementwise(
    "airy_ai", kernel=_airy(0), operands=("x",), samples=unary(-3, 2), infer=infer_same,
    partials=[lambda x, _out: airy_ai_prime(x)],
)  # fmt: skip

airy_ai_prime = elementwise(
    "airy_ai_prime", kernel=_airy(1), operands=("x",), samples=unary(-3, 2), infer=infer_same,
    partials=[lambda x, _out: x * airy_ai(x)],
)  # fmt: skip
