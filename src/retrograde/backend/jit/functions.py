"""Functions of vectors of float32 and float64 numbers: exponentials, logarithms, powers, circular functions, the error
function.

Each is off by at most two and a half units in the last place over the whole range (by one, most), with infinities, nan,
signed zeros and subnormal numbers as in C. The polynomials are our own near-minimax fits (Chebyshev's) in 60 digits; the
reductions are the usual ones: powers of 2 taken out of exponentials and logarithms, multiples of π/2 out of angles by three
fused multiply-adds. Angles too large for that, which nobody has in numbers of this kind but by accident, go to the C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .vectors import Vectors


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
    near: tuple[float, ...]  # (tanh(x) - x) / x³ by x², to 0.625
    exp: tuple[float, ...]  # (exp(r) - 1 - r) / r² for |r| up to log(2) / 2
    log: tuple[float, ...]  # (2 artanh(s) - 2 s) / s³ by s², for s = f / (2 + f), 1 + f from √½ to √2
    sin: tuple[float, ...]  # (sin(r) - r) / r³ by r², to π/4
    cos: tuple[float, ...]  # (cos(r) - 1 + r²/2) / r⁴ by r²


_KINDS = {
    "float": _Kind(
        "i32", 23, 127, 1.5 * 2**23, (0.693359375, -2.12194440e-4),
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15), 65536.0, -104.0, 89.0, 2.0**-126, 25, 10.0,
        (-0.333333332, 0.133333036, -0.0539592596, 0.0217689187, -0.00834394552, 0.00229274482),
        (0.49999994, 0.166665211, 0.041668389, 0.00836871006, 0.00138146104),
        (0.666666665, 0.400001256, 0.28550397, 0.233419434),
        (-0.166666667, 0.00833333179, -0.000198400389, 2.72437814e-6),
        (0.0416666667, -0.00138888876, 2.48005604e-5, -2.72958308e-7),
    ),
    "double": _Kind(
        "i64", 52, 1023, 1.5 * 2**52, (0.6931471803691238, 1.9082149292705877e-10),
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33), 2.0**26, -746.0, 710.0, 2.0**-1022, 54, 20.0,
        (-0.3333333333333333, 0.13333333333333042, -0.05396825396789699, 0.021869488519008305, -0.008863235103240878,
         0.0035921217511549622, -0.0014557754120478055, 0.0005896606577757043, -0.0002375906496055562,
         9.257116129556769e-05, -3.12011014257974e-05, 6.485163482793113e-06),
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


def exp(v: Vectors, x: str) -> str:
    """e^x."""
    kind, words = _KINDS[v.number], _words(v)
    x = v.choose("fcmp olt", x, kind.lowest, kind.lowest, x)
    x = v.choose("fcmp ogt", x, kind.highest, kind.highest, x)
    less, n = _reduced(v, x)
    half = words.two("ashr", n, 1)  # in two steps: 2^n may be too large, or too small
    first, second = _power_of_two(v, half), _power_of_two(v, words.subtract(n, half))
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


def _logarithm(v: Vectors, u: str, rest: str | None, x: str) -> str:
    """log(u), or log(1 + x) where `rest` is 1 + x - u; u at least 0."""
    kind, words = _KINDS[v.number], _words(v)
    lifted = None
    if rest is None:
        small = v.two("fcmp olt", u, kind.least)
        lifted = v.select(small, float(-kind.lift), 0.0)
        u = v.select(small, v.multiply(u, 2.0**kind.lift), u)
    bits = v.convert("bitcast", u, words)
    # n so that m = u / 2^n lies between √½ and √2: the bits of √½ are taken off, so that their exponent begins there.
    root = _bits(kind, math.sqrt(0.5))
    exponent = words.two("ashr", words.subtract(bits, root), kind.digits)
    m = words.convert("bitcast", words.subtract(bits, words.two("shl", exponent, kind.digits)), v)
    n = words.convert("sitofp", exponent, v)
    f = v.subtract(m, 1.0)
    if rest is not None:
        whole = words.two("icmp eq", exponent, 0)  # 1 + x needed no power: x itself has more digits
        f = v.select(whole, x, f)
        rest = v.select(whole, 0.0, v.divide(rest, u))
    if lifted is not None:
        n = v.add(n, lifted)
    s = v.divide(f, v.add(f, 2.0))
    z = v.multiply(s, s)
    r = v.multiply(z, v.polynomial(kind.log, z))
    half = v.multiply(v.multiply(f, f), 0.5)
    low = v.multiply(n, kind.log2[1]) if rest is None else v.call("fma", n, kind.log2[1], rest)
    # n log(2) + f - (f²/2 - s (f²/2 + r)), the small parts first
    part = v.subtract(half, v.call("fma", s, v.add(half, r), low))
    return v.call("fma", n, kind.log2[0], v.subtract(f, part))


def _bits(kind: _Kind, x: float) -> int:
    import struct

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
    return _edges(v, x, x, 0.0, _logarithm(v, x, None, x))


def log1p(v: Vectors, x: str) -> str:
    """log(1 + x), with all digits near 0."""
    u = v.add(x, 1.0)
    large = v.two("fcmp oge", x, 1.0)
    rest = v.select(large, v.subtract(1.0, v.subtract(u, x)), v.subtract(x, v.subtract(u, 1.0)))
    found = _logarithm(v, u, rest, x)
    return v.call("copysign", _edges(v, x, x, -1.0, found), x)


def tanh(v: Vectors, x: str) -> str:
    """The hyperbolic tangent: 1 - 2 / (1 + e^2|x|), and near 0 by its series."""
    kind = _KINDS[v.number]
    size = v.call("fabs", x)
    square = v.multiply(size, size)
    near = v.call("fma", v.multiply(v.polynomial(kind.near, square), square), size, size)
    bounded = v.choose("fcmp ogt", size, kind.saturated, kind.saturated, size)
    less, n = _reduced(v, v.multiply(bounded, 2.0))
    scale = _power_of_two(v, n)
    far = v.subtract(1.0, v.divide(2.0, v.add(v.call("fma", less, scale, scale), 1.0)))
    return v.call("copysign", v.choose("fcmp olt", size, 0.625, near, far), x)


def sigmoid(v: Vectors, x: str) -> str:
    """1 / (1 + e^-x); with t = e^-|x|, t / (1 + t) below 0."""
    t = exp(v, v.subtract(0.0, v.call("fabs", x)))
    return v.divide(v.choose("fcmp olt", x, 0.0, t, 1.0), v.add(t, 1.0))


def sin(v: Vectors, x: str) -> str:
    """The sine."""
    return _circular(v, x, "sin")


def cos(v: Vectors, x: str) -> str:
    """The cosine."""
    return _circular(v, x, "cos")


def _circular(v: Vectors, x: str, name: str) -> str:
    kind, words, code = _KINDS[v.number], _words(v), v.code
    if not v.fused:
        raise Unsupported(f"{name}, whose reduction loses its digits where products are rounded")
    shifted = v.call("fma", x, 2 / math.pi, kind.magic)
    n = v.subtract(shifted, kind.magic)
    r = x
    for part in kind.quarter:
        r = v.call("fma", n, -part, r)
    z = v.multiply(r, r)
    odd = v.call("fma", v.multiply(v.polynomial(kind.sin, z), z), r, r)
    even = v.call("fma", v.call("fma", v.polynomial(kind.cos, z), z, -0.5), z, 1.0)
    quarters = v.convert("bitcast", shifted, words)
    if name == "cos":
        quarters = words.add(quarters, 1)
    swapped = words.two("icmp ne", words.two("and", quarters, 1), 0)
    found = v.select(swapped, even, odd)
    turned = words.two("shl", words.two("lshr", quarters, 1), 8 * words.size - 1)
    found = words.convert("bitcast", words.two("xor", v.convert("bitcast", found, words), turned), v)
    if name == "sin":
        found = v.choose("fcmp oeq", x, 0.0, x, found)
    def one_by_one() -> str:
        function = f"@llvm.{name}.{'f32' if v.number == 'float' else 'f64'}"
        code.declare(f"declare {v.number} {function}({v.number})")
        each = found
        for lane in range(v.lanes):
            one = code.value(f"extractelement {v.type} {x}, i64 {lane}")
            one = code.value(f"call {v.number} {function}({v.number} {one})")
            each = code.value(f"insertelement {v.type} {each}, {v.number} {one}, i64 {lane}")
        return each

    return rarely(v, v.two("fcmp ogt", v.call("fabs", x), kind.angles), found, one_by_one)


def rarely(v: Vectors, mask: str, found: str, otherwise: Callable[[], str]) -> str:
    """otherwise() where the mask is set, which is computed if some lane of it is, and `found` elsewhere."""
    code = v.code
    bits = code.value(f"bitcast {v.mask} {mask} to i{v.lanes}")
    some = code.value(f"icmp ne i{v.lanes} {bits}, 0")
    n = code.fresh()
    code.do(f"br label %near{n}")
    code.label(f"near{n}")
    code.do(f"br i1 {some}, label %far{n}, label %all{n}")
    code.label(f"far{n}")
    other = v.select(mask, otherwise(), found)
    code.do(f"br label %leave{n}")
    code.label(f"leave{n}")
    code.do(f"br label %all{n}")
    code.label(f"all{n}")
    return code.value(f"phi {v.type} [ {found}, %near{n} ], [ {other}, %leave{n} ]")


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


def power(v: Vectors, x: str, y: str) -> str:
    """x^y of float32 numbers, as C's: the logarithm and the exponential in double precision, so that it is rounded once."""
    if v.number != "float":
        raise Unsupported("powers of float64, for which the logarithm would need more digits")
    wide = Vectors(v.code, v.lanes, "double")
    a, b = (v.convert("fpext", z, wide) for z in (x, y))
    size = wide.call("fabs", a)
    found = exp(wide, wide.multiply(b, log(wide, size)))
    whole = wide.two("fcmp oeq", wide.call("rint", b), b)
    half = wide.multiply(b, 0.5)
    odd = v.code.value(f"and {v.mask} {whole}, {wide.two('fcmp one', wide.call('rint', half), half)}")
    found = wide.choose("fcmp oeq", size, 1.0, 1.0, found)  # also where the exponent is infinite
    found = wide.choose("fcmp uno", a, b, math.nan, found)
    found = wide.select(odd, wide.call("copysign", found, a), found)
    lost = v.code.value(f"and {v.mask} {wide.two('fcmp olt', a, 0.0)}, {wide.two('fcmp ogt', a, -math.inf)}")
    lost = v.code.value(f"and {v.mask} {lost}, {wide.two('fcmp one', wide.call('rint', b), b)}")
    found = wide.select(lost, math.nan, found)
    found = wide.choose("fcmp oeq", b, 0.0, 1.0, found)
    return wide.convert("fptrunc", wide.choose("fcmp oeq", a, 1.0, 1.0, found), v)


FUNCTIONS = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "tanh": tanh, "sin": sin, "cos": cos, "erf": erf,
    "atan": atan,
}  # fmt: skip
"""By the names of the array-API standard and SciPy."""

