"""float16 and bfloat16: as the single numbers that are computed with, and single numbers rounded to them.

NumPy converts float16 one number at a time, and rounds to bfloat16 at a sixth of what memory would allow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm, threads
from .operands import FLOAT32, FLOAT64
from .vectors import LANES, Part, Vectors

_LEAST = {"e": 1 << 11, "E": 1 << 12}
"""From how many numbers on a call (1.7 µs, of NumPy 0.3) is worth it, by what is rounded to."""
_LEAST_WIDENED = {"e": 1 << 11, "E": 1 << 16}
"""The same for what is read: bfloat16 needs to be moved only, which NumPy does as fast on one thread."""

_FEWEST = 1 << 11
"""Below the least of them nothing is looked up."""

_BLOCK = 1 << 13
"""Numbers of a unit."""


@functools.lru_cache(64)
def _letter(dtype: np.dtype) -> str | None:
    """"e" for float16, "E" for bfloat16; None for any other dtype."""
    if not dtype.isnative:
        return None
    return "E" if dtype.name == "bfloat16" else "e" if dtype.char == "e" else None


# ------------------------------------------------------------------------------------------ arrays


def converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array in another dtype as `x.astype(dtype)` has it, also the order of its axes."""
    size = x.size
    if size >= _FEWEST and type(x) is np.ndarray:
        kind, least, number = None, _LEAST, "float"
        given = x.dtype
        if given in _NUMBERS:
            kind, number = _letter(dtype), _NUMBERS[given]
        elif dtype in _NUMBERS:
            kind, least, number = _letter(given), _LEAST_WIDENED, _NUMBERS[dtype]
        function = None if kind is None or size < least[kind] else _translated(kind, least is _LEAST_WIDENED, number)
        if function is not None and x.flags.forc and x.flags.aligned:
            out = np.empty_like(x, dtype)
            function(*threads.tiles(-(-size // _BLOCK), 4 * size), out, x, size)
            return out
    return x.astype(dtype)


def single(x: np.ndarray) -> np.ndarray:
    """An array in float32."""
    return converted(x, FLOAT32)


_NUMBERS = {FLOAT32: "float", FLOAT64: "double"}


@functools.cache
def _translated(kind: str, widened: bool, number: str) -> Callable[..., None] | None:
    if not llvm.available() or not offered(kind):
        return None
    body = functools.partial(_body, kind=kind, widened=widened, number=number)
    return llvm.shared("halves", "array out, array x, i64 n", body)


def _body(code: Any, kind: str, widened: bool, number: str) -> None:
    v, w = Vectors(code, LANES), Vectors(code, LANES, number)
    words = Vectors(code, LANES, "i16")

    def unit(u: str) -> None:
        start = code.mul(u, _BLOCK)
        here = code.least(code.value(f"sub i64 %n, {start}"), _BLOCK)

        def some(i: str, part: Part) -> None:
            at = code.add(start, i)
            if widened:
                found = read(v, kind, part.load(words, "%x", at))
                part.store(w, found if w.number == v.number else v.convert("fpext", found, w), "%out", at)
                return
            given = part.load(w, "%x", at)
            if w.number != v.number:
                given = _narrowed(w, v, given, odd=kind == "e")
            part.store(words, written(v, kind, given), "%out", at)

        v.over(here, some)

    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    code.loop("%first", "%last", 1, unit)


# ------------------------------------------------------------------------------------------ vectors


def _narrowed(w: Vectors, v: Vectors, x: str, *, odd: bool) -> str:
    """Double numbers as single ones: the nearest; or (odd), of the two beside one, that whose last bit is set, of which
    float16 then gets what is nearest to the double number (after Boldo and Melquiond 2008). bfloat16 gets what is nearest
    to the single one, as its library for NumPy has it."""
    nearest = w.convert("fptrunc", x, v)
    if not odd:
        return nearest
    integers = Vectors(w.code, w.lanes, "i32")
    back = v.convert("fpext", nearest, w)
    bits = v.convert("bitcast", nearest, integers)
    inside = integers.add(bits, -1)  # the number before it, seen from 0
    size, there = w.call("fabs", x), w.call("fabs", back)
    begun = w.code.value(f"select {w.mask} {w.two('fcmp ogt', there, size)}, {integers.type} {inside}, {integers.type} {bits}")
    uneven = w.two("fcmp one", back, x)
    found = w.code.value(f"select {w.mask} {uneven}, {integers.type} {integers.two('or', begun, 1)}, {integers.type} {bits}")
    return integers.convert("bitcast", found, v)


def offered(kind: str) -> bool:
    """Whether this processor converts the numbers of a kind."""
    processor = llvm.processor()
    return processor is None or processor.half or kind != "e"


def read(v: Vectors, kind: str, raw: str) -> str:
    """What was loaded (a vector of i16) as a vector `v` of single numbers."""
    words = Vectors(v.code, v.lanes, "i16")
    if kind == "e":
        half = v.code.value(f"bitcast {words.type} {raw} to <{v.lanes} x half>")
        return v.code.value(f"fpext <{v.lanes} x half> {half} to {v.type}")
    integers = Vectors(v.code, v.lanes, "i32")
    return integers.convert("bitcast", integers.two("shl", words.convert("zext", raw, integers), 16), v)


def written(v: Vectors, kind: str, x: str) -> str:
    """What is stored (a vector of i16) for a vector `v` of single numbers: the nearest ones, ties to even."""
    words = Vectors(v.code, v.lanes, "i16")
    if kind == "e":
        half = v.code.value(f"fptrunc {v.type} {x} to <{v.lanes} x half>")
        return v.code.value(f"bitcast <{v.lanes} x half> {half} to {words.type}")
    integers = Vectors(v.code, v.lanes, "i32")
    bits = v.convert("bitcast", x, integers)
    odd = integers.two("and", integers.two("lshr", bits, 16), 1)
    rounded = integers.two("lshr", integers.add(integers.add(bits, odd), 0x7FFF), 16)
    quiet = integers.two("or", integers.two("lshr", bits, 16), 0x40)
    nan = v.two("fcmp uno", x, x)
    return integers.convert("trunc", integers.select(nan, quiet, rounded), words)
