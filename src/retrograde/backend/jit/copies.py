"""Copies between arrays that lie differently in memory, as generated code on all cores: parts of arrays, transposes, what is
reversed or spread along an axis; and sums onto such parts.

NumPy goes along one axis at a time, by one thread: a transpose of 1000x1000 float32 takes it 800 µs, squares that stay in the
cache 250. Only the bytes count, so that there is one kernel for all dtypes of a size.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import llvm, threads
from .operands import LEAST, address, aligned
from .vectors import LANES, Part, Vectors

BLOCK = 1 << 13
"""Elements of rows that are a unit of the work."""

SQUARE = 64
"""Rows of a transpose that are a unit: what is read of each column is some lines of the cache."""

_LEAST = {"rows": 1 << 15, "spread": 1 << 15, "back": LEAST, "apart": 1 << 15, "turned": LEAST}
"""Fewer elements are left to NumPy, by the kind of copy: what it takes for them is little more than the call."""

MOVED = 1 << 17
"""Fewer elements of rows are copied (not added) by NumPy, and any number by one thread: it takes as long."""

_WORDS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
_NUMBERS = {"f": "float", "d": "double"}
_SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}


def copy(out: np.ndarray, x: np.ndarray) -> bool:
    """out[...] = x of the same shape and dtype, which share no memory; False where it is the caller's affair."""
    dtype = x.dtype
    if dtype != out.dtype or dtype.hasobject:
        return False
    return _moved("copy", out, x, _WORDS.get(dtype.itemsize))


def add(out: np.ndarray, x: np.ndarray) -> bool:
    """out += x of the same shape, both of float32 or float64; which share no memory; False where it is the caller's
    affair."""
    if x.dtype != out.dtype or not x.dtype.isnative:
        return False
    return _moved("add", out, x, _NUMBERS.get(x.dtype.char))


def packed(x: np.ndarray) -> np.ndarray:
    """An array, contiguous and aligned: itself or a copy."""
    flags = x.flags
    if flags.c_contiguous:
        return x if flags.aligned else aligned(x)
    return ordered(x)


def ordered(x: np.ndarray) -> np.ndarray:
    """The elements of an array in memory of their own, in C's order."""
    out = np.empty(x.shape, x.dtype)
    if x.size < LEAST or not copy(out, x):
        np.copyto(out, x)
    return out


def _moved(what: str, out: np.ndarray, x: np.ndarray, number: str | None) -> bool:
    if number is None or out.shape != x.shape or not (out.flags.aligned and x.flags.aligned):
        return False
    plan = _plan(x.shape, out.strides, x.strides, x.itemsize)
    if plan is None or x.size < _LEAST[plan.kind]:
        return False
    if plan.kind == "rows" and what == "copy" and (x.size < MOVED or threads.count() == 1):
        return False
    function = _generated(what, plan.kind, number)
    if function is None:
        return False
    table = _pack(address(out) + plan.out, address(x) + plan.x, *plan.words)
    work = x.size if plan.kind in ("rows", "spread") else 4 * x.size
    function(*threads.tiles(plan.units, work), table)
    return True


_AXES = 5
_pack = struct.Struct(f"{2 + 3 * _AXES + 4}q").pack


class _Plan(NamedTuple):
    """How a copy goes: the kernel's kind; where both arrays begin, in bytes from their first element; units of work; and what
    the kernel is given, four axes with their strides and how they are cut into units."""

    kind: str
    out: int
    x: int
    units: int
    words: tuple[int, ...]


