"""The logarithm of the gamma function and its derivative, of vectors of float32 and float64 numbers.

Both are computed in double precision (of float32 rounded once at the end): between 1 and 2.5 by polynomials that have the
function's zeros as factors, which recurrences lead other arguments to; from 8 or 10 on by Stirling's series (DLMF 5.11.1 and
5.11.2); below 0 by the reflections (DLMF 5.5.3 and 5.5.4), which are computed where a vector has such numbers only. The
polynomials are our own near-minimax fits (Chebyshev's) in 60 digits. Off by two units in the last place for float32, by some
for positive float64; between the zeros below 0 the error is that many units of the larger of the terms that cancel, as SciPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .functions import log, rarely
from .vectors import Vectors

_GAMMA = (
    0.42278433509846713, -0.10031730167435392, 0.03296500062115582, -0.012384192193371354, 0.004998641164697329,
    -0.002108130833949211, 0.0009153769222493683, -0.00040570739776849235, 0.0001825526391800868, -8.309512065991473e-05,
    3.816888684217561e-05, -1.7661749741053172e-05, 8.222223515431722e-06, -3.846729097394708e-06, 1.8078214369038643e-06,
    -8.559853958872399e-07, 4.0516818556897914e-07, -1.8231384052730353e-07, 8.673274888619943e-08, -5.9191034539430366e-08,
    2.833065451724051e-08,
)  # fmt: skip
"""log Γ(2 + t) / (t (1 + t)) by t, for |t| up to ½."""

_PSI = (
    0.9510558760318328, -0.4236274212814606, 0.24054248424078697, -0.14840492305388092, 0.09498872445289039,
    -0.06192213327548831, 0.040760833940846085, -0.026975796659787055, 0.017907248317313294, -0.011908220105959716,
    0.007927021796868154, -0.005279937255532708, 0.003518106563802472, -0.0023454947398380833, 0.0015633696313653504,
    -0.0010364584817312839, 0.0006909255761282986, -0.00048595039220036254, 0.00032395945401345196, -0.00014480643368061614,
    9.653646261410062e-05, -0.0001782188548855923, 0.00011881232908510335,
)  # fmt: skip
"""The derivative of log Γ over the distance of its zero, by the distance from 1.5, up to ½."""

_ZERO = 1.4616321449683622, 9.549995429965697e-17  # the zero, and the rest of it

_SINE = (
    3.141592653589793, -5.16771278004997, 2.5501640398773455, -0.5992645293207869, 0.08214588661099356,
    -0.007370430943702136, 0.0004663027874593273, -2.1915250301851375e-05, 7.94853903737232e-07, -2.228371216069697e-08,
)  # fmt: skip
"""sin(π r) / r by r², for |r| up to ½."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_STIRLING = tuple(b / (2 * n * (2 * n - 1)) for n, b in enumerate(_BERNOULLI, 1))
_SERIES = tuple(b / (2 * n) for n, b in enumerate(_BERNOULLI, 1))


def _widely(function: Callable[[Vectors, str], str]) -> Callable[[Vectors, str], str]:
    """A function computed in double precision."""

    def wide(v: Vectors, x: str) -> str:
        if v.number == "double":
            return function(v, x)
        double = Vectors(v.code, v.lanes, "double")
        return double.convert("fptrunc", function(double, v.convert("fpext", x, double)), v)

    return wide


def _sine(v: Vectors, r: str) -> str:
    """sin(π r) for |r| up to ½."""
    return v.multiply(r, v.polynomial(_SINE, v.multiply(r, r)))


@_widely
def gammaln(v: Vectors, x: str) -> str:
    """log |Γ(x)|."""
    below = v.two("fcmp olt", x, -0.5)
    z = v.select(below, v.call("fabs", x), x)
    large, low, lower = v.two("fcmp oge", z, 8.0), v.two("fcmp olt", z, 1.5), v.two("fcmp olt", z, 0.5)
    # Γ(z) is Γ(y) times a product, y between 1.5 and 2.5, or over one.
    y, product = v.select(large, 2.0, z), v.constant(1.0)
    for _ in range(6):
        high, less = v.two("fcmp oge", y, 2.5), v.subtract(y, 1.0)
        product, y = v.select(high, v.multiply(product, less), product), v.select(high, less, y)
    t = v.select(low, v.subtract(z, 1.0), v.subtract(y, 2.0))
    t = v.select(lower, z, t)
    over = v.select(lower, v.call("fabs", v.multiply(z, v.add(z, 1.0))), z)
    logarithm = log(v, v.select(large, z, v.select(low, over, product)))
    added = v.select(low, v.subtract(0.0, logarithm), logarithm)
    near = v.call("fma", v.multiply(t, v.add(t, 1.0)), v.polynomial(_GAMMA, t), added)
    inverse = v.divide(1.0, z)
    tail = v.multiply(inverse, v.polynomial(_STIRLING, v.multiply(inverse, inverse)))
    rest = v.add(tail, 0.5 * math.log(2 * math.pi) - 0.5)
    far = v.call("fma", v.subtract(z, 0.5), v.subtract(logarithm, 1.0), rest)
    found = v.select(large, far, near)

    def reflected() -> list[str]:
        sine = v.call("fabs", _sine(v, v.subtract(z, v.call("rint", z))))
        mirrored = v.subtract(v.subtract(math.log(math.pi), log(v, v.multiply(z, sine))), found)
        return [v.choose("fcmp ogt", sine, 0.0, mirrored, math.inf)]  # the poles, and -inf

    return rarely(v, below, [found], reflected, [v])[0]


@_widely
def digamma(v: Vectors, x: str) -> str:
    """The derivative of log Γ(x)."""
    below = v.two("fcmp olt", x, 0.0)
    z = v.select(below, v.subtract(1.0, x), x)
    large, low = v.two("fcmp oge", z, 10.0), v.two("fcmp olt", z, 1.0)
    # The sum of the 1 / (z - k) down to y, which is between 1 and 2, as one fraction.
    y, above, under = v.select(large, 1.5, z), v.constant(0.0), v.constant(1.0)
    for _ in range(8):
        high, less = v.two("fcmp oge", y, 2.0), v.subtract(y, 1.0)
        above = v.select(high, v.call("fma", above, less, under), above)
        under, y = v.select(high, v.multiply(under, less), under), v.select(high, less, y)
    above, under, y = v.select(low, -1.0, above), v.select(low, z, under), v.select(low, v.add(z, 1.0), y)
    distance = v.subtract(v.subtract(y, _ZERO[0]), _ZERO[1])
    near = v.call("fma", distance, v.polynomial(_PSI, v.subtract(y, 1.5)), v.divide(above, under))
    inverse = v.divide(1.0, z)
    square = v.multiply(inverse, inverse)
    tail = v.call("fma", v.polynomial(_SERIES, square), square, v.multiply(inverse, 0.5))
    found = v.select(large, v.subtract(log(v, z), tail), near)

    def reflected() -> list[str]:
        r = v.subtract(x, v.call("rint", x))
        sine, cosine = _sine(v, r), _sine(v, v.subtract(0.5, v.call("fabs", r)))
        mirrored = v.subtract(found, v.multiply(math.pi, v.divide(cosine, sine)))
        return [v.choose("fcmp oeq", r, 0.0, math.nan, mirrored)]

    return rarely(v, below, [found], reflected, [v])[0]


GAMMA = {"gammaln": gammaln, "digamma": digamma}
"""By SciPy's names."""
