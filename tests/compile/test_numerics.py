"""The functions of generated code are off by at most the units in the last place that they promise, over the whole range.

The references are mpmath's, with 100 bits and more; both eager and compiled code take these functions from
backend/jit/pointwise.Fused. Bounds: 2 units for exp, log, sin, cos and sqrt, 3 for tanh, 4 for the others; beside the roots
of the gamma family, and where a sum of two terms cancels, units of the larger term.
"""

import functools
import math

import mpmath
import numpy as np
import pytest
from scipy import special

import retrograde.ops.activation  # noqa: F401  registers the records of sigmoid and its kin
from retrograde.backend.jit import pointwise
from retrograde.core.expression import SYMBOLIC, Expr, trace
from retrograde.core.record import PRIMITIVES

mp = mpmath.mp.clone()
mp.prec = 120
DTYPES = [np.float32, np.float64]


def operand(k, dtype):
    return Expr("operand", (k,), np.dtype(dtype))


def function(name, dtype, operands=1):
    given = [operand(k, dtype) for k in range(operands)]
    if name in SPECIAL:
        return pointwise.Fused([getattr(SYMBOLIC.special, name)(*given)])
    if name in RECORDS:
        return pointwise.Fused([trace(PRIMITIVES[name], (np.dtype(dtype),), RECORDS[name])])
    return pointwise.Fused([getattr(SYMBOLIC, name)(*given)])


SPECIAL = {"erf", "erfc", "gammaln", "digamma"}
RECORDS = {"sigmoid": {}, "softplus": {"beta": 1.0, "threshold": math.inf}, "gelu": {}, "rsqrt": {}}

pytestmark = pytest.mark.skipif(
    pointwise.Fused([SYMBOLIC.exp(operand(0, np.float32))])(np.zeros(9, np.float32)) is None,
    reason="needs llvmlite and a processor that code is generated for",
)


# ------------------------------------------------------------------------------------------ references


def _sigmoid(x):
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def _softplus(x):
    return mp.log1p(mp.exp(-abs(x))) + max(x, 0)


def _gelu(x):
    return x * mp.erfc(-x / mp.sqrt(2)) / 2 if x > -40 else mp.mpf(0)


def _erfc(x):
    return mp.erfc(x) if x < 28 else mp.mpf(0)


def _erf(x):
    return mp.erf(x) if abs(x) < 7 else mp.sign(x)


def _tanh(x):
    return mp.tanh(x) if abs(x) < 50 else mp.sign(x)


def _lgamma(x):
    found = mp.loggamma(x)
    return found.real if x < 0 else found


EXACT = {
    "exp": mp.exp, "expm1": mp.expm1, "log": mp.log, "log1p": mp.log1p, "log2": lambda x: mp.log(x) / mp.ln2,
    "log10": mp.log10, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "tanh": _tanh, "sinh": mp.sinh, "cosh": mp.cosh,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
    "sqrt": mp.sqrt, "rsqrt": lambda x: 1 / mp.sqrt(x), "erf": _erf, "erfc": _erfc, "sigmoid": _sigmoid,
    "softplus": _softplus, "gelu": _gelu, "gammaln": _lgamma, "digamma": mp.digamma,
}  # fmt: skip
BOUNDS = {"exp": 2, "log": 2, "sin": 2, "cos": 2, "sqrt": 2, "tanh": 3}

INF = math.inf
DOMAINS = {
    "exp": (-746, 710), "expm1": (-800, 710), "log": (0, INF), "log1p": (-1, INF), "log2": (0, INF), "log10": (0, INF),
    "sinh": (-711, 711), "cosh": (-711, 711), "asin": (-1, 1), "acos": (-1, 1), "acosh": (1, INF), "atanh": (-1, 1),
    "sqrt": (0, INF), "rsqrt": (0, INF), "erfc": (-INF, 28), "sigmoid": (-746, INF), "softplus": (-746, INF),
    "gammaln": (-1e9, 1e306), "digamma": (-1e9, INF),
}  # fmt: skip
"""Where the function has a value that is neither infinite nor too small for a float64: ends are left out."""

