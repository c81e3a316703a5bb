"""The arithmetic under `_stream`: words to unit numbers, fused multiply-add, and the block normals of float32.

PyTorch's AVX2 and AVX-512 kernels round in float32 at every step, with fused multiply-adds. Bits only agree if
every one of those roundings is repeated, so this module trades NumPy's own log and cos for explicit polynomials.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = np.float32
F64 = np.float64
Words = NDArray[np.uint32]
Floats = NDArray[Any]

_SORTED_SHUFFLE = 3000  # from here on sorting beats swapping in a Python list
_CHUNK = 2048  # blocks of 16 per pass: 13 ns a value on the build machine, against 49 in one pass over 1.6 million

# Polynomials of the Cephes library (S. L. Moshier): logf on [sqrt(1/2), sqrt(2)], sinf and cosf on [-pi/4, pi/4].
LOG = tuple(
    float(F32(c))
    for c in (
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
)
LN2_LOW, LN2_HIGH = F32(-2.12194440e-4), F32(0.693359375)
SIN = tuple(float(F32(c)) for c in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))
COS = tuple(float(F32(c)) for c in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
QUARTER_PI = (F32(0.78515625), F32(2.4187564849853515625e-4), F32(3.77489497744594108e-8))
FOUR_OVER_PI = F32(1.27323954473516)
TWO_PI = F32(2.0 * math.pi)
ROOT_HALF_BITS = 0x3F3504F3


class Interval(NamedTuple):
    """What float32 numbers of an interval [low, high) are made by: u * scale + offset for u in [0, 1), rounded once.

    The numbers are arrays, which NumPy's functions take in half the time that Python's numbers take.
    """

    numbers: tuple[float, float]
    """scale and offset."""
    step: NDArray[np.float64]
    """scale / 2**24: a float64 holds its products with numbers of 24 bits."""
    offset: NDArray[np.float64]
    wide: bool
    """Whether a result may be too large for float32."""
    reaches: bool
    """Whether the largest u gives `high`."""


@functools.lru_cache(256)
def interval(low: float, high: float) -> Interval:
    """The interval [low, high) of float32 numbers."""
    with np.errstate(over="ignore"):
        scale, offset = float(F32(high) - F32(low)), float(F32(low))
        reaches = bool(F32((1.0 - 2.0**-24) * scale + offset) >= F32(high))
    return Interval((scale, offset), np.array(scale * 2.0**-24), np.array(offset), scale + abs(offset) > 1e38, reaches)


_LOW_24 = np.array(0xFFFFFF, np.uint32)
_OVER_24 = np.array(2.0**-24, F32)
_INT32 = np.dtype(np.int32)


def unit24(words: Words, out: Floats | None = None, within: Interval | None = None) -> NDArray[np.float32]:
    """Give the low 24 bits of each word over 2**24: float32 in [0, 1); or in an interval."""
    bits = (words & _LOW_24).view(_INT32)
    if within is None:
        return np.multiply(bits.astype(F32), _OVER_24, out)
    exact = np.multiply(bits, within.step)
    np.add(exact, within.offset, exact)
    if out is None:
        out = np.empty(words.size, F32)
    if not within.wide:
        np.copyto(out, exact, casting="unsafe")
        return out
    with np.errstate(over="ignore"):
        np.copyto(out, exact, casting="unsafe")
    return out


def unit53(words: Words, out: Floats | None = None) -> NDArray[np.float64]:
    """Give the low 53 bits of each pair of words (high word first) over 2**53: float64 in [0, 1)."""
    high = words[0::2] & np.uint32(0x1FFFFF)
    out = np.multiply(high, 2.0**32, out=out, dtype=F64)
    out += words[1::2]
    out *= 2.0**-53
    return out


def remainders(words: Words, low: int, span: int) -> NDArray[np.int64]:
    """Give low + word % span for each word."""
    out = (words % np.uint32(span)).astype(np.int64)
    out += low
    return out


def join64(words: Words) -> NDArray[np.uint64]:
    """Join each pair of words, the first one high, to an integer of 64 bits."""
    out = words[0::2].astype(np.uint64)
    out <<= np.uint64(32)
    out |= words[1::2]
    return out


def fma32(x: Floats, scale: float, offset: float) -> NDArray[np.float32]:
    """Compute `x * scale + offset` for float32 values with a single rounding, by way of float64 (exact product)."""
    if (scale, offset) == (1.0, 0.0):
        return x + F32(0.0)  # which turns -0 into 0
    out = x.astype(F64)
    out *= scale
    out += offset
    with np.errstate(over="ignore"):
        return out.astype(F32)


def fma64(x: Floats, scale: float, offset: float) -> NDArray[np.float64]:
    """Compute `x * scale + offset` in float64 with a single rounding (Dekker's product, Knuth's sum)."""
    if (scale, offset) == (1.0, 0.0):
        return x + 0.0
    high = x * scale
    with np.errstate(invalid="ignore", over="ignore"):
        x_top = _split(x)
        s_top = _split(np.float64(scale))
        x_rest, s_rest = x - x_top, scale - s_top
        low = ((x_top * s_top - high) + x_top * s_rest + x_rest * s_top) + x_rest * s_rest
        total = high + offset
        back = total - high
        low += (high - (total - back)) + (offset - back)
        out = total + low
    return out if np.isfinite(out).all() else np.where(np.isfinite(out), out, total)


def _split(x: Any) -> Any:
    scaled = x * 134217729.0  # 2**27 + 1
    return scaled - (scaled - x)


def libm(function: Callable[[float], float], vector: Callable[[Floats], Floats], x: Floats) -> NDArray[np.float64]:
    """Apply the C library's function to each element, where NumPy's vector form may differ in the last bit.

    Costs 50 ns an element against 5; used for float64 results only, since a narrower one hides the difference.
    `vector` answers where Python raises instead of giving an infinity.
    """
    try:
        return np.fromiter(map(function, x.ravel().tolist()), F64, x.size).reshape(x.shape)
    except (OverflowError, ValueError):
        with np.errstate(all="ignore"):
            return np.asarray(vector(x))


def block_normals64(words: Words) -> NDArray[np.float64]:
    """Turn words (two per value, a multiple of 32) into standard normals, 8 radii and 8 angles per block of 16."""
    u = unit53(words).reshape(-1, 2, 8)
    radius = libm(math.log, np.log, 1.0 - u[:, 0])
    radius *= -2.0
    np.sqrt(radius, out=radius)
    angle = (2.0 * math.pi) * u[:, 1]
    out = np.empty_like(u)
    np.multiply(radius, np.cos(angle), out=out[:, 0])
    np.multiply(radius, np.sin(angle), out=out[:, 1])
    return out.ravel()


def block_normals32(words: Words, size: int, mean: float = 0.0, std: float = 1.0) -> NDArray[np.float32]:
    """Turn words (one per value) into normals in float32, bit for bit as AVX2 code does.

    16 words make 16 values; those of a last partial block come of the last 16 words, over the end of the one before.
    """
    rest = size % 16
    if rest:
        values = block_normals32(np.concatenate((words[: size - rest], words[-16:])), size - rest + 16, mean, std)
        return np.concatenate((values[: size - 16], values[-16:]))
    blocks = words[:size].reshape(-1, 2, 8)
    out = np.empty(blocks.shape, F32)
    for start in range(0, len(blocks), _CHUNK):
        part = slice(start, start + _CHUNK)
        u = unit24(blocks[part])
        radius = _radius32(F32(1.0) - u[:, 0])
        sine, cosine = _sincos32(u[:, 1] * TWO_PI)
        cosine *= radius
        sine *= radius
        out[part, 0] = fma32(cosine, std, mean)
        out[part, 1] = fma32(sine, std, mean)
    return out.ravel()


def _round(x: Floats) -> Floats:
    """Round float64 values to float32 precision, keeping them float64."""
    return x.astype(F32).astype(F64)


def _horner(x: Floats, coefficients: tuple[float, ...]) -> NDArray[np.float32]:
    """Evaluate a polynomial by fused multiply-adds, rounding each step to float32; `x` is float64."""
    acc = x * coefficients[0]
    acc += coefficients[1]
    for c in coefficients[2:]:
        acc = _round(acc)
        acc *= x
        acc += c
    return acc.astype(F32)


def _radius32(x: Floats) -> NDArray[np.float32]:
    """Compute sqrt(-2 log x) for float32 x in (0, 1], each operation rounded as the reference kernels do."""
    bits = x.view(np.int32) - ROOT_HALF_BITS
    exponent = (bits >> 23).astype(F32)
    bits &= 0x7FFFFF
    bits += ROOT_HALF_BITS
    m = bits.view(F32) - F32(1.0)
    square = m * m
    y = _horner(m.astype(F64), LOG)
    y *= m
    wide = y.astype(F64)
    wide *= square
    wide += exponent * LN2_LOW
    y = wide.astype(F32)
    square *= F32(0.5)
    y -= square
    m += y
    exponent *= LN2_HIGH  # exact: 9 bits times 5
    m += exponent
    m *= F32(-2.0)
    return np.sqrt(m, out=m)


def _sincos32(angle: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Compute sine and cosine of float32 angles in [0, 2 pi], each operation rounded as the reference kernels do."""
    octant = (angle * FOUR_OVER_PI).astype(np.int32)
    octant += 1
    octant &= ~1
    steps = octant.astype(F32)
    angle = angle - steps * QUARTER_PI[0]  # the first two products are exact
    angle -= steps * QUARTER_PI[1]
    wide = steps.astype(F64)
    wide *= -float(QUARTER_PI[2])
    wide += angle
    angle = wide.astype(F32)
    square = angle * angle
    wide = square.astype(F64)

    cosine = _horner(wide, COS)
    cosine *= square
    half = square * F32(0.5)
    even = cosine.astype(F64)
    even *= wide
    even -= half
    cosine = even.astype(F32)
    cosine += F32(1.0)

    sine = _horner(wide, SIN)
    sine *= square
    odd = sine.astype(F64)
    odd *= angle
    odd += angle
    sine = odd.astype(F32)

    # Swapping and negating on the bits: masked NumPy loops cost ten times as much.
    sine_bits, cosine_bits = sine.view(np.int32), cosine.view(np.int32)
    exchange = sine_bits ^ cosine_bits
    exchange &= -((octant >> 1) & 1)
    sine_bits ^= exchange
    cosine_bits ^= exchange
    sine_bits ^= (octant & 4) << 29
    cosine_bits ^= ((octant + 2) & 4) << 29
    return sine, cosine


