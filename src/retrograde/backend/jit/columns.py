"""The softmax family along an axis behind which others lie (channels of images) as generated code, forward and backward.

A contiguous array is matrices whose columns are normalised: vectors of neighbouring columns go down the rows together. Units
are strips of columns. NumPy takes 4 to 6 passes over the memory, of which two are exponentials.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from . import functions, llvm
from .operands import FLOAT32, aligned
from .rows import suited
from .threads import tiles
from .vectors import LANES, Part, Vectors

LEAST = LANES
"""Fewer columns are left to NumPy: they would not fill a vector."""

_STRIP = 4  # vectors of columns that go down together
_BLOCK = 32  # rows that are added up in single precision before their sum goes on in double
_WORK = {"softmax": 8, "log_softmax": 8, "softmax_pull": 2, "log_softmax_pull": 8}  # steps of work for a number


def along(name: str, axis: int, *arrays: np.ndarray) -> np.ndarray | None:
    """The "softmax" or "log_softmax" of x along an axis, or "softmax_pull" or "log_softmax_pull" of a cotangent and the result;
    None where it is the caller's affair."""
    x = arrays[-1]
    if not all(suited(y) and y.shape == x.shape and y.dtype == x.dtype for y in arrays):
        return None
    n, width = x.shape[axis], math.prod(x.shape[axis + 1 :])
    if width < LEAST:
        return None
    single = x.dtype == FLOAT32
    function = _function(name, "float" if single else "double")
    if function is None:
        return None
    out = np.empty_like(x)
    strips = -(-width // (_STRIP * (LANES if single else LANES // 2)))
    units = x.size // (n * width) * strips
    function(*tiles(units, _WORK[name] * x.size), out, *map(aligned, arrays), n, width)
    return out


@functools.cache
def _function(name: str, number: str) -> Callable[..., None] | None:
    given, column = _COLUMNS[name]
    operands = ", ".join(f"array {x}" for x in ("out", *given))

    def body(code: llvm.Code) -> None:
        v = Vectors(code, LANES if number == "float" else LANES // 2, number)
        _each_strip(v, ("out", *given), column)

    return llvm.shared(f"{name}_columns", f"{operands}, i64 n, i64 width", body)


# ------------------------------------------------------------------------------------------ their code


class _Strip:
    """Some vectors of neighbouring columns."""

    def __init__(self, v: Vectors, parts: Sequence[Part]) -> None:
        self.v, self.parts = v, parts

    def load(self, x: str, r: str, fill: float = 0.0) -> list[str]:
        """Row r of x."""
        at = self._row(x, r)
        return [part.load(self.v, at, k * self.v.lanes, fill) for k, part in enumerate(self.parts)]

    def store(self, found: Sequence[str], out: str, r: str) -> None:
        at = self._row(out, r)
        for k, (part, x) in enumerate(zip(self.parts, found, strict=True)):
            part.store(self.v, x, at, k * self.v.lanes)

    def _row(self, x: str, r: str) -> str:
        return self.v.code.at(self.v.number, x, self.v.code.mul(r, "%width"))

    def rows(self, row: Callable[[str], None]) -> None:
        """row(r) for every row."""
        self.v.code.loop(0, "%n", 1, row)

    def largest(self, x: str) -> list[str]:
        """The largest element of each column, beside nan."""
        v = self.v

        def row(r: str, *top: str) -> list[str]:
            return [v.choose("fcmp ogt", here, t, here, t) for here, t in zip(self.load(x, r, -math.inf), top)]

        first = v.constant(-math.inf)
        return v.code.loop(0, "%n", 1, row, carried=[(v.type, first)] * len(self.parts))

    def total(self, terms: Callable[[str], Sequence[str]]) -> list[str]:
        """The sum of terms(r) over all rows."""
        v, code = self.v, self.v.code
        wide, count = Vectors(code, v.lanes, "double"), len(self.parts)
        single = v.number == "float"

        def block(first: str, *before: str) -> list[str]:
            def row(r: str, *now: str) -> list[str]:
                return [v.add(t, x) for t, x in zip(now, terms(r))]

            last = code.least(code.add(first, _BLOCK), "%n")
            found = code.loop(first, last, 1, row, carried=[(v.type, v.constant(0.0))] * count)
            return [wide.add(t, v.convert("fpext", x, wide) if single else x) for t, x in zip(before, found)]

        totals = code.loop(0, "%n", _BLOCK, block, carried=[(wide.type, wide.constant(0.0))] * count)
        return [wide.convert("fptrunc", t, v) if single else t for t in totals]


def _each_strip(v: Vectors, names: Sequence[str], column: Callable[..., None]) -> None:
    """column(strip, *pointers): for each strip of the tile, those to its first row in the arrays."""
    code = v.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    strip = _STRIP * v.lanes
    strips = code.value(f"sdiv i64 {code.add('%width', strip - 1)}, {strip}")

    def of(parts: Sequence[Part], begin: str) -> None:
        column(_Strip(v, parts), *(code.at(v.number, f"%{name}", begin) for name in names))

    def unit(u: str) -> None:
        matrix = code.mul(code.value(f"sdiv i64 {u}, {strips}"), code.mul("%n", "%width"))
        first = code.mul(code.value(f"srem i64 {u}, {strips}"), strip)
        left = code.value(f"sub i64 %width, {first}")
        begin = code.add(matrix, first)
        whole = code.value(f"icmp sge i64 {left}, {strip}")
        code.when(whole, lambda: of([Part()] * _STRIP, begin))

        def rest() -> None:
            def vector(k: str) -> None:
                of([Part(v.below(code.value(f"sub i64 {left}, {k}")))], code.add(begin, k))

            code.loop(0, left, v.lanes, vector)

        code.when(code.value(f"xor i1 {whole}, true"), rest)

    code.loop("%first", "%last", 1, unit)


def _decay(v: Vectors, x: str) -> str:
    """exp(x) for x up to 0."""
    return v.decay(x) if v.number == "float" else functions.exp(v, x)


def _softmax(s: _Strip, out: str, x: str) -> None:
    v, top = s.v, s.largest(x)

    def powers(r: str) -> list[str]:
        found = [_decay(v, v.subtract(here, t)) for here, t in zip(s.load(x, r), top)]
        s.store(found, out, r)
        return found

    total = s.total(powers)
    s.rows(lambda r: s.store([v.divide(e, t) for e, t in zip(s.load(out, r), total)], out, r))


def _log_softmax(s: _Strip, out: str, x: str) -> None:
    v, top = s.v, s.largest(x)

    def powers(r: str) -> list[str]:
        less = [v.subtract(here, t) for here, t in zip(s.load(x, r), top)]
        s.store(less, out, r)
        return [_decay(v, y) for y in less]

    rest = [functions.log(v, t) for t in s.total(powers)]
    s.rows(lambda r: s.store([v.subtract(y, t) for y, t in zip(s.load(out, r), rest)], out, r))


def _softmax_pull(s: _Strip, out: str, g: str, y: str) -> None:
    v = s.v
    total = s.total(lambda r: [v.multiply(a, b) for a, b in zip(s.load(g, r), s.load(y, r))])

    def row(r: str) -> None:
        s.store([v.multiply(v.subtract(a, t), b) for a, b, t in zip(s.load(g, r), s.load(y, r), total)], out, r)

    s.rows(row)


def _log_softmax_pull(s: _Strip, out: str, g: str, y: str) -> None:
    v = s.v
    total = s.total(lambda r: s.load(g, r))

    def row(r: str) -> None:
        shares = [v.multiply(functions.exp(v, b), t) for b, t in zip(s.load(y, r), total)]
        s.store([v.subtract(a, x) for a, x in zip(s.load(g, r), shares)], out, r)

    s.rows(row)


# By name: the operands, and what is done for a strip.
_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "softmax": (("x",), _softmax), "log_softmax": (("x",), _log_softmax),
    "softmax_pull": (("g", "y"), _softmax_pull), "log_softmax_pull": (("g", "y"), _log_softmax_pull),
}  # fmt: skip
