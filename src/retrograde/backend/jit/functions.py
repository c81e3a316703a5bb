"""Functions of vectors of float32 and float64 numbers: exponentials, logarithms, powers, circular and hyperbolic functions
and their inverses, the error function, remainders.

Each is off by at most four units in the last place over the whole range (most by one and a half), with infinities, nan,
signed zeros and subnormal numbers as in C. The polynomials are our own near-minimax fits (Chebyshev's and Remez's) in 60
digits; the reductions are the usual ones: powers of 2 taken out of exponentials and logarithms, multiples of π/2 out of angles
by three fused multiply-adds. Angles too large for that, which nobody has in numbers of this kind but by accident, are
multiplied by as many digits of 2/π as they need. Where products are rounded before they are added, what is lost is computed
(`_product`).
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .vectors import Operand, Vectors


class Unsupported(Exception):
    """No code is made for something that was asked for."""


class _Kind(NamedTuple):
    """What depends on the precision: constants of reductions, and coefficients from the lowest power on."""

    words: str  # the integers of the same size
    digits: int  # bits of the mantissa behind the point
    bias: int
    magic: float  # has no room behind the point: adding it rounds
    log2: tuple[float, float]  # log(2): a number of few bits, whose multiples are exact, and the rest
    quarter: tuple[float, float, float]  # π/2
    angles: float  # up to here `quarter` is enough
    lowest: float  # exp is 0 below
    highest: float  # and infinite above
    least: float  # the smallest number that is not subnormal
    lift: int  # the power of 2 that makes every subnormal number a normal one
    saturated: float  # tanh is 1 from here on, to half a unit
    exp: tuple[float, ...]  # (exp(r) - 1 - r) / r² for |r| up to log(2) / 2
    log: tuple[float, ...]  # (2 artanh(s) - 2 s) / s³ by s², for s = f / (2 + f), 1 + f from √½ to √2
    sin: tuple[float, ...]  # (sin(r) - r) / r³ by r², to π/4
    cos: tuple[float, ...]  # (cos(r) - 1 + r²/2) / r⁴ by r²


_KINDS = {
    "float": _Kind(
        "i32", 23, 127, 1.5 * 2**23, (0.693359375, -2.12194440e-4),
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15), 65536.0, -104.0, 89.0, 2.0**-126, 25, 10.0,
        (0.49999994, 0.166665211, 0.041668389, 0.00836871006, 0.00138146104),
        (0.666666665, 0.400001256, 0.28550397, 0.233419434),
        (-0.166666667, 0.00833333179, -0.000198400389, 2.72437814e-6),
        (0.0416666667, -0.00138888876, 2.48005604e-5, -2.72958308e-7),
    ),
    "double": _Kind(
        "i64", 52, 1023, 1.5 * 2**52, (0.6931471803691238, 1.9082149292705877e-10),
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33), 2.0**26, -746.0, 710.0, 2.0**-1022, 54, 20.0,
        (0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325544, 0.0013888888888883327, 0.00019841269876864356,
         2.4801587327007187e-05, 2.755725283351691e-06, 2.75572718102198e-07, 2.5106274733573296e-08, 2.0915442297780116e-09),
        (0.6666666666666666, 0.4000000000000094, 0.2857142857076445, 0.2222222240054776, 0.181817947008978,
         0.15386290534658992, 0.13267418596474884, 0.1310072138350349),
        (-0.16666666666666666, 0.0083333333333307, -0.00019841269836385435, 2.7557315910939e-06, -2.5051092308431318e-08,
         1.5915309183057952e-10),
        (0.041666666666666664, -0.0013888888888887241, 2.480158729853226e-05, -2.7557317151858866e-07,
         2.0876121534608454e-09, -1.1380868171449914e-11),
    ),
}  # fmt: skip


def _words(v: Vectors) -> Vectors:
    """The integers that hold the bits of numbers."""
    return Vectors(v.code, v.lanes, _KINDS[v.number].words)


def _power_of_two(v: Vectors, n: str) -> str:
    """2^n of integers n, as numbers."""
    kind, words = _KINDS[v.number], _words(v)
    return words.convert("bitcast", words.two("shl", words.add(n, kind.bias), kind.digits), v)


def _wide(v: Vectors) -> Vectors:
    """As many numbers in double precision."""
    return Vectors(v.code, v.lanes, "double")


def _product(v: Vectors, x: str, y: Operand) -> tuple[str, str]:
    """x y, and what its rounding lost."""
    found = v.multiply(x, y)
    if v.fused:
        return found, v.call("fma", x, y, v.negative(found))
    # Halves of the digits, whose products are exact (Veltkamp, Dekker); |x| and |y| are at most 2^996.
    factor = float(2 ** (_KINDS[v.number].digits // 2 + 1) + 1)
    halves = []
    for z in (x, y):
        spread = v.multiply(z, factor)
        high = v.subtract(spread, v.subtract(spread, z))
        halves.append((high, v.subtract(z, high)))
    (a, b), (c, d) = halves
    lost = v.subtract(v.multiply(a, c), found)
    lost = v.add(v.add(v.add(lost, v.multiply(a, d)), v.multiply(b, c)), v.multiply(b, d))
    return found, lost


def _sum(v: Vectors, x: str, y: str) -> tuple[str, str]:
    """x + y, and what its rounding lost, for x that is 0 or not smaller than y (Dekker)."""
    found = v.add(x, y)
    return found, v.subtract(y, v.subtract(found, x))


def _reduced(v: Vectors, x: str) -> tuple[str, str]:
    """exp(r) - 1, and the integers n, for x = n log(2) + r."""
    kind, words = _KINDS[v.number], _words(v)
    shifted = v.call("fma", x, 1 / math.log(2), kind.magic)
    n = v.subtract(shifted, kind.magic)
    r = v.call("fma", n, -kind.log2[0], x)
    r = v.call("fma", n, -kind.log2[1], r)
    less = v.call("fma", v.polynomial(kind.exp, r), v.multiply(r, r), r)
    # The number is magic + n: the low bits are those of n.
    above = 8 * words.size - kind.digits + 1
    return less, words.two("ashr", words.two("shl", v.convert("bitcast", shifted, words), above), above)


def exp(v: Vectors, x: str, rest: str | None = None, times: str | None = None) -> str:
    """e^x, or e^(x + rest), or that times a factor (by one rounding less)."""
    kind, words = _KINDS[v.number], _words(v)
    x = v.choose("fcmp olt", x, kind.lowest, kind.lowest, x)
    x = v.choose("fcmp ogt", x, kind.highest, kind.highest, x)
    less, n = _reduced(v, x)
    if rest is not None:
        less = v.add(less, v.call("fma", less, rest, rest))
    half = words.two("ashr", n, 1)  # in two steps: 2^n may be too large, or too small
    first, second = _power_of_two(v, half), _power_of_two(v, words.subtract(n, half))
    if times is not None:
        first = v.multiply(first, times)
    return v.multiply(v.call("fma", less, first, first), second)


def expm1(v: Vectors, x: str) -> str:
    """e^x - 1, with all digits near 0."""
    kind = _KINDS[v.number]
    low = -2.0 * kind.digits
    y = v.choose("fcmp olt", x, low, low, x)
    y = v.choose("fcmp ogt", y, kind.highest, kind.highest, y)
    less, n = _reduced(v, y)
    scale = _power_of_two(v, _words(v).subtract(n, 1))  # half of it, since 2^n may be too large
    found = v.multiply(v.call("fma", less, scale, v.subtract(scale, 0.5)), 2.0)
    found = v.select(_words(v).two("icmp eq", n, 0), less, found)
    return v.call("copysign", found, x)


def _normal(v: Vectors, u: str) -> tuple[str, str]:
    """A number that is not subnormal, and the power of 2 that is missing."""
    kind = _KINDS[v.number]
    small = v.two("fcmp olt", u, kind.least)
    return v.select(small, v.multiply(u, 2.0**kind.lift), u), v.select(small, float(-kind.lift), 0.0)


def _parted(v: Vectors, u: str) -> tuple[str, str]:
    """Integers n and m between √½ and √2 for u = 2^n m: the bits of √½ are taken off, so that their exponent begins there."""
    kind, words = _KINDS[v.number], _words(v)
    bits = v.convert("bitcast", u, words)
    exponent = words.two("ashr", words.subtract(bits, _bits(kind, math.sqrt(0.5))), kind.digits)
    return exponent, words.convert("bitcast", words.subtract(bits, words.two("shl", exponent, kind.digits)), v)


def _logarithm(v: Vectors, u: str, rest: str | None, beyond: str | None = None) -> str:
    """log(u), or log(1 + x) where `rest` is x, and u is 1 + x rounded; u at least 0. beyond: log(2) times it is added."""
    kind, words = _KINDS[v.number], _words(v)
    given, lost = rest, None
    if given is None:
        u, beyond = _normal(v, u)
    else:
        large = v.two("fcmp oge", given, 1.0)
        lost = v.select(large, v.subtract(1.0, v.subtract(u, given)), v.subtract(given, v.subtract(u, 1.0)))
    exponent, m = _parted(v, u)
    n = words.convert("sitofp", exponent, v)
    f = v.subtract(m, 1.0)
    if given is not None and lost is not None:
        whole = words.two("icmp eq", exponent, 0)  # 1 + x needed no power: x itself has more digits
        f = v.select(whole, given, f)
        lost = v.select(whole, 0.0, v.divide(lost, u))
    if beyond is not None:
        n = v.add(n, beyond)
    half, r, s = _series(v, f)
    low = v.multiply(n, kind.log2[1]) if lost is None else v.call("fma", n, kind.log2[1], lost)
    # n log(2) + f - (f²/2 - s (f²/2 + r)), the small parts first
    part = v.subtract(half, v.call("fma", s, v.add(half, r), low))
    return v.call("fma", n, kind.log2[0], v.subtract(f, part))


def _series(v: Vectors, f: str) -> tuple[str, str, str]:
    """f²/2, r and s with log(1 + f) = f - (f²/2 - s (f²/2 + r))."""
    s = v.divide(f, v.add(f, 2.0))
    z = v.multiply(s, s)
    return v.multiply(v.multiply(f, f), 0.5), v.multiply(z, v.polynomial(_KINDS[v.number].log, z)), s


def _bits(kind: _Kind, x: float) -> int:
    code, word = ("<f", "<i") if kind.words == "i32" else ("<d", "<q")
    return int(struct.unpack(word, struct.pack(code, x))[0])


def _edges(v: Vectors, x: str, y: str, lowest: float, found: str) -> str:
    """A logarithm with what it is at the ends: -inf where x is `lowest`, nan below, inf at inf, nan at nan. y is not less
    than x."""
    found = v.choose("fcmp ult", y, math.inf, found, y)
    found = v.choose("fcmp uno", x, x, x, found)
    found = v.choose("fcmp olt", x, lowest, math.nan, found)
    return v.choose("fcmp oeq", x, lowest, -math.inf, found)


def log(v: Vectors, x: str) -> str:
    """The natural logarithm."""
    return _edges(v, x, x, 0.0, _logarithm(v, x, None))


def log1p(v: Vectors, x: str) -> str:
    """log(1 + x), with all digits near 0."""
    return v.call("copysign", _edges(v, x, x, -1.0, _logarithm(v, v.add(x, 1.0), x)), x)


_BASES = {  # 1 / log(base), and log(2) / log(base): numbers of few bits, and the rest
    ("log2", "float"): ((1.4423828125, 0.000312228396), (1.0, 0.0)),
    ("log2", "double"): ((1.4426950216293335, 1.9259629911266175e-08), (1.0, 0.0)),
    ("log10", "float"): ((0.434326171875, -3.16899714e-05), (0.301025390625, 4.60503907e-06)),
    ("log10", "double"): ((0.4342944771051407, 4.798111141615973e-09), (0.3010299956640665, -8.532344317057107e-14)),
}


def _based(name: str) -> Callable[[Vectors, str], str]:
    def logarithm(v: Vectors, x: str) -> str:
        kind, words = _KINDS[v.number], _words(v)
        (high, low), (power, rest) = _BASES[name, v.number]
        u, lifted = _normal(v, x)
        exponent, m = _parted(v, u)
        n = v.add(words.convert("sitofp", exponent, v), lifted)
        f = v.subtract(m, 1.0)
        half, r, s = _series(v, f)
        # log(1 + f) as a number of half the digits, whose products are exact, and the rest.
        bits = v.convert("bitcast", v.subtract(f, half), words)
        most = words.convert("bitcast", words.two("and", bits, -1 << (kind.digits + 2) // 2), v)
        least = v.call("fma", s, v.add(half, r), v.subtract(v.subtract(f, most), half))
        lower = v.call("fma", n, rest, v.multiply(v.add(least, most), low))
        found, lost = _sum(v, v.multiply(n, power), v.multiply(most, high))
        return _edges(v, x, x, 0.0, v.add(found, v.add(lost, v.call("fma", least, high, lower))))

    return logarithm


log2, log10 = _based("log2"), _based("log10")
log2.__doc__, log10.__doc__ = "The logarithm to base 2.", "The logarithm to base 10."


def logaddexp(v: Vectors, x: str, y: str) -> str:
    """log(e^x + e^y)."""
    larger, less = v.choose("fcmp ogt", x, y, x, y), v.negative(v.call("fabs", v.subtract(x, y)))
    found = v.add(larger, log1p(v, exp(v, less)))
    found = v.choose("fcmp oeq", x, y, v.add(x, math.log(2)), found)  # both may be infinite
    return v.choose("fcmp uno", x, y, math.nan, found)


def tanh(v: Vectors, x: str) -> str:
    """The hyperbolic tangent: t / (t + 2) with t = e^2|x| - 1, which has all its digits near 0."""
    kind = _KINDS[v.number]
    size = v.call("fabs", x)
    bounded = v.choose("fcmp ogt", size, kind.saturated, kind.saturated, size)
    less, n = _reduced(v, v.multiply(bounded, 2.0))
    scale = _power_of_two(v, n)
    t = v.call("fma", less, scale, v.subtract(scale, 1.0))
    return v.call("copysign", v.divide(t, v.add(t, 2.0)), x)


def _quarter(v: Vectors, size: str, less: float) -> str:
    """(e^|x| - less) / 4 up to where four times it is infinite."""
    most = _KINDS[v.number].highest + 0.5
    part, n = _reduced(v, v.choose("fcmp ogt", size, most, most, size))
    scale = _power_of_two(v, _words(v).subtract(n, 2))
    return v.call("fma", part, scale, v.subtract(scale, less / 4) if less else scale)


def sinh(v: Vectors, x: str) -> str:
    """The hyperbolic sine: with t = e^|x| - 1, half of t + t / (1 + t)."""
    size = v.call("fabs", x)
    t = _quarter(v, size, 1.0)
    found = v.multiply(v.add(t, v.divide(t, v.call("fma", t, 4.0, 1.0))), 2.0)
    found = v.choose("fcmp olt", size, 2.0 ** (-_KINDS[v.number].digits // 2), size, found)  # a fourth may be subnormal
    return v.choose("fcmp uno", x, x, x, v.call("copysign", found, x))


def cosh(v: Vectors, x: str) -> str:
    """The hyperbolic cosine: half of t + 1 / t, with t = e^|x|."""
    t = _quarter(v, v.call("fabs", x), 0.0)
    found = v.multiply(v.add(t, v.divide(1 / 16, t)), 2.0)
    return v.choose("fcmp uno", x, x, x, found)


def asinh(v: Vectors, x: str) -> str:
    """The inverse hyperbolic sine: log(1 + t), t = |x| + x² / (1 + √(1 + x²)), and log(2) + log|x| of large numbers."""
    size = v.call("fabs", x)
    large = v.two("fcmp ogt", size, 2.0**60)
    square = v.multiply(size, size)
    t = v.add(size, v.divide(square, v.add(v.call("sqrt", v.add(square, 1.0)), 1.0)))
    return v.call("copysign", _finite(v, size, _doubled(v, large, size, t)), x)


def acosh(v: Vectors, x: str) -> str:
    """The inverse hyperbolic cosine: log(1 + t), t = x - 1 + √((x - 1)² + 2 (x - 1))."""
    large = v.two("fcmp ogt", x, 2.0**60)
    less = v.subtract(x, 1.0)
    t = v.add(less, v.call("sqrt", v.call("fma", less, less, v.add(less, less))))
    return v.choose("fcmp olt", x, 1.0, math.nan, _finite(v, x, _doubled(v, large, x, t)))


def _doubled(v: Vectors, large: str, x: str, t: str) -> str:
    """log(2 x) where x is so large that 1 is nothing to it, and log(1 + t) elsewhere."""
    t = v.select(large, x, t)
    return _logarithm(v, v.add(t, 1.0), t, v.select(large, 1.0, 0.0))


def _finite(v: Vectors, x: str, found: str) -> str:
    """`found` where x is less than infinite, and x elsewhere."""
    return v.choose("fcmp olt", x, math.inf, found, x)


def atanh(v: Vectors, x: str) -> str:
    """The inverse hyperbolic tangent: half of log(1 + 2|x| / (1 - |x|))."""
    size = v.call("fabs", x)
    t = v.divide(v.add(size, size), v.subtract(1.0, size))
    found = v.multiply(_edges(v, t, t, -1.0, _logarithm(v, v.add(t, 1.0), t)), 0.5)
    return v.choose("fcmp ugt", size, 1.0, math.nan, v.call("copysign", found, x))


Halves = tuple[str, str, str]
"""How often π/2 is in a number, and sine and cosine of what is left."""


def sin(v: Vectors, x: str, halves: Halves) -> str:
    """The sine."""
    return _circular(v, x, "sin", halves)


def cos(v: Vectors, x: str, halves: Halves) -> str:
    """The cosine."""
    return _circular(v, x, "cos", halves)


def tan(v: Vectors, x: str, halves: Halves) -> str:
    """The tangent: the quotient of sine and cosine."""
    words = _words(v)
    quarters, odd, even = halves
    swapped = words.two("icmp ne", words.two("and", quarters, 1), 0)
    found = v.divide(v.select(swapped, even, odd), v.select(swapped, v.negative(odd), even))
    return v.choose("fcmp oeq", x, 0.0, x, found)


def _circular(v: Vectors, x: str, name: str, halves: Halves) -> str:
    words = _words(v)
    quarters, odd, even = halves
    if name == "cos":
        quarters = words.add(quarters, 1)
    swapped = words.two("icmp ne", words.two("and", quarters, 1), 0)
    found = v.select(swapped, even, odd)
    turned = words.two("shl", words.two("lshr", quarters, 1), 8 * words.size - 1)
    found = words.convert("bitcast", words.two("xor", v.convert("bitcast", found, words), turned), v)
    return v.choose("fcmp oeq", x, 0.0, x, found) if name == "sin" else found


def halves(v: Vectors, x: str) -> Halves:
    """What sine, cosine and tangent of x are made of."""
    kind = _KINDS[v.number]
    near, rest = _turned(v, x)
    limit = kind.angles if v.fused else _SPLIT_ANGLES
    quarters, r = rarely(
        v, v.two("fcmp ogt", v.call("fabs", x), limit), (near, rest), lambda: _far(v, x, limit), (_words(v), v)
    )
    z = v.multiply(r, r)
    odd = v.call("fma", v.multiply(v.polynomial(kind.sin, z), z), r, r)
    return quarters, odd, v.call("fma", v.call("fma", v.polynomial(kind.cos, z), z, -0.5), z, 1.0)


_SPLIT_ANGLES = 1e6  # up to here a multiple of the first two of
_SPLIT = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21  # π/2 in parts of 33 bits is exact


def _turned(v: Vectors, x: str) -> tuple[str, str]:
    """An integer n, and x - n π/2."""
    kind, words = _KINDS[v.number], _words(v)
    if v.fused:
        shifted = v.call("fma", x, 2 / math.pi, kind.magic)
        n, r = v.subtract(shifted, kind.magic), x
        for part in kind.quarter:
            r = v.call("fma", n, -part, r)
        return v.convert("bitcast", shifted, words), r
    wide = _wide(v)
    y = v.convert("fpext", x, wide) if v.number == "float" else x
    shifted = wide.add(wide.multiply(y, 2 / math.pi), _KINDS["double"].magic)
    n = wide.subtract(shifted, _KINDS["double"].magic)
    long = Vectors(v.code, v.lanes, "i64")
    quarters = wide.convert("bitcast", shifted, long)
    first, second, third = _SPLIT
    r, w = wide.subtract(y, wide.multiply(n, first)), wide.multiply(n, second)
    found = wide.subtract(r, w)
    # What the rounding of r - w lost (Knuth), and the third part.
    back = wide.subtract(found, r)
    lost = wide.subtract(wide.subtract(r, wide.subtract(found, back)), wide.add(w, back))
    found = wide.add(found, wide.subtract(lost, wide.multiply(n, third)))
    if v.number == "double":
        return quarters, found
    return long.convert("trunc", quarters, words), wide.convert("fptrunc", found, v)


def _far(v: Vectors, x: str, limit: float) -> tuple[str, str]:
    """`_turned` of numbers beyond a limit, one by one; of others something."""
    code, words = v.code, _words(v)
    for line in _quarters():
        code.declare(line)
    size = v.choose("fcmp ogt", v.call("fabs", x), limit, x, limit)
    quarters, rest = words.constant(0), v.constant(0.0)
    for lane in range(v.lanes):
        one = code.value(f"extractelement {v.type} {size}, i64 {lane}")
        if v.number == "float":
            one = code.value(f"fpext float {one} to double")
        both = code.value(f"call {{ i64, double }} @quarters_of(double {one})")
        n, r = (code.value(f"extractvalue {{ i64, double }} {both}, {k}") for k in (0, 1))
        if v.number == "float":
            n, r = code.value(f"trunc i64 {n} to i32"), code.value(f"fptrunc double {r} to float")
        quarters = code.value(f"insertelement {words.type} {quarters}, {words.number} {n}, i64 {lane}")
        rest = code.value(f"insertelement {v.type} {rest}, {v.number} {r}, i64 {lane}")
    return quarters, v.add(rest, v.subtract(x, x))  # nan where x is infinite


def _binary_pi(bits: int) -> int:
    """π 2^bits, by Machin's formula."""

    def arctangent(inverse: int) -> int:
        term = total = (1 << bits + 16) // inverse
        for k in range(3, bits + 16, 2):
            term //= -inverse * inverse
            total += term // k
        return total

    return 4 * (4 * arctangent(5) - arctangent(239)) >> 16