def permutation(words: Words) -> NDArray[np.int64]:
    """Shuffle 0..n-1 forwards with n - 1 words: position i and position i + words[i] % (n - i) change places."""
    n = words.size + 1
    index = np.arange(n - 1)
    targets = index + words.astype(np.int64) % (n - index)
    if n >= _SORTED_SHUFFLE:
        return _shuffled(targets)
    order = list(range(n))
    for i, j in enumerate(targets.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def _shuffled(targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Swap position i with targets[i] >= i, for i from 0 on, without a loop: the order in which 0..n-1 then stand.

    Step i moves to position targets[i] what stands at i. So what a step finds there was left by the step before it
    with the same target, and what stands at i was left by the last step before i that has i as its target: chains
    of steps, of logarithmic length, that end at a value never moved. Sorting finds the links, doubling the ends.
    """
    n = targets.size + 1
    targets = np.append(targets, n - 1)
    steps = np.arange(n)
    by_target = targets * n + steps
    by_target.sort()
    target, step = np.divmod(by_target, n)
    same = target[1:] == target[:-1]
    before = np.full(n, -1)  # the step before with the same target
    before[step[1:][same]] = step[:-1][same]
    last = np.append(~same, True)
    target, step = target[last], step[last]
    origin = steps.copy()  # of what stands at position i when step i comes
    link = np.where(step == target, before[step], step)
    linked = link >= 0
    origin[target[linked]] = link[linked]
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    return np.where(before >= 0, origin[before], targets)
