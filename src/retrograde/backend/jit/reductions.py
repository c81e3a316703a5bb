"""Sums, largest and smallest elements of large matrices as generated code: along the rows, down the columns, of everything.

Rows are units of the work, and what is computed down the columns goes by blocks of rows, whose results are put together
afterwards: by how many and in which order depends on the shape alone. Sums of float32 go on in double precision after every
512 numbers of a row, or 32 of a column.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import llvm, operands, threads
from .copies import packed
from .operands import address, aligned
from .vectors import LANES, Part, Vectors

LEAST = 1 << 15
"""Smaller matrices are left to NumPy, but for extremes of rows: what it takes for them is little more than the call."""

_ADDED = 1 << 11  # numbers of a row that are added up in single precision: 32 in each lane of the sums that go side by side
_BLOCK = 32  # rows that are put together in single precision
_BLOCKS = 4  # blocks of rows that go together: their sums stay in registers
_STRIP = 8  # vectors of a row that go down the columns together
_PART = 1 << 12  # numbers of a long vector that are a unit

_DOWN = "columns", "few rows"
"""Ways of going down the columns; of one block of rows there is nothing left to be put together."""

_TYPES = {"f": ("float", LANES), "d": ("double", LANES // 2)}


def along_rows(name: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray | None:
    """The "sum", "max" or "min" of each row of a contiguous matrix of float32 or float64; None where it is the caller's
    affair. y: the rows are multiplied by it first, another matrix or a row of numbers."""
    function = _function(name, "rows", x, y)
    if function is None:
        return None
    x, (rows, width) = aligned(x), x.shape
    y, down = _beside(x, y)
    out = np.empty(rows, x.dtype)
    function(*threads.tiles(rows, x.size), address(out), address(x), rows, width, x.size, address(y), down)
    return out


def down_columns(name: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray | None:
    """The same of each column. y: the rows are multiplied by it first, another matrix or a column of numbers."""
    blocks = -(-x.shape[0] // (_BLOCK * _BLOCKS))
    function = _function(name, "columns" if blocks > 1 else "few rows", x, y)
    if function is None:
        return None
    x, (rows, width) = aligned(x), x.shape
    y, down = _beside(x, y)
    parts = np.empty((blocks, width), np.float64 if name == "sum" and blocks > 1 else x.dtype)
    units = blocks * _strips(width, x)
    function(*threads.tiles(units, x.size), address(parts), address(x), rows, width, x.size, address(y), down)
    if blocks == 1:
        return parts[0]
    return _COMBINED[name](parts, 0).astype(x.dtype, copy=False)


def of_all(name: str, x: np.ndarray) -> np.ndarray | None:
    """The same of all elements of a contiguous array."""
    function = _function(name, "parts", x)
    if function is None:
        return None
    x = aligned(x)
    parts = -(-x.size // _PART)
    out = np.empty(parts, np.float64 if name == "sum" else x.dtype)
    function(*threads.tiles(parts, x.size), address(out), address(x), parts, _PART, x.size, 0, 0)
    return np.asarray(_COMBINED[name](out), x.dtype)


_COMBINED: dict[str, Callable[..., Any]] = {"sum": np.add.reduce, "max": np.maximum.reduce, "min": np.minimum.reduce}


def _function(name: str, way: str, x: np.ndarray, y: np.ndarray | None = None) -> Callable[..., None] | None:
    if x.size < operands.LEAST or x.dtype.char not in _TYPES or not x.flags.c_contiguous:
        return None
    factor = ""
    if y is not None:
        factor = "each" if y.shape[1] == x.shape[1] else "one"
        if y.dtype != x.dtype or (factor == "one") != (way in _DOWN and y.shape[1] == 1 < x.shape[1]):
            return None
    return _generated(name, way, x.dtype.char, factor)


def _beside(x: np.ndarray, y: np.ndarray | None) -> tuple[np.ndarray | None, int]:
    """What the rows of x are multiplied by, contiguous, and how many numbers of it lie between two rows."""
    return (None, 0) if y is None else (packed(y), 0 if y.shape[0] == 1 < x.shape[0] else y.shape[1])


def _strips(width: int, x: np.ndarray) -> int:
    """How many units a block of rows is cut into."""
    return -(-width // (_STRIP * _TYPES[x.dtype.char][1]))


@functools.cache
def _generated(name: str, way: str, char: str, factor: str) -> Callable[..., None] | None:
    text = _columns if way in _DOWN else _rows

    def body(code: Any) -> None:
        number, lanes = _TYPES[char]
        text(Vectors(code, lanes, number), name, way, factor)

    return llvm.shared(
        f"{name}_{way.replace(' ', '_')}", "ptr out, ptr x, i64 rows, i64 width, i64 size, ptr y, i64 down", body
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ their code

_FIRST = {"sum": 0.0, "max": -math.inf, "min": math.inf}
_CONDITIONS = {"max": "fcmp ogt", "min": "fcmp olt"}


def _taken(v: Vectors, name: str, here: str, best: str, odd: str) -> list[str]:
    """What is best with one element more (beside nan the other one), and -0, or nan where there was one."""
    return [v.choose(_CONDITIONS[name], here, best, here, best), v.choose("fcmp uno", here, here, here, odd)]


def _single(v: Vectors, x: str) -> str:
    """The first lane."""
    return v.code.value(f"extractelement {v.type} {x}, i64 0")


def _of_lanes(v: Vectors, name: str, best: str, odd: str) -> str:
    """The one of all lanes, as one number: nan where there was one, since x - 0 is x."""
    for distance in (v.lanes >> k for k in range(1, v.lanes.bit_length())):
        other = v.pick(best, best, [lane ^ distance for lane in range(v.lanes)])
        best = v.choose(_CONDITIONS[name], other, best, other, best)
    return v.code.value(f"fadd {v.number} {_single(v, best)}, {v.sum(odd)}")


def _factor(v: Vectors, factor: str, row: str, column: str | int) -> Callable[[str | int, Part], str] | None:
    """(i, part) -> what the numbers of a row from a column on are multiplied by; None: nothing."""
    if not factor:
        return None
    y = v.code.at(v.number, "%y", v.code.mul(row, "%down"))
    if factor == "one":
        one = v.code.spread(v.lanes, v.number, v.code.value(f"load {v.number}, ptr {y}"))
        return lambda i, part: one
    y = v.code.at(v.number, y, column)
    return lambda i, part: part.load(v, y, i)


def _rows(v: Vectors, name: str, way: str, factor: str) -> None:
    """Units: rows, or parts of a vector that `%width` numbers fall to each, the last one what is left of `%size`."""
    code, wide = v.code, Vectors(v.code, v.lanes, "double")
    single = v.number == "float"
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def total(r: str, x: str, n: str) -> str:
        def chunk(start: str, before: str) -> list[str]:
            at, beside = code.at(v.number, x, start), _factor(v, factor, r, start)

            def more(i: str, part: Part, t: str) -> list[str]:
                here = part.load(v, at, i)
                return [v.add(t, here if beside is None else v.multiply(here, beside(i, part)))]

            here = code.least(code.value(f"sub i64 {n}, {start}"), _ADDED)
            (found,) = v.folded(here, more, [v.constant(0.0)], lambda a, b: [v.add(a[0], b[0])])
            return [wide.add(before, v.convert("fpext", found, wide) if single else found)]

        (found,) = code.loop(0, n, _ADDED, chunk, carried=[(wide.type, wide.constant(0.0))])
        whole = wide.sum(found)
        return str(code.value(f"fptrunc double {whole} to float")) if single and way == "rows" else whole

    def row(r: str) -> None:
        begin = code.mul(r, "%width")
        x = code.at(v.number, "%x", begin)
        n = "%width" if way == "rows" else code.least(code.value(f"sub i64 %size, {begin}"), "%width")
        if name == "sum":
            found = total(r, x, n)
        else:
            first = [v.constant(_FIRST[name]), v.constant(-0.0)]

            def joined(a: Sequence[str], b: Sequence[str]) -> list[str]:
                return [v.choose(_CONDITIONS[name], a[0], b[0], a[0], b[0]), v.add(a[1], b[1])]

            best, odd = v.folded(
                n, lambda i, part, *now: _taken(v, name, part.load(v, x, i, _FIRST[name]), *now), first, joined
            )  # fmt: skip
            found = _of_lanes(v, name, best, odd)
        number = "double" if name == "sum" and way == "parts" else v.number
        code.do(f"store {number} {found}, ptr {code.at(number, '%out', r)}")

    code.loop("%first", "%last", 1, row)


def _columns(v: Vectors, name: str, way: str, factor: str) -> None:
    """Units: strips of some vectors' width of several blocks of rows."""
    code, wide = v.code, Vectors(v.code, v.lanes, "double")
    single = v.number == "float"
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    strip = _STRIP * v.lanes
    strips = code.value(f"sdiv i64 {code.add('%width', strip - 1)}, {strip}")

    def unit(u: str) -> None:
        block = code.value(f"sdiv i64 {u}, {strips}")
        column = code.mul(code.value(f"srem i64 {u}, {strips}"), strip)
        begin = code.mul(block, _BLOCK * _BLOCKS)
        end = code.least(code.add(begin, _BLOCK * _BLOCKS), "%rows")
        left = code.value(f"sub i64 %width, {column}")
        whole = code.value(f"icmp sge i64 {left}, {strip}")
        result = code.add(code.mul(block, "%width"), column)
        code.when(whole, lambda: strip_of([Part()] * _STRIP, begin, end, column, result))

        def rest() -> None:
            def vector(k: str) -> None:
                part = Part(v.below(code.value(f"sub i64 {left}, {k}")))
                strip_of([part], begin, end, code.add(column, k), code.add(result, k))

            code.loop(0, left, v.lanes, vector)

        code.when(code.value(f"xor i1 {whole}, true"), rest)

    def strip_of(parts: Sequence[Part], begin: str, end: str, column: str, result: str) -> None:
        def row(r: str, *now: str) -> list[str]:
            x = code.at(v.number, "%x", code.add(code.mul(r, "%width"), column))
            beside = _factor(v, factor, r, column)
            following: list[str] = []
            kept = len(now) // len(parts)
            for k, part in enumerate(parts):
                here, before = part.load(v, x, k * v.lanes), now[k * kept : (k + 1) * kept]
                if beside is not None:
                    here = v.multiply(here, beside(k * v.lanes, part))
                following += [v.add(before[0], here)] if name == "sum" else _taken(v, name, here, *before)
            return following

        def over(first: str, last: str, carried: Sequence[str]) -> list[str]:
            return code.loop(first, last, 1, row, carried=[(v.type, x) for x in carried])

        if name != "sum":
            found = over(begin, end, [v.constant(_FIRST[name]), v.constant(-0.0)] * len(parts))
            for k, part in enumerate(parts):
                part.store(v, v.add(*found[2 * k : 2 * k + 2]), "%out", code.add(result, k * v.lanes))
            return

        def block(first: str, *before: str) -> list[str]:
            found = over(first, code.least(code.add(first, _BLOCK), end), [v.constant(0.0)] * len(parts))
            return [wide.add(t, v.convert("fpext", x, wide) if single else x) for t, x in zip(before, found)]

        totals = code.loop(begin, end, _BLOCK, block, carried=[(wide.type, wide.constant(0.0))] * len(parts))
        narrow = single and way == "few rows"
        for k, (part, total) in enumerate(zip(parts, totals)):
            at = code.add(result, k * v.lanes)
            if narrow:
                part.store(v, wide.convert("fptrunc", total, v), "%out", at)
            else:
                part.store(wide, total, "%out", at)

    code.loop("%first", "%last", 1, unit)