_MULTIPLES = [k * math.pi / 2 for k in (*range(1, 40), 1000, 10**4 + 1, 10**5, 10**6 + 1, 2**26, 2**27 + 1, 3**30, 5**60, 7**300)]
CENTRES = {
    "exp": [math.log(2) * k / 2 for k in (1, 3, -1, -3, 200, -200, 2000, -2000)] + [88.7, 709.7, -87.3, -103.9, -708.4, -745.1],
    "expm1": [math.log(2) * k / 2 for k in (1, 3, -1, -3, 200, 2000)] + [88.7, 709.7, -16.6, -36.7, -37.4],
    "log": [1, math.sqrt(0.5), math.sqrt(2), 2, 0.5], "log2": [1, math.sqrt(0.5), math.sqrt(2), 2, 0.5, 8, 1024],
    "log10": [1, math.sqrt(0.5), math.sqrt(2), 10, 100, 1000, 1e15, 0.1],
    "log1p": [math.sqrt(0.5) - 1, math.sqrt(2) - 1, 1, -0.5, -1, 3],
    "sin": _MULTIPLES, "cos": _MULTIPLES, "tan": [*_MULTIPLES, math.pi / 4, 3 * math.pi / 4],
    "tanh": [0.625, 10, 20, 0.5, math.log(2) / 4, math.log(2) * 0.75], "sinh": [0.5, 1, 22, 88.7, 89.4, 710.4, 709.7],
    "cosh": [0.5, 1, 22, 88.7, 89.4, 710.4, 709.7], "asin": [0.5, 1, math.sqrt(0.5)], "acos": [0.5, -0.5, 1, -1],
    "atan": [math.tan(math.pi / 8), 1, math.tan(3 * math.pi / 8)], "asinh": [2**-14, 2**14, 2**-28, 2**28, 1],
    "acosh": [1, 2, 2**14, 2**28], "atanh": [0.5, 1, 1 / 3, math.tanh(0.5)],
    "erf": [0.9, 1, 4, 6, 0.5], "erfc": [0.5, -0.5, 0.9, 1, 2, 4, 6, 10, 26.5, 9.19, 10.05],
    "sigmoid": [0, 17, -17, -88, -104, -709], "softplus": [0, 1, -1, 17, 37], "gelu": [0, 1, -1, 3, -3],
    "gammaln": [1, 2, 0.5, 1.5, 2.5, 8, -0.5, -1, -2, -2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -1.5, -10.5],
    "digamma": [1.4616321449683622, 1, 2, 10, -0.5040830082644554, -1.5734984731623904, -1, -2, -1.5, -10.5],
}  # fmt: skip


@functools.cache
def places(name, dtype):
    """Numbers of every exponent, and those beside the function's centres."""
    rng = np.random.default_rng(7)
    limits = np.finfo(dtype)
    low, high = DOMAINS.get(name, (-INF, INF))
    lowest = limits.minexp - limits.nmant
    exponents = np.arange(lowest, limits.maxexp)
    # 20 of each; where doubles are so small or large that functions are what they tend to, 3.
    counts = np.where((exponents > -30) & (exponents < 12), 20, 20 if dtype is np.float32 else 3)
    exponents = np.repeat(exponents, counts)
    with np.errstate(all="ignore"):
        sizes = np.ldexp(rng.uniform(1, 2, len(exponents)), exponents).astype(dtype)
        signed = np.where(rng.random(len(sizes)) < 0.5, -sizes, sizes) if low < 0 else sizes
        if low < 0 and high <= 1:
            signed = np.concatenate([signed, rng.uniform(low, high, 200).astype(dtype)])
        near = []
        for centre in CENTRES.get(name, ()):
            c = np.array([centre], dtype)
            word = c.view(np.int32 if dtype is np.float32 else np.int64)
            steps = [*range(-4, 5), *(s * 2**k for k in range(4, limits.nmant - 2, 6) for s in (-1, 1))]
            near.append((word + np.array(steps, word.dtype)).view(dtype))
        if low < 0 and name in CENTRES:
            near += [-x for x in near]
        least, most = limits.smallest_subnormal, limits.max
        near.append(np.array([least, limits.tiny, limits.tiny - least, most, -least, -limits.tiny, -most], dtype))
        found = np.unique(np.concatenate([signed, *near]))
        found = found[np.isfinite(found) & (found != 0) & (found > low) & (found < high)]
    if name in ("gammaln", "digamma"):
        found = found[(found > 0) | (found != np.rint(found))]
    return found