@functools.cache
def _quarters() -> tuple[str, ...]:
    """The function @quarters_of: of a finite double of 1 and more, how often π/2 is in it (what counts of it: modulo 4), and
    what is left.

    The number is m 2^e, with an integer m of 53 bits. The 192 bits of 2/π that are kept are those whose products with it are
    neither multiples of 4 nor too small to matter: 64 bits would be left of the remainder that is the nearest to 0 of all.
    """
    ahead, words = 128, 24  # zeros before the digits of 2/π, and how many words there are
    digits = (2 << 2 * 64 * words) // _binary_pi(64 * words) >> ahead
    table = [digits >> 64 * (words - 1 - k) & (1 << 64) - 1 for k in range(words)]
    half = (_binary_pi(128) >> 66) & (1 << 64) - 1  # π/2 by 2^63, as all 64 bits
    body = f"""define internal {{ i64, double }} @quarters_of(double %x) #0 {{
  %bits = bitcast double %x to i64
  %above = lshr i64 %bits, 52
  %biased = and i64 %above, 2047
  %fraction = and i64 %bits, {(1 << 52) - 1}
  %m = or i64 %fraction, {1 << 52}
  %from = add i64 %biased, {ahead - 1075 - 2}
  %word = lshr i64 %from, 6
  %shift = and i64 %from, 63
  %p0 = getelementptr inbounds [{words} x i64], ptr @quarters_digits, i64 0, i64 %word
  %p1 = getelementptr inbounds i64, ptr %p0, i64 1
  %p2 = getelementptr inbounds i64, ptr %p0, i64 2
  %p3 = getelementptr inbounds i64, ptr %p0, i64 3
  %a = load i64, ptr %p0
  %b = load i64, ptr %p1
  %c = load i64, ptr %p2
  %d = load i64, ptr %p3
  %w2 = call i64 @llvm.fshl.i64(i64 %a, i64 %b, i64 %shift)
  %w1 = call i64 @llvm.fshl.i64(i64 %b, i64 %c, i64 %shift)
  %w0 = call i64 @llvm.fshl.i64(i64 %c, i64 %d, i64 %shift)
  %wm = zext i64 %m to i128
  %v0 = zext i64 %w0 to i128
  %v1 = zext i64 %w1 to i128
  %v2 = zext i64 %w2 to i128
  %m0 = mul i128 %wm, %v0
  %m1 = mul i128 %wm, %v1
  %m2 = mul i128 %wm, %v2
  %carried = lshr i128 %m0, 64
  %low = add i128 %m1, %carried
  %high = shl i128 %m2, 64
  %all = add i128 %high, %low
  %eighth = add i128 %all, {1 << 125}
  %count = lshr i128 %eighth, 126
  %n = trunc i128 %count to i64
  %signed = shl i128 %all, 2
  %below = icmp slt i128 %signed, 0
  %opposite = sub i128 0, %signed
  %size = select i1 %below, i128 %opposite, i128 %signed
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %kept = and i128 %zeros, 127
  %full = shl i128 %size, %kept
  %top = lshr i128 %full, 64
  %angle = mul i128 %top, {half}
  %upper = lshr i128 %angle, 64
  %word64 = trunc i128 %upper to i64
  %number = uitofp i64 %word64 to double
  %less = trunc i128 %kept to i64
  %exponent = sub i64 {1023 - 63}, %less
  %scale = shl i64 %exponent, 52
  %power = bitcast i64 %scale to double
  %r = fmul double %number, %power
  %negative = icmp slt i64 %bits, 0
  %turn = xor i1 %negative, %below
  %minus = fneg double %r
  %rest = select i1 %turn, double %minus, double %r
  %back = sub i64 0, %n
  %quarters = select i1 %negative, i64 %back, i64 %n
  %one = insertvalue {{ i64, double }} poison, i64 %quarters, 0
  %both = insertvalue {{ i64, double }} %one, double %rest, 1
  ret {{ i64, double }} %both
}}"""
    listed = ", ".join(f"i64 {x}" for x in table)
    return (
        f"@quarters_digits = internal constant [{words} x i64] [{listed}]",
        "declare i64 @llvm.fshl.i64(i64, i64, i64)", "declare i128 @llvm.ctlz.i128(i128, i1)", body,
    )  # fmt: skip


