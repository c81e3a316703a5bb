"""Special functions in functions of the array-API standard, by SciPy's names: for array libraries that have none of their own.

Each has twelve digits or more in double precision on the real line, and is computed with a fixed number of steps, so that no
loop depends on values. The formulas are those of the Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

import math
from typing import Any

from ..backend.dtypes import astype, numpy_dtype


def expit(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)), by the exponential that cannot overflow."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x < 0, small / (small + 1), 1 / (small + 1))


def logit(xp: Any, x: Any) -> Any:
    """log(x / (1 - x))."""
    return xp.log(x) - xp.log1p(-x)


def entr(xp: Any, x: Any) -> Any:
    """-x log x, 0 at 0 and -inf below."""
    inside = xp.where(x > 0, x, x * 0 + 1)
    return xp.where(x > 0, -x * xp.log(inside), xp.where(x == 0, x * 0, xp.where(x < 0, -math.inf, x)))


def xlogy(xp: Any, x: Any, y: Any) -> Any:
    """x log y, 0 where x is 0 and y a number."""
    x, y = _inexact(xp, x, y)
    nothing = (x == 0) & (y == y)
    return xp.where(nothing, x * 0, x * xp.log(xp.where(nothing, y * 0 + 1, y)))


def xlog1py(xp: Any, x: Any, y: Any) -> Any:
    """x log(1 + y), 0 where x is 0 and y a number."""
    x, y = _inexact(xp, x, y)
    nothing = (x == 0) & (y == y)
    return xp.where(nothing, x * 0, x * xp.log1p(xp.where(nothing, y * 0, y)))


def _inexact(xp: Any, *given: Any) -> Any:
    """Operands in one floating dtype: the first that has one."""
    dtype = next((x.dtype for x in given if numpy_dtype(x.dtype).kind not in "iub"), xp.float64)
    return tuple(astype(xp, x, dtype) for x in given)


# ------------------------------------------------------------------------------------------ error functions (DLMF 7)

_ROOT_PI = math.sqrt(math.pi)
_NEAR = 2.0
"""Where the series of erf gives way to the continued fraction of erfc."""


def erf(xp: Any, x: Any) -> Any:
    """The error function: by its series of positive terms (DLMF 7.6.2) near 0."""
    near = xp.abs(x) < _NEAR
    t = xp.where(near, x, x * 0)
    t = xp.where(x == x, t, x)
    square, term, total = t * t, t, t
    for n in range(1, 60):
        term = term * square * (2 / (2 * n + 1))
        total = total + term
    inside = total * xp.exp(-square) * (2 / _ROOT_PI)
    outside = 1 - _scaled_tail(xp, xp.abs(x)) * xp.exp(-x * x)
    return xp.where(near | (x != x), inside, xp.where(x < 0, -outside, outside))


def _scaled_tail(xp: Any, x: Any) -> Any:
    """exp(x^2) erfc(x) for x >= _NEAR, by the continued fraction (DLMF 7.9.1) from its far end."""
    t = xp.where(x < _NEAR, x * 0 + _NEAR, x)
    value = t
    for n in range(80, 0, -1):
        value = t + (n / 2) / value
    return 1 / (value * _ROOT_PI)


def erfc(xp: Any, x: Any) -> Any:
    """1 - erf(x), with its digits where that is small."""
    far = _scaled_tail(xp, xp.abs(x)) * xp.exp(-x * x)
    return xp.where(x >= _NEAR, far, xp.where(x <= -_NEAR, 2 - far, 1 - erf(xp, x)))


def erfcx(xp: Any, x: Any) -> Any:
    """exp(x^2) erfc(x)."""
    near = xp.where(x < _NEAR, x, x * 0 + _NEAR)
    return xp.where(x >= _NEAR, _scaled_tail(xp, x), xp.exp(near * near) * erfc(xp, near))


def ndtr(xp: Any, x: Any) -> Any:
    """The normal distribution function."""
    return 0.5 * erfc(xp, x * -math.sqrt(0.5))


def log_ndtr(xp: Any, x: Any) -> Any:
    """Its logarithm, by the scaled tail far below 0."""
    t = x * -math.sqrt(0.5)
    below = xp.log(0.5 * erfcx(xp, xp.where(t > 0, t, t * 0))) - t * t
    above = xp.log1p(-0.5 * erfc(xp, xp.where(t > 0, t * 0, -t)))
    return xp.where(t > 0, below, above)


_NORMAL = math.sqrt(2 * math.pi)


def ndtri(xp: Any, p: Any) -> Any:
    """The inverse of the normal distribution function, by Newton's steps on its logarithm from the tail's first terms."""
    inside = (p > 0) & (p < 1)
    tail = xp.where(inside, xp.minimum(p, 1 - p), p * 0 + 0.5)  # in (0, 1/2]; its solution is negative
    size = xp.sqrt(-2 * xp.log(tail))
    x = -xp.where(size > 2, size - xp.log(size * _NORMAL) / size, (0.5 - tail) * _NORMAL)
    wanted = xp.log(tail)
    for _ in range(12):
        have = log_ndtr(xp, x)
        x = x - (have - wanted) * xp.exp(have + x * x / 2) * _NORMAL
    x = xp.where(p > 0.5, -x, x)
    edge = xp.where(p == 0, -math.inf, xp.where(p == 1, math.inf, x * math.nan))
    return xp.where(inside, x, edge)


def erfinv(xp: Any, x: Any) -> Any:
    """The inverse of erf: the series' first term near 0, Newton's steps from there."""
    size = xp.abs(x)
    inside = size < 1
    wanted = xp.where(inside, size, size * 0)
    y = -ndtri(xp, (1 - wanted) / 2) * math.sqrt(0.5)
    for _ in range(2):
        y = y - (erf(xp, y) - wanted) * xp.exp(y * y) * (_ROOT_PI / 2)
    y = xp.where(x < 0, -y, y)
    return xp.where(inside, y, xp.where(size == 1, x * math.inf, x * math.nan))


# ------------------------------------------------------------------------------------------ gamma family (DLMF 5, 25)

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 10
"""The recurrences lead arguments up to where the asymptotic series has all digits."""


def gammaln(xp: Any, x: Any) -> Any:
    """log |Gamma(x)|: Stirling's series (DLMF 5.11.1) above 10, the recurrence down to 1/2, the reflection below."""
    reflected = x < 0.5
    y = xp.where(reflected, 1 - x, x)
    product, z = y * 0 + 1, y
    for _ in range(_SHIFT):
        low = z < _SHIFT
        product = xp.where(low, product * z, product)
        z = xp.where(low, z + 1, z)
    inverse = 1 / z
    square, power, tail = inverse * inverse, inverse, z * 0
    for n, b in enumerate(_BERNOULLI, 1):
        tail = tail + power * (b / (2 * n * (2 * n - 1)))
        power = power * square
    value = (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + tail - xp.log(product)
    value = xp.where(xp.isinf(y), xp.abs(y), value)
    mirrored = math.log(math.pi) - xp.log(xp.sin(math.pi * xp.abs(x - xp.round(x)))) - value
    return xp.where(reflected, xp.where(xp.isinf(x), x, mirrored), value)


def digamma(xp: Any, x: Any) -> Any:
    """The derivative of log Gamma: asymptotic series (DLMF 5.11.2), recurrence, reflection."""
    reflected = x < 0.5
    z = xp.where(reflected, 1 - x, x)
    total = z * 0
    for _ in range(_SHIFT):
        low = z < _SHIFT
        total = xp.where(low, total - 1 / z, total)
        z = xp.where(low, z + 1, z)
    square = 1 / (z * z)
    power, tail = square, z * 0
    for n, b in enumerate(_BERNOULLI, 1):
        tail = tail + power * (b / (2 * n))
        power = power * square
    value = total + xp.log(z) - 0.5 / z - tail
    fraction = x - xp.round(x)
    poles = reflected & (fraction == 0) & (x != 0)
    mirrored = value - math.pi / xp.tan(math.pi * fraction)
    found = xp.where(reflected, xp.where(poles, x * math.nan, mirrored), value)
    found = xp.where(x == math.inf, x, found)
    return xp.where(x == 0, -xp.copysign(x * 0 + math.inf, x), found)


def zeta(xp: Any, s: Any, q: Any) -> Any:
    """Hurwitz's zeta function for s > 1, q > 0, by Euler's and Maclaurin's formula (DLMF 25.11.5). `s` may be a number."""
    if not hasattr(s, "dtype"):
        s = q * 0 + s
    s, q = _inexact(xp, s, q)
    total = s * 0 + q * 0
    for k in range(_SHIFT):
        total = total + xp.pow(q + k, -s)
    a = q + _SHIFT
    power = xp.pow(a, -s)
    total = total + a * power / (s - 1) + 0.5 * power
    factor = s * power / a
    for n, b in enumerate(_BERNOULLI, 1):
        total = total + factor * (b / math.factorial(2 * n))
        factor = factor * (s + (2 * n - 1)) * (s + 2 * n) / (a * a)
    defined = (s > 1) & (q > 0)
    return xp.where(defined, total, xp.where((s == 1) | (q == 0), total * 0 + math.inf, total * math.nan))
