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
from .operands import address, aligned
from .vectors import LANES, Part, Vectors

LEAST = 1 << 15
"""Smaller matrices are left to NumPy, but for extremes of rows: what it takes for them is little more than the call."""

_ADDED = 512  # numbers of a row that are added up in single precision
_BLOCK = 32  # rows that are put together in single precision
_AHEAD = 4  # vectors of a row that go down the columns together

_TYPES = {"f": ("float", LANES), "d": ("double", LANES // 2)}


def along_rows(name: str, x: np.ndarray) -> np.ndarray | None:
    """The "sum", "max" or "min" of each row of a contiguous matrix of float32 or float64; None where it is the caller's
    affair."""
    function = _function(name, "rows", x)
    if function is None:
        return None
    x, (rows, width) = aligned(x), x.shape
    out = np.empty(rows, x.dtype)
    function(*threads.tiles(rows, x.size), address(out), address(x), rows, width)
    return out


def down_columns(name: str, x: np.ndarray) -> np.ndarray | None:
    """The same of each column."""
    function = _function(name, "columns", x)
    if function is None:
        return None
    x, (rows, width) = aligned(x), x.shape
    blocks = -(-rows // _BLOCK)
    parts = np.empty((blocks, width), np.float64 if name == "sum" else x.dtype)
    function(*threads.tiles(blocks * _strips(width, x), x.size), address(parts), address(x), rows, width)
    if blocks == 1:
        return parts[0].astype(x.dtype, copy=False)
    return _COMBINED[name](parts, 0).astype(x.dtype, copy=False)


def of_all(name: str, x: np.ndarray) -> np.ndarray | None:
    """The same of all elements of a contiguous array."""
    flat, width = aligned(x).reshape(-1), _ADDED * 8
    rows = flat.size // width
    found = along_rows(name, flat[: rows * width].reshape(rows, width)) if name != "sum" else _parts(flat, rows, width)
    if found is None:
        return None
    rest = flat[rows * width :]
    if rest.size:
        found = np.append(found, _COMBINED[name](rest, None, found.dtype if name == "sum" else None))
    return np.asarray(_COMBINED[name](found), x.dtype)


def _parts(flat: np.ndarray, rows: int, width: int) -> np.ndarray | None:
    """The sums of the rows that a long vector is cut into, in double precision."""
    function = _function("sum", "parts", flat)
    if function is None:
        return None
    out = np.empty(rows)
    function(*threads.tiles(rows, flat.size), address(out), address(flat), rows, width)
    return out


_COMBINED: dict[str, Callable[..., Any]] = {"sum": np.add.reduce, "max": np.maximum.reduce, "min": np.minimum.reduce}


def _function(name: str, way: str, x: np.ndarray) -> Callable[..., None] | None:
    if x.size < operands.LEAST or x.dtype.char not in _TYPES or not x.flags.c_contiguous:
        return None
    return _generated(name, way, x.dtype.char)


def _strips(width: int, x: np.ndarray) -> int:
    """How many units a block of rows is cut into."""
    return -(-width // (_AHEAD * _TYPES[x.dtype.char][1]))


@functools.cache
def _generated(name: str, way: str, char: str) -> Callable[..., None] | None:
    text = _columns if way == "columns" else _rows

    def body(code: Any) -> None:
        number, lanes = _TYPES[char]
        text(Vectors(code, lanes, number), name, way)

    return llvm.shared(f"{name}_{way}", "ptr out, ptr x, i64 rows, i64 width", body)


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


def _rows(v: Vectors, name: str, way: str) -> None:
    code, wide = v.code, Vectors(v.code, v.lanes, "double")
    single = v.number == "float"
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def total(x: str) -> str:
        def chunk(start: str, before: str) -> list[str]:
            here = code.least(code.value(f"sub i64 %width, {start}"), _ADDED)
            at = code.at(v.number, x, start)
            (found,) = v.over(here, lambda i, part, t: [v.add(t, part.load(v, at, i))], [v.constant(0.0)])
            return [wide.add(before, v.convert("fpext", found, wide) if single else found)]

        (found,) = code.loop(0, "%width", _ADDED, chunk, carried=[(wide.type, wide.constant(0.0))])
        whole = wide.sum(found)
        return str(code.value(f"fptrunc double {whole} to float")) if single and way == "rows" else whole

    def row(r: str) -> None:
        x = code.at(v.number, "%x", code.mul(r, "%width"))
        if name == "sum":
            found = total(x)
        else:
            first = [v.constant(_FIRST[name]), v.constant(-0.0)]
            best, odd = v.over(
                "%width", lambda i, part, *now: _taken(v, name, part.load(v, x, i, _FIRST[name]), *now), first
            )  # fmt: skip
            found = _of_lanes(v, name, best, odd)
        number = "double" if way == "parts" else v.number
        code.do(f"store {number} {found}, ptr {code.at(number, '%out', r)}")

    code.loop("%first", "%last", 1, row)


def _columns(v: Vectors, name: str, way: str) -> None:
    """Units: strips of some vectors' width of blocks of rows."""
    code, wide = v.code, Vectors(v.code, v.lanes, "double")
    single = v.number == "float"
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    strip = _AHEAD * v.lanes
    strips = code.value(f"sdiv i64 {code.add('%width', strip - 1)}, {strip}")

    def unit(u: str) -> None:
        block = code.value(f"sdiv i64 {u}, {strips}")
        column = code.mul(code.value(f"srem i64 {u}, {strips}"), strip)
        begin = code.mul(block, _BLOCK)
        end = code.least(code.add(begin, _BLOCK), "%rows")
        left = code.value(f"sub i64 %width, {column}")
        whole = code.value(f"icmp sge i64 {left}, {strip}")
        result = code.add(code.mul(block, "%width"), column)
        code.when(whole, lambda: strip_of([Part()] * _AHEAD, begin, end, column, result))

        def rest() -> None:
            strip_of([Part(v.below(left, k * v.lanes)) for k in range(_AHEAD)], begin, end, column, result)

        code.when(code.value(f"xor i1 {whole}, true"), rest)

    def strip_of(parts: Sequence[Part], begin: str, end: str, column: str, result: str) -> None:
        kept = 1 if name == "sum" else 2
        first = ([v.constant(_FIRST[name])] if name == "sum" else [v.constant(_FIRST[name]), v.constant(-0.0)]) * _AHEAD

        def row(r: str, *now: str) -> list[str]:
            x = code.at(v.number, "%x", code.add(code.mul(r, "%width"), column))
            following: list[str] = []
            for k, part in enumerate(parts):
                here, before = part.load(v, x, k * v.lanes), now[k * kept : (k + 1) * kept]
                following += [v.add(before[0], here)] if name == "sum" else _taken(v, name, here, *before)
            return following

        found = code.loop(begin, end, 1, row, carried=[(v.type, x) for x in first])
        for k, part in enumerate(parts):
            mine = found[k * kept : (k + 1) * kept]
            if name == "sum":
                out = v.convert("fpext", mine[0], wide) if single else mine[0]
                part.store(wide, out, "%out", code.add(result, k * v.lanes))
            else:
                part.store(v, v.add(*mine), "%out", code.add(result, k * v.lanes))

    code.loop("%first", "%last", 1, unit)