def rarely(
    v: Vectors, mask: str, found: Sequence[str], otherwise: Callable[[], Sequence[str]], kinds: Sequence[Vectors]
) -> list[str]:  # fmt: skip
    """otherwise() where the mask is set, which is computed if some lane of it is, and `found` elsewhere: vectors of some
    kinds."""
    code = v.code
    bits = code.value(f"bitcast {v.mask} {mask} to i{v.lanes}")
    some = code.value(f"icmp ne i{v.lanes} {bits}, 0")
    n = code.fresh()
    code.do(f"br label %near{n}")
    code.label(f"near{n}")
    code.do(f"br i1 {some}, label %far{n}, label %all{n}")
    code.label(f"far{n}")
    others = [kind.select(mask, other, x) for kind, other, x in zip(kinds, otherwise(), found, strict=True)]
    code.do(f"br label %leave{n}")
    code.label(f"leave{n}")
    code.do(f"br label %all{n}")
    code.label(f"all{n}")
    return [
        code.value(f"phi {kind.type} [ {x}, %near{n} ], [ {other}, %leave{n} ]")
        for kind, other, x in zip(kinds, others, found, strict=True)
    ]


# ------------------------------------------------------------------------------------------ the error function

_ERF = {
    "float": (
        0.9, 4.0,
        (0.128379166, -0.376126289, 0.112836242, -0.02685556, 0.00519175315, -0.000803975272, 7.94310035e-05),
        (-0.000169204548, 1.12948835, 0.633401096, 0.108219951, -0.025080217, 0.00415605213, -0.000431339926, 2.0822843e-05),
    ),
    "double": (
        1.0, 6.0,
        (0.12837916709551256, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777, 0.0052239776071164225,
         -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05, 1.6447424703317362e-06,
         -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10),
        (1.0740069070883398, -0.8833944531698836, 0.5902283571041034, -0.31046726190055846, 0.11952776128708652,
         -0.02682723462533429, -0.0012124166174802505, 0.003034062042182937, -0.0005483098944013238, -0.00027677886189937895,
         0.00010756316443953365, 3.0411157010566973e-05, -1.746894237536358e-05, -4.828388531106216e-06,
         2.6652494134144984e-06, 1.1509446618286097e-06),
    ),
}  # fmt: skip
"""Where the formula changes, from where on the function is 1, erf(√z) / √z - 1 below, and above: of float32
-log(1 - erf(x)), of float64 (x + 3) exp(x²) (1 - erf(x)) by (x - 3) / (x + 3)."""


