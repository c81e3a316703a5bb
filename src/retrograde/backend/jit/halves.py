"""float16 and bfloat16: as the single numbers that are computed with, and single numbers rounded to them.

NumPy converts float16 one number at a time, and rounds to bfloat16 at a sixth of what memory would allow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm, threads
from .operands import FLOAT32
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
        kind, least = None, _LEAST
        if x.dtype == FLOAT32:
            kind = _letter(dtype)
        elif dtype == FLOAT32:
            kind, least = _letter(x.dtype), _LEAST_WIDENED
        function = None if kind is None or size < least[kind] else _translated(kind, least is _LEAST_WIDENED)
        if function is not None and x.flags.forc and x.flags.aligned:
            out = np.empty_like(x, dtype)
            function(*threads.tiles(-(-size // _BLOCK), 4 * size), out, x, size)
            return out
    return x.astype(dtype)


def single(x: np.ndarray) -> np.ndarray:
    """An array in float32."""
    return converted(x, FLOAT32)


@functools.cache
def _translated(kind: str, widened: bool) -> Callable[..., None] | None:
    if not llvm.available() or not offered(kind):
        return None
    return llvm.shared("halves", "array out, array x, i64 n", functools.partial(_body, kind=kind, widened=widened))


def _body(code: Any, kind: str, widened: bool) -> None:
    v = Vectors(code, LANES)
    words = Vectors(code, LANES, "i16")

    def unit(u: str) -> None:
        start = code.mul(u, _BLOCK)
        here = code.least(code.value(f"sub i64 %n, {start}"), _BLOCK)

        def some(i: str, part: Part) -> None:
            at = code.add(start, i)
            if widened:
                part.store(v, read(v, kind, part.load(words, "%x", at)), "%out", at)
            else:
                part.store(words, written(v, kind, part.load(v, "%x", at)), "%out", at)

        v.over(here, some)

    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    code.loop("%first", "%last", 1, unit)


# ------------------------------------------------------------------------------------------ vectors


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
