"""Triangular systems with many right sides as generated code, the two of an LU factorisation in one pass.

A panel of columns of the right sides is copied into the nearest cache, solved there and copied back. Of a block of rows the
part that the rows before them determine is a product, whose sums stay in registers as in products.py; the block's own triangle
is solved in the registers, too. OpenBLAS takes 48 µs for one triangle of 100x100 single numbers and as many right sides, and 95
for the two of LU factors; this takes 13 and 20 (double ones: 66 and 131; 22 and 35).

Each number of a result is the same sum in the same order wherever it stands: neither threads nor the other right sides
change a bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import llvm, threads
from .operands import aligned
from .vectors import Part, Vectors

FEWEST, MOST = 16, 512
"""Rows of a system from which on this is the faster way, a call's 4 µs included, and as many as a panel has room for: of
more, the triangle comes out of the second cache again and again."""
_NUMBERS = {"f": "float", "d": "double"}


class Triangle(NamedTuple):
    """One of the systems that are solved in a row: the triangle of a matrix (or of its transpose) that is read, and whether
    its diagonal counts as ones."""

    upper: bool
    unit: bool = False
    transposed: bool = False


def suited(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether `solved` takes matrices: square ones, of the kind of numbers of the right sides, no batches to be broadcast."""
    n = a.shape[-1]
    return (
        FEWEST <= n <= MOST and a.dtype == b.dtype and a.dtype.isnative
        and a.dtype.char in _NUMBERS and a.shape[-2] == b.shape[-2] == n and a.shape[:-2] == b.shape[:-2]
        and bool(b.size) and _function(a.dtype.char) is not None
    )  # fmt: skip