@functools.cache
def reference(name, dtype):
    """The exact values at `places`, as a double and the rest of it."""
    return parted([EXACT[name](mp.mpf(x)) for x in places(name, dtype).tolist()], dtype)


def parted(exact, dtype):
    """Numbers of many digits as doubles and what is left of them; at most the power of 2 that overflows."""
    most = mpmath.mpf(2) ** (128 if dtype is np.float32 else 1024)
    bounded = [min(max(y, -most), most) for y in exact]
    high = [min(max(float(y), -(2.0**1023)), 2.0**1023) for y in bounded]
    return np.array(high), np.array([float(y - h) for y, h in zip(bounded, high)])


def units(found, high, low, dtype, scale=0.0):
    """How far numbers are from exact ones, in units in the last place of these, or of `scale` where that is larger."""
    limits, most = np.finfo(dtype), 2.0**127 if dtype is np.float32 else 2.0**1023
    _, exponent = np.frexp(np.maximum(np.abs(high), scale))
    unit = np.ldexp(1.0, np.maximum(exponent - 1 - limits.nmant, limits.minexp - limits.nmant))
    ends = np.isinf(found)  # count as the next power of 2
    near, rest = (np.where(ends, np.copysign(most, found), x) for x in (found.astype(float), 0.0))
    return np.abs((near - high) / unit + (rest - low) / unit)


def scale_of(name, x):
    """The size of the terms of a sum that cancel each other somewhere."""
    x = x.astype(float)
    with np.errstate(all="ignore"):
        if name == "gammaln":
            return np.where(x < -0.5, np.maximum(np.abs(special.gammaln(-x)), 1.2), 0)
        if name == "digamma":
            return np.where(x < 0, np.maximum(np.abs(special.digamma(1 - x)), 1), 0)
        return np.abs(x) / 2 if name == "gelu" else 0.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_functions_are_off_by_few_units(name, dtype):
    x = places(name, dtype)
    (found,) = function(name, dtype)(x)
    error = units(found, *reference(name, dtype), dtype, scale_of(name, x))
    worst = np.argmax(error)
    assert error[worst] <= BOUNDS.get(name, 4), (x[worst], found[worst])


def test_numbers_beside_multiples_of_half_pi():
    """The double that is nearest to a multiple of all, and single ones beside large multiples, are reduced with all digits."""
    for dtype, x in ((np.float64, 6381956970095103.0 * 2.0**797), (np.float32, 16367173.0 * 2.0**72), (np.float64, 2.0**1023)):
        exact = {name: EXACT[name](mp.mpf(x)) for name in ("sin", "cos", "tan")}
        for name, y in exact.items():
            (found,) = function(name, dtype)(np.full(3, x, dtype))
            high = float(y)
            assert np.max(units(found, high, float(y - high), dtype)) <= BOUNDS.get(name, 4)


# ------------------------------------------------------------------------------------------ functions of two numbers

OF_TWO = {
    "pow": mp.power, "atan2": mp.atan2, "hypot": mp.hypot, "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
}  # fmt: skip


def pairs(name, dtype):
    """Numbers of every exponent beside others."""
    rng, limits = np.random.default_rng(8), np.finfo(dtype)
    exponents = np.repeat(np.arange(limits.minexp - limits.nmant, limits.maxexp), 4 if dtype is np.float32 else 1)
    n = len(exponents)
    with np.errstate(all="ignore"):
        if name == "logaddexp":
            x = (rng.normal(size=2000) * 50).astype(dtype)
            return x, (x + rng.normal(size=2000) * 10).astype(dtype)
        x = np.ldexp(rng.uniform(1, 2, n), exponents).astype(dtype)
        if name == "pow":
            x = np.concatenate([x, rng.uniform(0.5, 2, n), 1 + rng.normal(size=n) * 2.0**-12]).astype(dtype)
            top = limits.maxexp * rng.uniform(-1.08, 1.08, len(x))
            y = (top / np.log2(x.astype(np.longdouble))).astype(dtype)
        else:
            y = (x * 2.0 ** rng.uniform(-30, 30, n)).astype(dtype)
            x, y = (np.concatenate([z, z, -z, -z]) for z in (x, y))
            y[: 2 * n] *= -1
            y[::4] = rng.permutation(x)[::4]
    finite = np.isfinite(x) & np.isfinite(y) & (x != 0)
    return x[finite], y[finite]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers_are_off_by_few_units(name, dtype):
    x, y = pairs(name, dtype)
    (found,) = function(name, dtype, 2)(x, y)
    exact = [OF_TWO[name](mp.mpf(a), mp.mpf(b)) for a, b in zip(x.tolist(), y.tolist())]
    high, low = parted(exact, dtype)
    scale = np.maximum(np.abs(x), np.abs(y)).astype(float) if name == "logaddexp" else 0.0
    error = units(found, high, low, dtype, scale)
    worst = np.argmax(error)
    assert error[worst] <= 4, (x[worst], y[worst], found[worst])