def erf(v: Vectors, x: str) -> str:
    """The error function."""
    split, limit, below, above = _ERF[v.number]
    size = v.call("fabs", x)
    near = v.call("fma", v.polynomial(below, v.multiply(size, size)), size, size)
    bounded = v.choose("fcmp ogt", size, limit, limit, size)
    if v.number == "float":
        less, scale = v.exp(v.subtract(0.0, v.polynomial(above, bounded)))
        far = v.call("fma", v.subtract(0.0, less), scale, v.subtract(1.0, scale))
    else:
        shifted = v.add(bounded, 3.0)
        t = v.divide(v.subtract(bounded, 3.0), shifted)
        power = exp(v, v.subtract(0.0, v.multiply(bounded, bounded)))
        far = v.subtract(1.0, v.multiply(power, v.divide(v.polynomial(above, t), shifted)))
    return v.call("copysign", v.choose("fcmp olt", size, split, near, far), x)


_DECAY = (
    0.128379172, 0.636619388, 0.102777822, -0.0191533422, -0.000159192993, 0.00166516683, -0.000631509437, 0.000117198538,
    -9.20052592e-06,
)  # fmt: skip
"""-log(1 - erf(x)) / x - 1, to 4."""


def one_and_erf(v: Vectors, x: str) -> str:
    """1 + erf(x) of float32 numbers, rounded as the two are: by one formula for all numbers, whose erf is off by 1.6 units,
    which are a tenth of one of the sum's where erf is small, and half of one elsewhere."""
    size = v.call("fabs", x)
    bounded = v.choose("fcmp ogt", size, 4.0, 4.0, size)
    less, scale = v.exp(v.subtract(0.0, v.call("fma", v.polynomial(_DECAY, bounded), bounded, bounded)))
    found = v.call("fma", v.subtract(0.0, less), scale, v.subtract(1.0, scale))
    return v.add(v.call("copysign", found, x), 1.0)