def solved(a: np.ndarray, b: np.ndarray, *triangles: Triangle, lower: bool = False) -> np.ndarray:
    """Solve triangular systems in a row: with a's first triangle and `b` as right sides, with the second one and what that
    gives, and so on.

    a (..., n, n) and b (..., n, m), for which `suited` holds. b is overwritten where it lies in C order and may be written;
    the result lies so. lower: b has zeros above its diagonal, and the first system is one of a lower triangle, so that they
    stay; what they would add is left out.
    """
    function = _function(a.dtype.char)
    assert function is not None  # suited
    n, m = b.shape[-2:]
    if not (b.flags.c_contiguous and b.flags.writeable and b.flags.aligned):
        b = np.array(b, order="C")
    a = aligned(a)
    size, (row, column) = a.itemsize, a.strides[-2:]
    if (a.ndim > 2 and not a.flags.c_contiguous) or row % size or column % size:
        a = np.ascontiguousarray(a)
        row, column = a.strides[-2:]
    plan = _plan(row // size, column // size, triangles)
    matrices = b.size // (n * m)
    wide = _width(a.dtype.char)
    work = matrices * n * n * m * len(triangles) >> 3
    units = threads.tiles(matrices * -(-m // wide), work)
    function(*units, b, a, plan, len(triangles), n, m, n * n, int(lower))
    return b


@functools.lru_cache(256)
def _plan(row: int, column: int, triangles: tuple[Triangle, ...]) -> np.ndarray:
    """For each system: the strides of the triangle's rows and columns, whether rows are counted from the last, and whether
    the diagonal is one of ones."""
    lines = []
    for t in triangles:
        steps = (column, row) if t.transposed else (row, column)
        lines.append((*steps, int(t.upper != t.transposed), int(t.unit)))
    return np.array(lines, np.int64)


@functools.cache
def _function(char: str) -> Callable[..., None] | None:
    """The function for a dtype; None where no code is generated."""
    if not llvm.available():
        return None
    return llvm.shared(
        "triangular", "array b, array a, array plan, i64 systems, i64 n, i64 m, i64 apart, i64 lower",
        functools.partial(body, number=_NUMBERS[char]), attributes='"prefer-vector-width"="512" "no-stack-arg-probe"',
    )  # fmt: skip


@functools.cache
def _width(char: str) -> int:
    """Columns of a panel."""
    kind = llvm.processor()
    assert kind is not None  # _function is not
    return kind.tile()[1] * (kind.register // np.dtype(char).itemsize)


def body(c: Any, number: str) -> None:
    """Solve `systems` one after the other for panels of the right sides b, in place; a unit is a panel.

    `apart` numbers lie between two matrices of a, whose strides stand in `plan`.
    """
    kind = llvm.processor()
    assert kind is not None  # something is `available`
    height, most = kind.tile()
    v = Vectors(c, kind.register // (4 if number == "float" else 8), number)
    c.declare("declare i64 @llvm.smin.i64(i64, i64)")
    panel = c.value(f"alloca [{MOST * most * v.lanes} x {number}], align 64")
    panels = c.value(f"sdiv i64 {c.add('%m', most * v.lanes - 1)}, {most * v.lanes}")
    one = f"{1.0:e}"

    def unit(u: str) -> None:
        which = c.value(f"sdiv i64 {u}, {panels}")
        first = c.mul(c.value(f"sub i64 {u}, {c.mul(which, panels)}"), most * v.lanes)
        left = c.least(c.value(f"sub i64 %m, {first}"), most * v.lanes)
        b = c.at(number, c.at(number, "%b", c.mul(which, c.mul("%n", "%m"))), first)
        a = c.at(number, "%a", c.mul(which, "%apart"))
        vectors = c.value(f"ashr i64 {c.add(left, v.lanes - 1)}, {v.lanes.bit_length() - 1}")
        for count in range(1, most + 1):
            chosen = c.value(f"icmp eq i64 {vectors}, {count}")
            c.when(chosen, lambda count=count: panel_of(count, left, b, a, c.mul(first, "%lower")))

    def panel_of(count: int, left: str, b: str, a: str, zeros: str) -> None:
        columns = [Part(v.below(left, k * v.lanes)) for k in range(count)]
        width = count * v.lanes

        def copy_in(row: str) -> None:
            source, target = c.at(number, b, c.mul(row, "%m")), c.at(number, panel, c.mul(row, width))
            for k, part in enumerate(columns):
                v.store(part.load(v, source, k * v.lanes), target, k * v.lanes, align=64)

        def copy_out(row: str) -> None:
            source, target = c.at(number, panel, c.mul(row, width)), c.at(number, b, c.mul(row, "%m"))
            for k, part in enumerate(columns):
                part.store(v, v.load(source, k * v.lanes, align=64), target, k * v.lanes)

        c.loop(0, "%n", 1, copy_in)
        c.loop(0, "%systems", 1, lambda s: system(s, width, a, zeros))
        c.loop(0, "%n", 1, copy_out)

    def system(s: str, width: int, a: str, zeros: str) -> None:
        """One triangular system, its rows counted from the end where the triangle is an upper one; zeros: how many rows of the
        first one's right sides are."""
        rest = c.value(f"srem i64 %n, {height}")
        beyond = c.value(f"sub i64 {zeros}, {rest}")  # whole blocks are left out, so that the others stand where they do
        left_out = c.value(f"sub i64 {zeros}, {c.value(f'srem i64 {beyond}, {height}')}")
        some = c.value(f"and i1 {c.value(f'icmp eq i64 {s}, 0')}, {c.value(f'icmp sge i64 {beyond}, 0')}")
        first = c.value(f"select i1 {some}, i64 {left_out}, i64 0")
        row, column, reverse, unit = (
            c.value(f"load i64, ptr {c.at('i64', '%plan', c.add(c.mul(s, 4), k))}") for k in range(4)
        )
        sign = c.value(f"sub i64 1, {c.mul(reverse, 2)}")
        end = c.mul(reverse, c.add("%n", -1))
        a = c.at(number, a, c.mul(end, c.add(row, column)))
        x = c.at(number, panel, c.mul(end, width))
        row, column, along = c.mul(row, sign), c.mul(column, sign), c.mul(sign, width)
        ones = c.value(f"icmp ne i64 {unit}, 0")
        blocks = c.value(f"select i1 {some}, i64 {first}, i64 {rest}")

        def rows(i: str, high: int) -> None:
            """`high` rows from row i on."""
            count = width // v.lanes
            starts = [c.at(number, a, c.mul(c.add(i, r), row)) for r in range(high)]

            def step(j: str, *sums: str) -> list[str]:
                there, offset, after = c.at(number, x, c.mul(j, along)), c.mul(j, column), []
                xs = [v.load(there, k * v.lanes, align=64) for k in range(count)]
                for r in range(high):
                    factor = c.value(f"load {number}, ptr {c.at(number, starts[r], offset)}")
                    factors = c.spread(v.lanes, number, factor)
                    after += [v.call("fma", factors, xs[k], sums[r * count + k]) for k in range(count)]
                return after

            sums = c.loop(first, i, 1, step, carried=[(v.type, "zeroinitializer")] * (high * count))
            diagonal = c.mul(i, column)
            found: list[list[str]] = []
            for r in range(high):
                there = c.at(number, x, c.mul(c.add(i, r), along))
                own = [v.subtract(v.load(there, k * v.lanes, align=64), sums[r * count + k]) for k in range(count)]
                for q, before in enumerate(found):
                    place = c.at(number, starts[r], c.add(diagonal, c.mul(column, q)))
                    factors = c.spread(v.lanes, number, c.value(f"fneg {number} {c.value(f'load {number}, ptr {place}')}"))
                    own = [v.call("fma", factors, y, z) for y, z in zip(before, own)]
                pivot = c.value(f"load {number}, ptr {c.at(number, starts[r], c.add(diagonal, c.mul(column, r)))}")
                pivot = c.value(f"select i1 {ones}, {number} {one}, {number} {pivot}")
                inverse = c.spread(v.lanes, number, c.value(f"fdiv {number} {one}, {pivot}"))
                own = [v.multiply(y, inverse) for y in own]
                for k, y in enumerate(own):
                    v.store(y, there, k * v.lanes, align=64)
                found.append(own)

        c.loop(first, blocks, 1, lambda i: rows(i, 1))
        c.loop(blocks, "%n", height, lambda i: rows(i, height))

    c.loop("%first", "%last", 1, unit)
