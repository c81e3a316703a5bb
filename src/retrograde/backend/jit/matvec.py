"""Products of a matrix and a vector as generated code (float32, float64), on the pool's threads.

They are read once and nothing is kept, so memory sets the pace: one thread is as well off with BLAS, and keeps it. Several
threads of BLAS would share out matrices from 10⁴ numbers on, by its own pool, whose workers and ours run against each other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from . import llvm, threads
from .operands import FLOAT32, FLOAT64, aligned
from .vectors import Part, Vectors

LEAST = 9000
"""Fewer numbers are BLAS's in any case, which has one thread for them."""
FEW = 8
"""Shorter rows and columns are BLAS's."""
ROWS = 4
"""Rows that meet a vector at a time, where their numbers lie side by side."""
TOGETHER = 8
"""Vectors of results at a time, where columns lie side by side."""
SHARES = 16
"""Parts of the columns, which are contiguous, that are summed by themselves, at most: 1000 x 1000 numbers took 148 µs where
each thread had some of the rows, whose numbers lie far apart."""
LEAST_COLUMNS = 32
DEPTH = 256
"""Products of one result that are added up in one number before they are added to the others."""


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """x y of a matrix and a vector that fit; None where it is BLAS's affair."""
    if x.size < LEAST or threads.count() == 1 or x.dtype != y.dtype or x.dtype not in (FLOAT32, FLOAT64):
        return None
    m, k = x.shape
    size = x.itemsize
    if k != len(y) or min(m, k) < FEW or size not in x.strides or any(step % size for step in x.strides):
        return None
    by_rows = x.strides[1] == size
    number = "float" if x.dtype == FLOAT32 else "double"
    function = _generated(number, by_rows)
    if function is None:
        return None
    x, y = aligned(x), np.ascontiguousarray(aligned(y))
    if by_rows:
        out = np.empty(m, x.dtype)
        function(*threads.tiles(-(-m // ROWS), x.size), out, x, y, m, k, x.strides[0] // size, 0)
        return out
    share = -(-k // max(1, min(SHARES, k // LEAST_COLUMNS)))
    sums = np.empty((-(-k // share), m), x.dtype)
    function(*threads.tiles(len(sums), x.size), sums, x, y, m, k, x.strides[1] // size, share)
    return sums[0] if len(sums) == 1 else np.add.reduce(sums, 0)


def _lanes(number: str) -> int:
    kind = llvm.processor()
    assert kind is not None  # code is `available`
    return kind.register // (4 if number == "float" else 8)


@functools.cache
def _generated(number: str, by_rows: bool) -> Callable[..., None] | None:
    if not llvm.available():
        return None
    name, body = ("rows_times", _rows) if by_rows else ("columns_times", _columns)
    return llvm.shared(
        name, "array out, array x, array y, i64 m, i64 k, i64 apart, i64 part",
        lambda code: body(Vectors(code, _lanes(number), number)),
        attributes='"prefer-vector-width"="512"',
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ their code


def _rows(v: Vectors) -> None:
    """A unit is ROWS rows."""
    code = v.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    last = code.add("%m", -1)

    def unit(u: str) -> None:
        first = code.mul(u, ROWS)
        rows = [code.least(code.add(first, r), last) for r in range(ROWS)]  # beyond the last, that one again
        pointers = [code.at(v.number, "%x", code.mul(row, "%apart")) for row in rows]

        def step(i: str, part: Part, *sums: str) -> list[str]:
            y = part.load(v, "%y", i)
            return [v.call("fma", part.load(v, x, i), y, total) for x, total in zip(pointers, sums)]

        def join(a: Sequence[str], b: Sequence[str]) -> list[str]:
            return [v.add(x, y) for x, y in zip(a, b)]

        for row, total in zip(rows, v.folded("%k", step, [v.constant(0.0)] * ROWS, join, together=2)):
            code.do(f"store {v.number} {v.sum(total)}, ptr {code.at(v.number, '%out', row)}")

    code.loop("%first", "%last", 1, unit)


def _columns(v: Vectors) -> None:
    """A unit is `part` columns, whose sums have a row of `out`."""
    code = v.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    span = TOGETHER * v.lanes

    def unit(u: str) -> None:
        begin = code.mul(u, "%part")
        end = code.least(code.add(begin, "%part"), "%k")
        out = code.at(v.number, "%out", code.mul(u, "%m"))

        def results(first: str, parts: Sequence[Part]) -> None:
            source = code.at(v.number, "%x", first)

            def block(start: str, *totals: str) -> list[str]:
                def one(k: str, *sums: str) -> list[str]:
                    y = code.spread(v.lanes, v.number, code.value(f"load {v.number}, ptr {code.at(v.number, '%y', k)}"))
                    column = code.at(v.number, source, code.mul(k, "%apart"))
                    return [v.call("fma", part.load(v, column, q * v.lanes), y, sums[q]) for q, part in enumerate(parts)]

                stop = code.least(code.add(start, DEPTH), end)
                sums = code.loop(start, stop, 1, one, carried=[(v.type, v.constant(0.0))] * len(parts))
                return [v.add(total, x) for total, x in zip(totals, sums)]

            found = code.loop(begin, end, DEPTH, block, carried=[(v.type, v.constant(0.0))] * len(parts))
            for q, (part, total) in enumerate(zip(parts, found)):
                part.store(v, total, code.at(v.number, out, first), q * v.lanes)

        whole = code.value(f"and i64 %m, {-span}")
        code.loop(0, whole, span, lambda first: results(first, [Part()] * TOGETHER))
        left = code.value(f"sub i64 %m, {whole}")
        some = code.value(f"icmp sgt i64 {left}, 0")
        code.when(some, lambda: results(whole, [Part(v.below(left, q * v.lanes)) for q in range(TOGETHER)]))

    code.loop("%first", "%last", 1, unit)