_ERFC = {
    "float": (
        2.0, (1.02158272, -0.68716073, 0.279471129, -0.0364411846, -0.0214956552, 0.00646794587, 0.00300868857,
              -0.000797502755, -0.00048244241),
    ),
    "double": (
        3.0,
        (1.0740069070883398, -0.8833944531698836, 0.5902283571041098, -0.31046726190056967, 0.11952776128678855,
         -0.02682723462422497, -0.0012124166150570645, 0.003034061993494386, -0.0005483098411544717, -0.00027677773799712974,
         0.0001075625433563833, 3.03973210219574e-05, -1.7475131848342595e-05, -4.74531556013062e-06, 2.777669257860112e-06,
         9.877666779004081e-07, -4.281366959945388e-07, -2.143813277074628e-07, 6.490054364299035e-08, 3.2032348259759644e-08,
         -9.287434384122197e-09),
    ),
}  # fmt: skip
"""k, and (x + k) exp(x²) erfc(x) by (x - k) / (x + k), for x from 0.47 to where it is 0."""


def erfc(v: Vectors, x: str) -> str:
    """1 - erf(x); of float32 numbers in double precision where products are rounded, for it would be off by 4.1 units."""
    if v.number == "float" and not v.fused:
        wide = _wide(v)
        return wide.convert("fptrunc", erfc(wide, v.convert("fpext", x, wide)), v)
    below = _ERF[v.number][2]
    k, above = _ERFC[v.number]
    limit = 11.0 if v.number == "float" else 28.0
    near = v.subtract(1.0, v.call("fma", v.polynomial(below, v.multiply(x, x)), x, x))
    size = v.call("fabs", x)
    bounded = v.choose("fcmp ogt", size, limit, limit, size)
    shifted = v.add(bounded, k)
    square, lost = _product(v, bounded, bounded)
    quotient = v.divide(v.polynomial(above, v.divide(v.subtract(bounded, k), shifted)), shifted)
    far = exp(v, v.negative(square), v.negative(lost), quotient)
    far = v.choose("fcmp olt", x, 0.0, v.subtract(2.0, far), far)
    return v.choose("fcmp uno", x, x, x, v.choose("fcmp olt", size, 0.75, near, far))


