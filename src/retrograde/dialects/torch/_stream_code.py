"""The random stream's inner loops, as generated code once much is drawn: the same bits in a fraction of the time.

Words come from MT19937 (Matsumoto and Nishimura 1998); what is made of them follows _stream_math.py step by step.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend.jit import llvm
from ...backend.jit.vectors import Vectors
from . import _stream_math as math
from ._stream_math import Floats, Interval, Words

BLOCK = 624
"""Words of a state, and of each block that is made of it."""

WORTH = 1 << 22
"""Words that are drawn without generated code before llvmlite is loaded: both take 50 ms."""

_FEW = 1 << 12
"""Words of which NumPy makes numbers in the time that a call of generated code takes."""

_spent = 0
_available: bool | None = None  # not asked yet


def ready(words: int = 0) -> bool:
    """Whether generated code is there, or its time has come with `words` more to be drawn."""
    global _available, _spent
    if _available is None:
        _spent += words
        if _spent < WORTH and "llvmlite.binding" not in sys.modules:
            return False
        _available = all(map(_function, _TEXTS))
    return _available


def words(state: Words, blocks: int) -> Words:
    """The next `blocks` blocks of words; `state` is moved on. For callers that have found `ready` true."""
    out = np.empty(blocks * BLOCK, np.uint32)
    _function("words")(state.ctypes.data, out.ctypes.data, blocks)
    return out


def unit24(words: Words, out: Floats | None = None, within: Interval | None = None) -> NDArray[np.float32]:
    """As _stream_math.unit24."""
    if words.size < _FEW or not ready():
        return math.unit24(words, out, within)
    out = np.empty(words.size, np.float32) if out is None else out
    if within is None:
        _function("unit24")(words.ctypes.data, out.ctypes.data, out.size)
    else:
        _function("uniform")(words.ctypes.data, out.ctypes.data, out.size, within.both.ctypes.data)
    return out


def unit53(words: Words, out: Floats | None = None) -> NDArray[np.float64]:
    """As _stream_math.unit53."""
    if not ready():
        return math.unit53(words, out)
    out = np.empty(words.size // 2, np.float64) if out is None else out
    _function("unit53")(words.ctypes.data, out.ctypes.data, out.size)
    return out


def block_normals32(words: Words, mean: float = 0.0, std: float = 1.0) -> NDArray[np.float32]:
    """As _stream_math.block_normals32."""
    if not ready():
        return math.block_normals32(words, mean, std)
    out = np.empty(words.size, np.float32)
    scale = np.array((std, mean), np.float32)
    _function("normals")(words.ctypes.data, out.ctypes.data, out.size, scale.ctypes.data)
    return out


def permutation(words: Words) -> NDArray[np.int64]:
    """The numbers up to `words.size` in the order in which a forward shuffle (Fisher and Yates) leaves them.

    Place i changes with place i + words[i] % (n - i).
    """
    if not ready():
        return math.permutation(words)
    out = np.empty(words.size + 1, np.int64)
    _function("permutation")(words.ctypes.data, out.ctypes.data, out.size)
    return out


@functools.cache
def _function(name: str) -> Callable[..., None]:
    operands = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64] + [ctypes.c_void_p] * (name in ("normals", "uniform"))
    kind = llvm.processor()
    if kind is None or not kind.fused:  # the bits are those of multiplications and additions that are rounded once
        return None  # type: ignore[return-value]
    return llvm.function(name, _TEXTS[name], *operands)  # type: ignore[return-value]  # `ready`: it is there


# ------------------------------------------------------------------------------------------ their code


def _words(code: Any) -> str:
    v = Vectors(code, 16, "i32")

    def twist(i: str | int, lanes: int, other: int) -> None:
        """New words from i on: of the words there, the ones behind them, and those `other` places away."""
        u = Vectors(code, lanes, "i32")
        here, behind, far = (u.load("%state", code.add(str(i), k)) for k in (0, 1, other))
        u.store(mixed(u, here, behind, far), "%state", str(i))

    def mixed(u: Vectors, here: str, behind: str, far: str) -> str:
        joined = u.two("or", u.two("and", here, -(1 << 31)), u.two("and", behind, (1 << 31) - 1))
        odd = u.two("and", u.subtract(0, u.two("and", behind, 1)), 0x9908B0DF - (1 << 32))
        return u.two("xor", u.two("xor", far, odd), u.two("lshr", joined, 1))

    def temper(y: str) -> str:
        y = v.two("xor", y, v.two("lshr", y, 11))
        y = v.two("xor", y, v.two("and", v.two("shl", y, 7), 0x9D2C5680 - (1 << 32)))
        y = v.two("xor", y, v.two("and", v.two("shl", y, 15), 0xEFC60000 - (1 << 32)))
        return v.two("xor", y, v.two("lshr", y, 18))

    def block(b: str) -> None:
        # Both stretches in vectors of 16 as far as they go: what is `far` is old in the first and new in the second.
        code.loop(0, 224, 16, lambda i: twist(i, 16, 397))
        code.loop(224, 227, 1, lambda i: twist(i, 1, 397))
        code.loop(227, 611, 16, lambda i: twist(i, 16, -227))
        code.loop(611, 623, 4, lambda i: twist(i, 4, -227))
        one = Vectors(code, 1, "i32")
        here, behind, far = (one.load("%state", k) for k in (623, 0, 396))
        one.store(mixed(one, here, behind, far), "%state", 623)
        start = code.at("i32", "%out", code.mul(b, BLOCK))
        code.loop(0, BLOCK, 16, lambda i: v.store(temper(v.load("%state", i)), start, i))

    code.loop(0, "%blocks", 1, block)
    return str(code.module("define void @words(ptr %state, ptr %out, i64 %blocks)"))


def _unit24(code: Any) -> str:
    whole, v = Vectors(code, 16, "i32"), Vectors(code, 16)

    def step(i: str, part: Any) -> None:
        part.store(v, _unit(whole, v, part.load(whole, "%words", i)), "%out", i)

    v.over("%n", step)
    return str(code.module("define void @unit24(ptr %words, ptr %out, i64 %n)"))


def _uniform(code: Any) -> str:
    scale, offset = (code.value(f"load double, ptr {code.at('double', '%scale', k)}") for k in (0, 1))

    def stretch(i: str, lanes: int) -> None:
        whole, v, d = Vectors(code, lanes, "i32"), Vectors(code, lanes), Vectors(code, lanes, "double")
        exact = v.convert("fpext", _unit(whole, v, whole.load("%words", i)), d)
        spread = [code.spread(lanes, "double", x) for x in (scale, offset)]
        v.store(d.convert("fptrunc", d.add(d.multiply(exact, spread[0]), spread[1]), v), "%out", i)

    complete = code.value("and i64 %n, -16")
    code.loop(0, complete, 16, lambda i: stretch(i, 16))
    code.loop(complete, "%n", 1, lambda i: stretch(i, 1))
    return str(code.module("define void @uniform(ptr %words, ptr %out, i64 %n, ptr %scale)"))


def _unit(whole: Vectors, v: Vectors, words: str) -> str:
    """The low 24 bits of words over 2**24."""
    return v.multiply(whole.convert("sitofp", whole.two("and", words, 0xFFFFFF), v), 2.0**-24)


def _unit53(code: Any) -> str:
    pairs, half, v = Vectors(code, 16, "i32"), Vectors(code, 8, "i32"), Vectors(code, 8, "double")

    def number(high: str, low: str, h: Vectors, d: Vectors) -> str:
        whole = d.multiply(h.convert("uitofp", h.two("and", high, 0x1FFFFF), d), 2.0**32)
        return d.multiply(d.add(whole, h.convert("uitofp", low, d)), 2.0**-53)

    def eight(i: str) -> None:
        both = pairs.load("%words", code.mul(i, 2))
        high, low = (pairs.pick(both, both, range(k, 16, 2)) for k in (0, 1))
        v.store(number(high, low, half, v), "%out", i)

    def one(i: str) -> None:
        h, d = Vectors(code, 1, "i32"), Vectors(code, 1, "double")
        at = code.mul(i, 2)
        d.store(number(h.load("%words", at), h.load("%words", code.add(at, 1)), h, d), "%out", i)

    complete = code.value("and i64 %n, -8")
    code.loop(0, complete, 8, eight)
    code.loop(complete, "%n", 1, one)
    return str(code.module("define void @unit53(ptr %words, ptr %out, i64 %n)"))


def _normals(code: Any) -> str:
    whole, v = Vectors(code, 8, "i32"), Vectors(code, 8)
    std, mean = (
        code.spread(8, "float", code.value(f"load float, ptr {code.at('float', '%scale', k)}")) for k in (0, 1)
    )

    def horner(x: str, coefficients: Any) -> str:
        return v.polynomial(coefficients[::-1], x)

    def radius(x: str) -> str:
        bits = whole.subtract(v.convert("bitcast", x, whole), math.ROOT_HALF_BITS)
        exponent = whole.convert("sitofp", whole.two("ashr", bits, 23), v)
        bits = whole.add(whole.two("and", bits, 0x7FFFFF), math.ROOT_HALF_BITS)
        part = v.subtract(whole.convert("bitcast", bits, v), 1.0)
        square = v.multiply(part, part)
        y = v.multiply(horner(part, math.LOG), part)
        y = v.call("fma", y, square, v.multiply(exponent, math.LN2_LOW))
        y = v.subtract(y, v.multiply(square, 0.5))
        log = v.add(v.add(part, y), v.multiply(exponent, math.LN2_HIGH))
        return v.call("sqrt", v.multiply(log, -2.0))

    def cosine_and_sine(angle: str) -> tuple[str, str]:
        octant = v.convert("fptosi", v.multiply(angle, math.FOUR_OVER_PI), whole)
        octant = whole.two("and", whole.add(octant, 1), -2)
        steps = whole.convert("sitofp", octant, v)
        for part in math.QUARTER_PI[:2]:
            angle = v.subtract(angle, v.multiply(steps, part))
        angle = v.call("fma", steps, -math.QUARTER_PI[2], angle)
        square = v.multiply(angle, angle)
        cosine = v.multiply(horner(square, math.COS), square)
        cosine = v.call("fma", cosine, square, v.multiply(square, -0.5))
        cosine = v.add(cosine, 1.0)
        sine = v.call("fma", v.multiply(horner(square, math.SIN), square), angle, angle)
        exchanged = whole.subtract(0, whole.two("and", whole.two("lshr", octant, 1), 1))
        results = []
        for mine, other, shifted in ((cosine, sine, whole.add(octant, 2)), (sine, cosine, octant)):
            chosen = v.code.value(
                f"select {v.mask} {whole.two('icmp ne', exchanged, 0)}, {v.type} {other}, {v.type} {mine}"
            )
            sign = whole.two("shl", whole.two("and", shifted, 4), 29)
            results.append(whole.convert("bitcast", whole.two("xor", v.convert("bitcast", chosen, whole), sign), v))
        return results[0], results[1]

    def block(i: str) -> None:
        first, second = (_unit(whole, v, whole.load("%words", code.add(i, k))) for k in (0, 8))
        length = radius(v.subtract(1.0, first))
        for k, direction in zip((0, 8), cosine_and_sine(v.multiply(second, math.TWO_PI))):
            v.store(v.call("fma", v.multiply(direction, length), std, mean), "%out", code.add(i, k))

    code.loop(0, "%n", 16, block)
    return str(code.module("define void @normals(ptr %words, ptr %out, i64 %n, ptr %scale)"))


def _permutation(code: Any) -> str:
    def place(i: str) -> str:
        return str(code.at("i64", "%out", i))

    code.loop(0, "%n", 1, lambda i: code.do(f"store i64 {i}, ptr {place(i)}"))

    def exchange(i: str) -> None:
        word = code.value(f"load i32, ptr {code.at('i32', '%words', i)}")
        left = code.value(f"sub i64 %n, {i}")
        step = code.value(f"urem i64 {code.value(f'zext i32 {word} to i64')}, {left}")
        here, there = place(i), place(code.add(i, step))
        x, y = (code.value(f"load i64, ptr {p}") for p in (here, there))
        code.do(f"store i64 {y}, ptr {here}")
        code.do(f"store i64 {x}, ptr {there}")

    code.loop(0, code.add("%n", -1), 1, exchange)
    return str(code.module("define void @permutation(ptr %words, ptr %out, i64 %n)"))


_TEXTS: dict[str, Callable[[Any], str]] = {
    "words": _words, "unit24": _unit24, "uniform": _uniform, "unit53": _unit53, "normals": _normals, "permutation": _permutation,
}  # fmt: skip