# ------------------------------------------------------------------------------------------ edges

EDGES = [
    0.0, 0.5, 1, 1.5, 2, 2.5, 3, 7, 0.1, 1e-45, 5e-324, 1e-310, 1e-38, 3e38, 1.7e308, 1e17, 1e16 + 2, 2.0**53 - 1, 88.73, 89.5,
    104.9, 710.1, 711, 746, math.inf,
]  # fmt: skip
EDGES += [-x for x in EDGES] + [math.nan]
_NUMPYS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
           "pow": "power", "atan2": "arctan2"}  # fmt: skip


def numpys(name, *operands):
    """What NumPy and SciPy compute."""
    f = getattr(special, name) if name in SPECIAL else getattr(np, _NUMPYS.get(name, name))
    with np.errstate(all="ignore"):
        return f(*operands)


def agree(found, want, tolerance):
    """Zeros, infinities and nan as they are, with their sign (but for nan's), other numbers to a tolerance."""
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=0)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(want)[known])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [x for x in EXACT if x not in RECORDS and x not in ("gammaln", "digamma")])
def test_the_edges_are_cs(name, dtype):
    with np.errstate(over="ignore"):
        x = np.array(EDGES).astype(dtype)
    agree(function(name, dtype)(x)[0], numpys(name, x), 1e-6 if dtype is np.float32 else 1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*OF_TWO, "remainder", "floor_divide", "nextafter"])
def test_the_edges_of_functions_of_two_numbers_are_cs(name, dtype):
    """Remainders, quotients and neighbours are exact, of other numbers, too."""
    with np.errstate(over="ignore"):
        edges = np.array(EDGES).astype(dtype)
    x, y = (z.ravel() for z in np.meshgrid(edges, edges))
    exact = name not in OF_TWO
    if exact:
        more = pairs(name, dtype)
        x, y = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
    agree(function(name, dtype, 2)(x, y)[0], numpys(name, x, y), 0 if exact else 1e-6 if dtype is np.float32 else 1e-14)


# ------------------------------------------------------------------------------------------ every single number


@pytest.mark.long
@pytest.mark.parametrize("name", [x for x in EXACT if x not in ("gammaln", "digamma", "gelu")])
def test_every_float32_is_off_by_few_units_of_the_function_in_double_precision(name):
    """All 2^32; the reference is the same function of float64, which the tests above hold to mpmath."""
    xp, x = SYMBOLIC, operand(0, np.float32)
    single, double = (
        trace(PRIMITIVES[name], (z.dtype,), RECORDS[name]) if name in RECORDS
        else getattr(xp.special if name in SPECIAL else xp, name)(z)
        for z in (x, operand(0, np.float64))
    )  # fmt: skip
    exact = double.evaluate(xp, xp.astype(x, np.dtype(np.float64)))
    size = xp.abs(xp.astype(exact, np.dtype(np.float32)))
    unit = xp.nextafter(size, math.inf) - size
    error = xp.abs(xp.astype(single, np.dtype(np.float64)) - exact) / unit
    loop = pointwise.Fused([xp.where(xp.isnan(single) != xp.isnan(exact), math.inf, error)])
    step, worst = 1 << 22, 0.0
    for first in range(0, 1 << 32, step):
        (found,) = loop(np.arange(first, first + step, dtype=np.uint32).view(np.float32))
        worst = max(worst, np.fmax.reduce(found))
    assert worst <= BOUNDS.get(name, 4)