# ------------------------------------------------------------------------------------------ angles, powers

_ATAN = {
    "float": (
        (0.7853981852531433, -2.1855695000931213e-08),
        (-0.333333333, 0.199999772, -0.142841488, 0.110713214, -0.0862435084, 0.0504729927),
    ),
    "double": (
        (0.7853981633974483, 3.061616997868383e-17),
        (-0.3333333333333333, 0.19999999999999804, -0.1428571428565962, 0.11111111105135144, -0.0909090875249078,
         0.07692296345833015, -0.06666424361404927, 0.05878922970309668, -0.052304098866177415, 0.045513908032899016,
         -0.03456535729190067, 0.01627999005782057),
    ),
}  # fmt: skip
"""π/4 and the rest of it; (atan(t) - t) / t³ by t², for t up to tan(π/8)."""


def atan2(v: Vectors, y: str, x: str) -> str:
    """The angle of the point (x, y), from -π to π: by the quotient of the smaller and the larger coordinate, turned by π/4
    where it is above tan(π/8)."""
    quarter, coefficients = _ATAN[v.number]
    words = _words(v)
    a, b = v.call("fabs", x), v.call("fabs", y)
    steep = v.two("fcmp ogt", b, a)
    small, big = v.select(steep, a, b), v.select(steep, b, a)
    least, most = (2.0**-100, 2.0**100) if v.number == "float" else (2.0**-900, 2.0**900)
    scale = v.choose("fcmp ogt", big, most, least, v.choose("fcmp olt", big, least, most, 1.0))
    small, big = v.multiply(small, scale), v.multiply(big, scale)
    turned = v.two("fcmp ogt", small, v.multiply(big, math.tan(math.pi / 8)))
    above = v.select(turned, v.subtract(small, big), small)
    above = v.choose("fcmp oeq", small, big, 0.0, above)  # both may be infinite, or 0
    below = v.select(turned, v.add(small, big), big)
    below = v.choose("fcmp oeq", below, 0.0, 1.0, below)
    t = v.divide(above, below)
    z = v.multiply(t, t)
    found = v.call("fma", v.multiply(v.polynomial(coefficients, z), z), t, t)
    turns = v.select(turned, 1.0, 0.0)
    turns = v.choose("fcmp oeq", small, big, v.choose("fcmp oeq", big, 0.0, 0.0, 1.0), turns)
    turns, found = v.select(steep, v.subtract(2.0, turns), turns), v.select(steep, v.subtract(0.0, found), found)
    behind = words.two("icmp slt", v.convert("bitcast", x, words), 0)
    turns = v.select(behind, v.subtract(4.0, turns), turns)
    found = v.select(behind, v.subtract(0.0, found), found)
    found = v.call("fma", turns, quarter[0], v.call("fma", turns, quarter[1], found))
    return v.choose("fcmp uno", x, y, math.nan, v.call("copysign", found, y))


def atan(v: Vectors, x: str) -> str:
    """The arc tangent."""
    return atan2(v, x, v.constant(1.0))


_ASIN = {
    "float": (
        (1.5707963705062866, -4.371138828673793e-08),
        (0.166666985, 0.0749698803, 0.0452920906, 0.0249504559, 0.0409889929),
    ),
    "double": (
        (1.5707963267948966, 6.123233995736766e-17),
        (0.16666666666666566, 0.07500000000088976, 0.044642857010574896, 0.030381952404660285, 0.022371904097677798,
         0.017357693005213764, 0.01390354035716963, 0.012057682190808649, 0.006978440125558304, 0.018370645148718976,
         -0.01451025403282865, 0.03079908453378485),
    ),
}  # fmt: skip
"""π/2 and the rest of it; (asin(s) - s) / s³ by s², for s up to ½."""


def _arc(v: Vectors, x: str) -> tuple[str, str, str]:
    """Where |x| is above ½; s, which is √((1 - |x|) / 2) there and |x| elsewhere, and asin(s)."""
    size = v.call("fabs", x)
    large = v.two("fcmp ogt", size, 0.5)
    half = v.multiply(v.subtract(1.0, size), 0.5)
    z = v.select(large, half, v.multiply(size, size))
    s = v.select(large, v.call("sqrt", half), size)
    return large, s, v.call("fma", v.multiply(v.polynomial(_ASIN[v.number][1], z), z), s, s)


def asin(v: Vectors, x: str) -> str:
    """The arc sine: of numbers above ½, π/2 - 2 asin(√((1 - x) / 2))."""
    (quarter, rest), _ = _ASIN[v.number]
    large, _, found = _arc(v, x)
    found = v.select(large, v.subtract(quarter, v.subtract(v.add(found, found), rest)), found)
    return v.call("copysign", found, x)