@functools.lru_cache(1024)
def _plan(shape: tuple[int, ...], out: tuple[int, ...], x: tuple[int, ...], size: int) -> _Plan | None:
    """The plan for arrays of a shape with these strides and so many bytes an element; None where there is none."""
    if 0 in shape:
        return None
    begin = [0, 0]
    axes: list[tuple[int, int, int]] = []  # length, and the stride of each
    for n, so, sx in zip(shape, out, x):
        if n == 1:
            continue
        if so == 0:  # several elements for one place
            return None
        if so < 0:
            begin[0] += so * (n - 1)
            begin[1] += sx * (n - 1)
            so, sx = -so, -sx
        axes.append((n, so, sx))
    joined: list[tuple[int, int, int]] = []
    for n, so, sx in sorted(axes, key=lambda axis: -axis[1]):
        if joined and joined[-1][1] == n * so and joined[-1][2] == n * sx:
            joined[-1] = joined[-1][0] * n, so, sx
        else:
            joined.append((n, so, sx))
    if len(joined) > _AXES:
        return None
    axes = [(1, 0, 0)] * (_AXES - len(joined)) + joined
    n, so, sx = axes[-1]
    kind = {size: "rows", 0: "spread", -size: "back"}.get(sx, "apart") if so == size or n == 1 else "apart"
    together, across = max(1, BLOCK // n), BLOCK
    if kind == "apart":
        beside = next((k for k in range(_AXES - 1) if axes[k][2] == size and axes[k][0] > 1), None)
        if beside is not None and so == size and size >= 4:
            axes.insert(_AXES - 2, axes.pop(beside))
            kind, together, across = "turned", SQUARE, 16 * SQUARE
        elif axes[-2][0] > n:  # the longer one inside
            axes[-2:] = axes[:-3:-1]
            together = max(1, BLOCK // axes[-1][0])
    lengths = [axis[0] for axis in axes]
    blocks, columns = -(-lengths[-2] // together), -(-lengths[-1] // across)
    words = (*lengths, *(axis[1] for axis in axes), *(axis[2] for axis in axes), together, across, blocks, columns)
    return _Plan(kind, begin[0], begin[1], math.prod(lengths[:-2]) * blocks * columns, words)


@functools.cache
def _generated(what: str, kind: str, number: str) -> Callable[..., None] | None:
    return llvm.shared(f"{what}_{kind}_{number}", "bytes table", lambda code: _text(code, what, kind, number))


# ------------------------------------------------------------------------------------------ their code


def _text(code: llvm.Code, what: str, kind: str, number: str) -> None:
    """A unit: `together` rows along the last axis but one, of `across` elements along the last one."""
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    size = _SIZES[number]
    given = [code.value(f"load i64, ptr {code.at('i64', '%table', k)}") for k in range(2, 2 + 3 * _AXES + 4)]
    out, x = (code.value(f"load ptr, ptr {code.at('i64', '%table', k)}") for k in range(2))
    lengths, outs, xs = (given[k * _AXES : (k + 1) * _AXES] for k in range(3))
    together, across, blocks, columns = given[3 * _AXES :]
    row = _KINDS[kind]

    def unit(u: str) -> None:
        places = []  # from the last axis to the first
        for length in (columns, blocks, *lengths[-3:0:-1]):
            places.append(code.value(f"srem i64 {u}, {length}"))
            u = code.value(f"sdiv i64 {u}, {length}")
        column, first = code.mul(places[0], across), code.mul(places[1], together)
        starts = []
        for base, strides in ((out, outs), (x, xs)):
            for index, stride in zip((column, first, *places[2:], u), strides[::-1]):
                base = code.at("i8", base, code.mul(index, stride))
            starts.append(base)
        rows = code.least(code.value(f"sub i64 {lengths[-2]}, {first}"), together)
        n = code.least(code.value(f"sub i64 {lengths[-1]}, {column}"), across)
        row(_Mover(code, what, number, size), starts[0], starts[1], rows, n, outs[-2:], xs[-2:])

    code.loop("%first", "%last", 1, unit)


class _Mover:
    """What is done with the elements."""

    def __init__(self, code: llvm.Code, what: str, number: str, size: int) -> None:
        self.code, self.number, self.size, self.adds = code, number, size, what == "add"
        self.v = Vectors(code, 4 * LANES // size, number)

    def put(self, v: Vectors, found: str, out: str, part: Part, i: str | int = 0) -> None:
        """Write, or add, a vector."""
        part.store(v, v.add(part.load(v, out, i), found) if self.adds else found, out, i)

    def one(self, out: str, x: str) -> None:
        """Write, or add, one element."""
        found = self.code.value(f"load {self.number}, ptr {x}")
        if self.adds:
            before = self.code.value(f"load {self.number}, ptr {out}")
            found = self.code.value(f"fadd {self.number} {before}, {found}")
        self.code.do(f"store {self.number} {found}, ptr {out}")

    def line(self, out: str, x: str, n: str, so: str, sx: str) -> None:
        """n elements one by one, strides (in bytes) apart."""
        code = self.code
        whole, steps = code.value(f"and i64 {n}, -4"), [[code.mul(stride, k) for stride in (so, sx)] for k in (1, 2, 3, 4)]

        def several(_: str, y: str, z: str) -> list[str]:
            self.one(y, z)
            for by, bz in steps[:3]:
                self.one(code.at("i8", y, by), code.at("i8", z, bz))
            return [code.at("i8", y, steps[3][0]), code.at("i8", z, steps[3][1])]

        def single(_: str, y: str, z: str) -> list[str]:
            self.one(y, z)
            return [code.at("i8", y, so), code.at("i8", z, sx)]

        y, z = code.loop(0, whole, 4, several, carried=[("ptr", out), ("ptr", x)])
        code.loop(whole, n, 1, single, carried=[("ptr", y), ("ptr", z)])

    def at(self, base: str, i: str, stride: str) -> str:
        """The address i strides (in bytes) further."""
        return self.code.at("i8", base, self.code.mul(i, stride))


Row = Callable[[_Mover, str, str, str], None]


def _each(row: Row) -> Callable[..., None]:
    """Rows one after the other."""

    def rows(m: _Mover, out: str, x: str, count: str, n: str, outs: Any, xs: Any) -> None:
        m.code.loop(0, count, 1, lambda r: row(m, m.at(out, r, outs[0]), m.at(x, r, xs[0]), n))

    return rows


def _row(m: _Mover, out: str, x: str, n: str) -> None:
    m.v.over(n, lambda i, part: m.put(m.v, part.load(m.v, x, i), out, part, i))


def _spread(m: _Mover, out: str, x: str, n: str) -> None:
    one = m.code.spread(m.v.lanes, m.number, m.code.value(f"load {m.number}, ptr {x}"))
    m.v.over(n, lambda i, part: m.put(m.v, one, out, part, i))


def _back(m: _Mover, out: str, x: str, n: str) -> None:
    """x is the address of the last number in memory, from which they go back."""
    code, v = m.code, m.v
    complete = code.value(f"and i64 {n}, {-v.lanes}")

    def several(i: str) -> None:
        here = v.load(x, code.value(f"sub i64 {1 - v.lanes}, {i}"))
        m.put(v, v.pick(here, here, range(v.lanes)[::-1]), out, Part(), i)

    code.loop(0, complete, v.lanes, several)
    code.loop(
        complete, n, 1, lambda i: m.one(code.at(m.number, out, i), code.at(m.number, x, code.value(f"sub i64 0, {i}")))
    )  # fmt: skip


def _apart(m: _Mover, out: str, x: str, rows: str, n: str, outs: Any, xs: Any) -> None:
    m.code.loop(0, rows, 1, lambda r: m.line(m.at(out, r, outs[0]), m.at(x, r, xs[0]), n, outs[1], xs[1]))


def _turned(m: _Mover, out: str, x: str, rows: str, n: str, outs: Any, xs: Any) -> None:
    """What lies side by side along the rows of `out` does so down the columns of `x`: squares are transposed in registers."""
    code, v, lanes = m.code, m.v, m.v.lanes  # a line of the cache, so that each is read and written once
    whole_rows, whole = code.value(f"and i64 {rows}, {-lanes}"), code.value(f"and i64 {n}, {-lanes}")

    def square(j: str, i: str) -> None:
        columns = [v.load(m.at(x, code.add(j, k), xs[1]), i) for k in range(lanes)]
        for k, found in enumerate(v.transposed(columns)):
            m.put(v, found, m.at(out, code.add(i, k), outs[0]), Part(), j)

    code.loop(0, whole, lanes, lambda j: code.loop(0, whole_rows, lanes, lambda i: square(j, i)) and None)

    # What is left of both: few columns, then few rows.
    def column(j: str) -> None:
        m.line(code.at(m.number, out, j), m.at(x, j, xs[1]), whole_rows, outs[0], str(m.size))

    def row(i: str) -> None:
        m.line(m.at(out, i, outs[0]), code.at(m.number, x, i), n, str(m.size), xs[1])

    code.loop(whole, n, 1, column)
    code.loop(whole_rows, rows, 1, row)


_KINDS = {"rows": _each(_row), "spread": _each(_spread), "back": _each(_back), "apart": _apart, "turned": _turned}
