"""The random stream's inner loops, as generated code once much is drawn: the same bits in a fraction of the time.

Words come from MT19937 (Matsumoto and Nishimura 1998); what is made of them follows _stream_math.py step by step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import ceil as _ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend.jit import llvm
from ...backend.jit.vectors import Vectors
from . import _stream_math as math
from ._stream_math import Floats, Interval, Words

BLOCK = 624
"""Words of a state, and of each block that is made of it."""

_WORD, _NORMAL, _CALL, _STEP = 12, 80, 60_000, 80
"""Nanoseconds that a word, a normal number, a call that makes some of these and an exchange take without generated code."""

_available: bool | None = None  # not asked yet


def ready(words: int = 0, nanoseconds: int = 0) -> bool:
    """Whether generated code is there, or its time has come with `words` more to be drawn, or other work to be done."""
    global _available
    if _available is None:
        if not llvm.pays(words * _WORD + nanoseconds):
            return False
        kind = llvm.processor()
        # The bits are those of multiplications and additions that are rounded once.
        _available = kind is not None and kind.fused and _function("words") is not None
    return _available


def words(state: Words, held: Words, more: int) -> tuple[Words, Words]:
    """The words that are held and `more` that follow, and the last block of those; `state` is moved on.

    For callers that have found `ready` true.
    """
    out, block = np.empty(held.size + more, np.uint32), np.empty(BLOCK, np.uint32)
    _function("words")(0, more, more, state, held, held.size, block, out)  # type: ignore[misc]  # `ready`: it is there
    return out, block


def unit24(words: Words, out: Floats | None = None, within: Interval | None = None) -> NDArray[np.float32]:
    """As _stream_math.unit24."""
    function = _function("uniform") if ready() else None
    if function is None:
        return math.unit24(words, out, within)
    if out is None:
        out = np.empty(words.size, np.float32)
    n = out.size
    function(0, n, n, words, out, *(_UNIT if within is None else within.numbers))
    return out


_UNIT = 1.0, 0.0


def unit53(words: Words, out: Floats | None = None) -> NDArray[np.float64]:
    """As _stream_math.unit53."""
    function = _function("unit53") if ready() else None
    if function is None:
        return math.unit53(words, out)
    if out is None:
        out = np.empty(words.size // 2, np.float64)
    function(0, out.size, out.size, words, out)
    return out


def below53(words: Words, p: float, out: NDArray[np.bool_]) -> None:
    """Write which of the numbers of `unit53` are below p, from 0 to 1."""
    function = _function("below53") if ready() else None
    if function is None:
        np.less(math.unit53(words), p, out=out)
    else:
        function(0, out.size, out.size, words, out, _ceil(p * 2.0**53))


def block_normals32(words: Words, size: int, mean: float = 0.0, std: float = 1.0) -> NDArray[np.float32]:
    """As _stream_math.block_normals32."""
    function = _function("normals") if ready(nanoseconds=size * _NORMAL + _CALL) else None
    if function is None:
        return math.block_normals32(words, size, mean, std)
    out = np.empty(size, np.float32)
    function(0, size, size, words, words.size - 16, out, std, mean)
    return out


def remainders(words: Words, low: int, span: int) -> NDArray[np.int64]:
    """As _stream_math.remainders."""
    function = _function("remainders") if ready() else None
    if function is None:
        return math.remainders(words, low, span)
    out = np.empty(words.size, np.int64)
    function(0, out.size, out.size, words, out, low, span)
    return out


def permutation(words: Words) -> NDArray[np.int64]:
    """The numbers up to `words.size` in the order in which a forward shuffle (Fisher and Yates) leaves them.

    Place i changes with place i + words[i] % (n - i).
    """
    function = _function("permutation") if ready(nanoseconds=words.size * _STEP) else None
    if function is None:
        return math.permutation(words)
    out = np.empty(words.size + 1, np.int64)
    function(0, out.size, out.size, words, out)
    return out


@functools.cache
def _function(name: str) -> Callable[..., None] | None:
    """A function of `_BODIES`, all on one thread; None where it is not to be had."""
    operands, body = _BODIES[name]
    return llvm.shared(name, operands, body)


# ------------------------------------------------------------------------------------------ their code


def _words(code: Any) -> None:
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

    def block(first: str) -> None:
        # Both stretches in vectors of 16 as far as they go: what is `far` is old in the first and new in the second.
        code.loop(0, 224, 16, lambda i: twist(i, 16, 397))
        code.loop(224, 227, 1, lambda i: twist(i, 1, 397))
        code.loop(227, 611, 16, lambda i: twist(i, 16, -227))
        code.loop(611, 623, 4, lambda i: twist(i, 4, -227))
        one = Vectors(code, 1, "i32")
        here, behind, far = (one.load("%state", k) for k in (623, 0, 396))
        one.store(mixed(one, here, behind, far), "%state", 623)
        code.loop(0, BLOCK, 16, lambda i: v.store(temper(v.load("%state", i)), "%block", i))
        copy("%block", code.at("i32", "%out", code.add("%size", first)), code.least(code.value(f"sub i64 %last, {first}"), BLOCK))

    def copy(source: str, target: str, count: str) -> None:
        code.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {code.mul(count, 4)}, i1 false)")

    copy("%held", "%out", "%size")
    code.loop(0, "%last", BLOCK, block)


def _uniform(code: Any) -> None:
    def stretch(i: str, lanes: int) -> None:
        whole, v, d = Vectors(code, lanes, "i32"), Vectors(code, lanes), Vectors(code, lanes, "double")
        exact = v.convert("fpext", _unit(whole, v, whole.load("%words", i)), d)
        scale, offset = (code.spread(lanes, "double", x) for x in ("%scale", "%offset"))
        v.store(d.convert("fptrunc", d.add(d.multiply(exact, scale), offset), v), "%out", i)

    _vectors(code, 16, stretch)


def _vectors(code: Any, lanes: int, stretch: Callable[[str, int], None]) -> None:
    """stretch(i, lanes) for all units, the last ones one by one."""
    complete = code.value(f"and i64 %last, -{lanes}")
    code.loop(0, complete, lanes, lambda i: stretch(i, lanes))
    code.loop(complete, "%last", 1, lambda i: stretch(i, 1))


def _remainders(code: Any) -> None:
    float_span = code.value("sitofp i64 %span to double")

    def stretch(i: str, lanes: int) -> None:
        # A quotient of two numbers of 32 bits that is no whole number is 2**-32 away from one: rounding does not get there.
        words, v, out = Vectors(code, lanes, "i32"), Vectors(code, lanes, "double"), Vectors(code, lanes, "i64")
        x = words.convert("uitofp", words.load("%words", i), v)
        span, low = code.spread(lanes, "double", float_span), code.spread(lanes, "i64", "%low")
        x = v.subtract(x, v.multiply(v.call("floor", v.divide(x, span)), span))
        out.store(out.add(words.convert("zext", v.convert("fptoui", x, words), out), low), "%out", i)

    _vectors(code, 8, stretch)


def _unit(whole: Vectors, v: Vectors, words: str) -> str:
    """The low 24 bits of words over 2**24."""
    return v.multiply(whole.convert("sitofp", whole.two("and", words, 0xFFFFFF), v), 2.0**-24)


def _unit53(code: Any) -> None:
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

    _vectors(code, 8, lambda i, lanes: eight(i) if lanes == 8 else one(i))


def _below53(code: Any) -> None:
    # Whole numbers of 53 bits are compared: p times 2**53 is exact.
    def stretch(i: str, lanes: int) -> None:
        v = Vectors(code, lanes, "i64")
        both = v.load(code.at("i32", "%words", code.mul(i, 2)), align=4)  # the high word, which stands first, is the low half
        number = v.two("and", v.two("or", v.two("shl", both, 32), v.two("lshr", both, 32)), (1 << 53) - 1)
        below = v.two("icmp ult", number, code.spread(lanes, "i64", "%bound"))
        truths = code.value(f"zext {v.mask} {below} to <{lanes} x i8>")
        code.do(f"store <{lanes} x i8> {truths}, ptr {code.at('i8', '%out', i)}, align 1")

    _vectors(code, 16, stretch)


def _normals(code: Any) -> None:
    whole, v = Vectors(code, 8, "i32"), Vectors(code, 8)
    std, mean = (code.spread(8, "float", x) for x in ("%std", "%mean"))

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
        # The last one, if it is a partial one, comes of the last words and over the end of the one before.
        over = code.value(f"icmp sgt i64 {i}, {code.add('%last', -16)}")
        start, at = (code.value(f"select i1 {over}, i64 {last}, i64 {i}") for last in ("%redrawn", code.add("%last", -16)))
        first, second = (_unit(whole, v, whole.load("%words", code.add(start, k))) for k in (0, 8))
        length = radius(v.subtract(1.0, first))
        for k, direction in zip((0, 8), cosine_and_sine(v.multiply(second, math.TWO_PI))):
            v.store(v.call("fma", v.multiply(direction, length), std, mean), "%out", code.add(at, k))

    code.loop(0, "%last", 16, block)


def _permutation(code: Any) -> None:
    def place(i: str) -> str:
        return str(code.at("i64", "%out", i))

    code.loop(0, "%last", 1, lambda i: code.do(f"store i64 {i}, ptr {place(i)}"))

    def exchange(i: str) -> None:
        word = code.value(f"load i32, ptr {code.at('i32', '%words', i)}")
        left = code.value(f"sub i64 %last, {i}")
        step = code.value(f"urem i64 {code.value(f'zext i32 {word} to i64')}, {left}")
        here, there = place(i), place(code.add(i, step))
        x, y = (code.value(f"load i64, ptr {p}") for p in (here, there))
        code.do(f"store i64 {y}, ptr {here}")
        code.do(f"store i64 {x}, ptr {there}")

    code.loop(0, code.add("%last", -1), 1, exchange)


_BODIES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "words": ("array state, array held, i64 size, array block, array out", _words),
    "uniform": ("array words, array out, double scale, double offset", _uniform),
    "unit53": ("array words, array out", _unit53),
    "below53": ("array words, array out, i64 bound", _below53),
    "normals": ("array words, i64 redrawn, array out, float std, float mean", _normals),
    "remainders": ("array words, array out, i64 low, i64 span", _remainders),
    "permutation": ("array words, array out", _permutation),
}