def acos(v: Vectors, x: str) -> str:
    """The arc cosine: of numbers above ½, 2 asin(√((1 - x) / 2))."""
    (quarter, rest), _ = _ASIN[v.number]
    large, _, found = _arc(v, x)
    twice = v.add(found, found)
    behind = v.choose("fcmp olt", x, 0.0, v.subtract(2 * quarter, v.subtract(twice, 2 * rest)), twice)
    return v.select(large, behind, v.subtract(quarter, v.subtract(v.call("copysign", found, x), rest)))


def hypot(v: Vectors, x: str, y: str) -> str:
    """√(x² + y²)."""
    a, b = (v.call("fabs", z) for z in (x, y))
    if v.number == "float":
        wide = _wide(v)
        p, q = (v.convert("fpext", z, wide) for z in (a, b))
        found = wide.convert("fptrunc", wide.call("sqrt", wide.call("fma", p, p, wide.multiply(q, q))), v)
    else:
        big = v.choose("fcmp ogt", a, b, a, b)
        large, small = v.two("fcmp ogt", big, 2.0**500), v.two("fcmp olt", big, 2.0**-500)
        scale = v.select(large, 2.0**-600, v.select(small, 2.0**600, 1.0))
        back = v.select(large, 2.0**600, v.select(small, 2.0**-600, 1.0))
        p, q = v.multiply(a, scale), v.multiply(b, scale)
        found = v.multiply(v.call("sqrt", v.call("fma", p, p, v.multiply(q, q))), back)
    for z in (a, b):
        found = v.choose("fcmp oeq", z, math.inf, math.inf, found)  # also beside nan
    return found


_POWER = (
    0.4000000000000021, 0.28571428571005136, 0.2222222237041593, 0.18181796529371044, 0.15386233717114053,
    0.1326826859693982, 0.13096083821847318,
)  # fmt: skip
"""(2 artanh(s) - 2 s - ⅔ s³) / s⁵ by s², for s up to (√2 - 1) / (√2 + 1)."""


def _raised(v: Vectors, x: str, y: str) -> str:
    """x^y of doubles above 0: the logarithm, in twice the digits, times y."""
    kind, words = _KINDS[v.number], _words(v)
    u, lifted = _normal(v, x)
    exponent, m = _parted(v, u)
    n = v.add(words.convert("sitofp", exponent, v), lifted)
    # s + rest = (m - 1) / (m + 1)
    f, d = v.subtract(m, 1.0), v.add(m, 1.0)
    lost = v.subtract(m, v.subtract(d, 1.0))
    inverse = v.divide(1.0, d)
    s = v.multiply(f, inverse)
    product, error = _product(v, s, d)
    left = v.subtract(v.subtract(v.subtract(f, product), error), v.multiply(s, lost))
    rest = v.multiply(left, inverse)
    # 2 s + ⅔ s³ + s⁵ (...)
    z, zl = _product(v, s, s)
    zl = v.call("fma", v.add(s, s), rest, zl)
    c, cl = _product(v, z, 2 / 3)
    cl = v.call("fma", zl, 2 / 3, v.call("fma", z, 3.700743415417188e-17, cl))
    cube, cubel = _product(v, s, c)
    cubel = v.call("fma", s, cl, v.call("fma", rest, c, cubel))
    tail = v.multiply(v.multiply(z, v.multiply(z, s)), v.polynomial(_POWER, z))
    log, low = _sum(v, v.add(s, s), cube)
    low = v.add(low, v.call("fma", rest, 2.0, v.add(cubel, tail)))
    # n log(2) + that
    log, error = _sum(v, v.multiply(n, kind.log2[0]), log)
    log, low = _sum(v, log, v.add(error, v.call("fma", n, kind.log2[1], low)))
    y = v.choose("fcmp ogt", y, 2.0**64, 2.0**64, v.choose("fcmp olt", y, -(2.0**64), -(2.0**64), y))
    high, more = _product(v, log, y)
    more = v.call("fma", low, y, more)
    found = exp(v, high, v.choose("fcmp olt", v.call("fabs", high), 1000.0, more, 0.0))
    found = v.choose("fcmp oeq", x, 0.0, v.choose("fcmp ogt", y, 0.0, 0.0, math.inf), found)
    return v.choose("fcmp oeq", x, math.inf, v.choose("fcmp ogt", y, 0.0, math.inf, 0.0), found)


_SINGLE_LOG = 0.6666666667052026, 0.3999999705333538, 0.2857197972692193, 0.2218097820291513, 0.1952164776611948
"""(2 artanh(s) - 2 s) / s³ by s², as for `log`, to 44 bits."""
_SINGLE_EXP = (
    0.5000000056441958, 0.16666665829592947, 0.0416663216353786, 0.00833350951532492, 0.001394317983416853,
    0.0001978235526283777,
)  # fmt: skip
"""(exp(r) - 1 - r) / r², as for `exp`, to 34 bits."""


def _raised_singly(v: Vectors, x: str, y: str) -> str:
    """x^y of doubles that are float32 numbers, x at least 0: as exact as to be rounded to float32."""
    words = _words(v)
    exponent, m = _parted(v, x)
    f = v.subtract(m, 1.0)
    s = v.divide(f, v.add(f, 2.0))
    z = v.multiply(s, s)
    log = v.call("fma", v.multiply(s, z), v.polynomial(_SINGLE_LOG, z), v.add(s, s))
    log = v.call("fma", words.convert("sitofp", exponent, v), math.log(2), log)
    log = v.choose("fcmp oeq", x, 0.0, -math.inf, v.choose("fcmp oeq", x, math.inf, x, log))
    power = v.multiply(y, log)
    power = v.choose("fcmp olt", power, -110.0, -110.0, v.choose("fcmp ogt", power, 90.0, 90.0, power))
    shifted = v.call("fma", power, 1 / math.log(2), _KINDS["double"].magic)
    r = v.call("fma", v.subtract(shifted, _KINDS["double"].magic), -math.log(2), power)
    less = v.call("fma", v.polynomial(_SINGLE_EXP, r), v.multiply(r, r), r)
    # The low bits of the shifted number are those of n, which becomes the exponent.
    scale = words.two("shl", words.add(v.convert("bitcast", shifted, words), 1023), 52)
    scale = words.convert("bitcast", scale, v)
    return v.call("fma", less, scale, scale)


def power(v: Vectors, x: str, y: str) -> str:
    """x^y, as C's; of float32 numbers with the logarithm and the exponential in double precision, so that it is rounded
    once."""
    size = v.call("fabs", x)
    if v.number == "float":
        wide = _wide(v)
        a, b = (v.convert("fpext", z, wide) for z in (size, y))
        found = wide.convert("fptrunc", _raised_singly(wide, a, b), v)
    else:
        found = _raised(v, size, y)
    whole = v.two("fcmp oeq", v.call("rint", y), y)
    half = v.multiply(y, 0.5)
    odd = v.code.value(f"and {v.mask} {whole}, {v.two('fcmp one', v.call('rint', half), half)}")
    found = v.choose("fcmp oeq", size, 1.0, 1.0, found)  # also where the exponent is infinite
    found = v.choose("fcmp uno", x, y, math.nan, found)
    found = v.select(odd, v.call("copysign", found, x), found)
    lost = v.code.value(f"and {v.mask} {v.two('fcmp olt', x, 0.0)}, {v.two('fcmp ogt', x, -math.inf)}")
    lost = v.code.value(f"and {v.mask} {lost}, {v.two('fcmp one', v.call('rint', y), y)}")
    found = v.select(lost, math.nan, found)
    found = v.choose("fcmp oeq", y, 0.0, 1.0, found)
    return v.choose("fcmp oeq", x, 1.0, 1.0, found)


# ------------------------------------------------------------------------------------------ remainders, neighbours


def _left(v: Vectors, x: str, y: str) -> str:
    """What division of x by y leaves, with the sign of x: exactly. Quotients too large for that go to the C library."""
    kind = _KINDS[v.number]
    if v.number == "float" and not v.fused:
        wide = _wide(v)
        found = _left(wide, v.convert("fpext", x, wide), v.convert("fpext", y, wide))
        return wide.convert("fptrunc", found, v)
    a, b = (v.call("fabs", z) for z in (x, y))
    quotient = v.divide(a, b)
    q = v.call("trunc", quotient)
    if v.fused:
        r = v.call("fma", v.negative(q), b, a)
    else:
        product, error = _product(v, q, b)
        r = v.subtract(v.subtract(a, product), error)
    r = v.choose("fcmp olt", r, 0.0, v.add(r, b), r)
    r = v.choose("fcmp oge", r, b, v.subtract(r, b), r)
    r = v.choose("fcmp oeq", b, math.inf, a, r)
    far = v.two("fcmp oge", quotient, 2.0 ** (kind.digits - 1))
    if not v.fused:  # the products of halves would be infinite, or subnormal
        larger = v.choose("fcmp ogt", a, b, a, b)
        ends = v.code.value(f"or {v.mask} {v.two('fcmp ogt', larger, 2.0**990)}, {v.two('fcmp olt', b, 2.0**-900)}")
        far = v.code.value(f"or {v.mask} {far}, {ends}")
    (r,) = rarely(v, far, [r], lambda: [v.two("frem", a, b)], [v])
    r = v.choose("fcmp oeq", a, math.inf, math.nan, v.choose("fcmp oeq", b, 0.0, math.nan, r))
    return v.call("copysign", r, x)


def _turned_over(v: Vectors, y: str, left: str) -> str:
    """Where what is left has another sign than y, and is not 0."""
    other = v.two("fcmp olt", v.call("copysign", 1.0, left), 0.0)
    below = v.two("fcmp olt", y, 0.0)
    differ = v.code.value(f"xor {v.mask} {other}, {below}")
    return v.code.value(f"and {v.mask} {differ}, {v.two('fcmp une', left, 0.0)}")


def remainder(v: Vectors, x: str, y: str) -> str:
    """What division by y leaves, with the sign of y, as Python's x % y."""
    left = _left(v, x, y)
    found = v.select(_turned_over(v, y, left), v.add(left, y), left)
    return v.choose("fcmp oeq", left, 0.0, v.call("copysign", 0.0, y), found)


def floor_divide(v: Vectors, x: str, y: str) -> str:
    """The integer below x / y, as Python's x // y; by 0, x / y."""
    left, quotient = _left(v, x, y), v.divide(x, y)
    whole = v.divide(v.subtract(x, left), y)
    whole = v.select(_turned_over(v, y, left), v.subtract(whole, 1.0), whole)
    below = v.call("floor", whole)
    found = v.select(v.two("fcmp ogt", v.subtract(whole, below), 0.5), v.add(below, 1.0), below)
    found = v.choose("fcmp oeq", whole, 0.0, v.call("copysign", 0.0, quotient), found)
    return v.choose("fcmp oeq", y, 0.0, quotient, found)


def nextafter(v: Vectors, x: str, y: str) -> str:
    """The number after x on the way to y."""
    words = _words(v)
    up = v.code.value(f"xor {v.mask} {v.two('fcmp olt', x, y)}, {v.two('fcmp olt', x, 0.0)}")
    next = words.add(v.convert("bitcast", x, words), words.select(up, 1, -1))
    found = words.convert("bitcast", next, v)
    least = words.convert("bitcast", words.constant(1), v)
    found = v.choose("fcmp oeq", x, 0.0, v.call("copysign", least, y), found)
    found = v.choose("fcmp oeq", x, y, y, found)
    return v.choose("fcmp uno", x, y, v.add(x, y), found)


def signbit(v: Vectors, x: str) -> str:
    """Whether there is a minus before a number, 0 and nan included."""
    words = _words(v)
    return words.two("icmp slt", v.convert("bitcast", x, words), 0)


FUNCTIONS = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "log2": log2, "log10": log10, "tanh": tanh, "sinh": sinh,
    "cosh": cosh, "asinh": asinh, "acosh": acosh, "atanh": atanh, "erf": erf, "erfc": erfc, "atan": atan, "asin": asin,
    "acos": acos,
}  # fmt: skip
"""By the names of the array-API standard and SciPy."""

CIRCULAR = {"sin": sin, "cos": cos, "tan": tan}
"""Those that are made of `halves`, which are the same for all of them."""

OF_TWO = {
    "atan2": atan2, "pow": power, "hypot": hypot, "logaddexp": logaddexp, "remainder": remainder, "floor_divide": floor_divide,
    "nextafter": nextafter,
}  # fmt: skip
"""Those of two numbers."""
