"""Convolutions of stride 1 as generated code: products with the matrix of the windows, which is never written down.

In an image whose rows lie one behind the other, the windows' elements at one place of the kernel are a contiguous row that
begins where that place is: the matrix of the windows is a list of offsets into the image. The columns between the end of
one row of windows and the begin of the next are computed and left out.

The tiles are those of products.py: 8 rows of 3 vectors in 24 registers, or 4 rows by 6 for sums along the columns.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm, products, threads
from .operands import aligned
from .processor import AVX512
from .vectors import Part, Vectors

Sizes = tuple[int, ...]

ROWS, VECTORS = 8, 3
LEAST = 1 << 20
"""Fewer multiplications are left to BLAS: the first call loads llvmlite, 50 ms."""

_TOGETHER = 1024  # columns, of several images, of which a tile of sums of products is made before the sums are written


def reach(size: Sizes, out: Sizes) -> int:
    """The columns from the first window to the last, for windows that begin at `out` places along each axis of an image."""
    return sum((n - 1) * step for n, step in zip(out, _steps(size))) + 1


def spread(x: np.ndarray, size: Sizes) -> np.ndarray:
    """Images (.., *out) as rows of `reach` columns (.., reach), with zeros between the rows of windows."""
    lead, out = x.shape[: -len(size)], x.shape[-len(size) :]
    rows = np.zeros((*lead, reach(size, out)), x.dtype)
    windows(rows, size, out)[...] = x
    return rows


def windows(rows: np.ndarray, size: Sizes, out: Sizes) -> np.ndarray:
    """The view (.., *out) of rows of `reach` columns, without what stands between the rows of windows."""
    strides = (*rows.strides[:-1], *(step * rows.itemsize for step in _steps(size)))
    return np.ndarray((*rows.shape[:-1], *out), rows.dtype, rows, 0, strides)


@functools.lru_cache(256)
def offsets(channels: int, size: Sizes, kernel: Sizes, dilation: Sizes, flipped: bool = False) -> np.ndarray:
    """Where in an image (channels, *size) the row of each channel and place of the kernel begins."""
    steps = _steps(size)
    places = [
        sum(t * d * step for t, d, step in zip(tap, dilation, steps)) for tap in itertools.product(*map(range, kernel))
    ]
    found = np.add.outer(np.arange(channels) * math.prod(size), places[::-1] if flipped else places)
    return np.ascontiguousarray(found.ravel(), np.int64)


def _steps(size: Sizes) -> Sizes:
    return tuple(math.prod(size[i + 1 :]) for i in range(len(size)))


def suited(x: np.ndarray, other: np.ndarray, weights: Sizes, columns: int, *, summed: bool = False) -> bool:
    """Whether products of images x (N, C, ..), of so many columns each, with weights (O, D) are computed here.

    other: the second operand. summed: over the columns, by `convolve_weight`, which is slower than BLAS for many weights.
    """
    outputs, depth = weights
    per_image = columns * outputs * depth
    return (
        per_image * len(x) >= LEAST and outputs >= 4 and columns >= 16
        and x.dtype.char in "fd" and x.dtype.isnative and other.dtype == x.dtype
        and (per_image <= products.most() or products.blas_threads() <= threads.count())
        and not (summed and outputs * depth > 1 << 16)
        and llvm.available() and llvm.processor() is AVX512 and _generated("convolve", x.dtype.char) is not None
    )  # fmt: skip


def convolve(x: np.ndarray, w: np.ndarray, starts: np.ndarray, columns: int) -> np.ndarray:
    """Rows (N, O, columns): sums over d of w[o, d] times the columns of x[n] from starts[d] on; all contiguous."""
    x, w = aligned(x), aligned(w)
    out = np.empty((x.shape[0], w.shape[0], columns), x.dtype)
    function = _generated("convolve", x.dtype.char)
    assert function is not None
    function(*_pointers(out, w, x, starts), x.shape[0], w.shape[0], starts.size, columns, x[0].size, out[0].size, 1)
    return out


def convolve_weight(y: np.ndarray, x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Weights (O, D): sums over n and columns of y[n, o] times those of x[n] from starts[d] on; all contiguous."""
    y, x = aligned(y), aligned(x)
    images, outputs, columns = y.shape
    total = np.zeros((outputs, starts.size), x.dtype)
    function = _generated("convolve_weight", x.dtype.char)
    assert function is not None
    block = -(-_TOGETHER // columns)
    function(*_pointers(total, y, x, starts), images, outputs, starts.size, columns, x[0].size, y[0].size, block)
    return total


def _pointers(*arrays: np.ndarray) -> list[int]:
    return [a.ctypes.data for a in arrays]


@functools.cache
def _generated(name: str, dtype: str) -> Callable[..., None] | None:
    text = functools.partial(_TEXTS[name], number={"f": "float", "d": "double"}[dtype])
    return llvm.function(name, text, *(ctypes.c_void_p,) * 4, *(ctypes.c_int64,) * 7)


# ------------------------------------------------------------------------------------------ their code


def _module(code: Any, name: str) -> str:
    sizes = "i64 %images, i64 %outputs, i64 %depth, i64 %columns, i64 %x_image, i64 %y_image, i64 %block"
    return str(code.module(f"define void @{name}(ptr %out, ptr %w, ptr %x, ptr %starts, {sizes})"))


def _row(code: Any, first: str, r: int, count: str) -> str:
    """The number of row `first + r`, or of the last one: beyond it, that one again is computed and not stored."""
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    return str(code.least(code.add(first, r), code.add(count, -1)))


def _convolve(code: Any, number: str) -> str:
    v = Vectors(code, products.VECTOR // (4 if number == "float" else 8), number)

    def image(n: str) -> None:
        x = code.at(number, "%x", code.mul(n, "%x_image"))
        out = code.at(number, "%out", code.mul(n, "%y_image"))

        def tiles(j: str, parts: list[Part]) -> None:
            """The columns from j on, a vector for each part, of all rows."""
            columns = [code.add(j, k * v.lanes) for k in range(len(parts))]

            def tile(o: str) -> None:
                rows = [code.at(number, "%w", code.mul(_row(code, o, r, "%outputs"), "%depth")) for r in range(ROWS)]

                def step(d: str, *sums: str) -> list[str]:
                    start = code.value(f"load i64, ptr {code.at('i64', '%starts', d)}")
                    source = code.at(number, x, start)
                    xs = [part.load(v, source, c) for part, c in zip(parts, columns)]
                    after = []
                    for r, row in enumerate(rows):
                        weight = code.spread(v.lanes, number, code.value(f"load {number}, ptr {code.at(number, row, d)}"))
                        after += [v.call("fma", weight, y, sums[r * len(xs) + k]) for k, y in enumerate(xs)]
                    return after

                zeros = [(v.type, "zeroinitializer")] * (ROWS * len(parts))

                def deep(first: str, *totals: str) -> list[str]:
                    end = code.least(code.add(first, products.DEPTH), "%depth")
                    return [v.add(t, x) for t, x in zip(totals, code.loop(first, end, 1, step, carried=zeros))]

                sums = code.loop(0, "%depth", products.DEPTH, deep, carried=zeros)
                for r in range(ROWS):
                    row = code.add(o, r)
                    target = code.at(number, out, code.mul(row, "%columns"))

                    def store(target: str = target, r: int = r) -> None:
                        for k, part in enumerate(parts):
                            part.store(v, sums[r * len(parts) + k], target, columns[k])

                    code.when(code.value(f"icmp slt i64 {row}, %outputs"), store)

            code.loop(0, "%outputs", ROWS, tile)

        width = VECTORS * v.lanes
        rest = code.value(f"srem i64 %columns, {width}")
        complete = code.value(f"sub i64 %columns, {rest}")
        code.loop(0, complete, width, lambda j: tiles(j, [Part()] * VECTORS))
        needed = code.value(f"sdiv i64 {code.add(rest, v.lanes - 1)}, {v.lanes}")
        for count in range(1, VECTORS + 1):

            def last(count: int = count) -> None:
                left = code.value(f"sub i64 {rest}, {(count - 1) * v.lanes}")
                tiles(complete, [*[Part()] * (count - 1), Part(v.below(left))])

            code.when(code.value(f"icmp eq i64 {needed}, {count}"), last)

    code.loop(0, "%images", 1, image)
    return _module(code, "convolve")


def _convolve_weight(code: Any, number: str, rows: int = 4, places: int = 6) -> str:
    v = Vectors(code, products.VECTOR // (4 if number == "float" else 8), number)

    def some(first: str) -> None:
        end = code.least(code.add(first, "%block"), "%images")

        def tile(o: str, d: str) -> None:
            ours = [code.mul(_row(code, o, r, "%outputs"), "%columns") for r in range(rows)]
            theirs = [
                code.value(f"load i64, ptr {code.at('i64', '%starts', _row(code, d, k, '%depth'))}") for k in range(places)
            ]

            def image(n: str, *sums: str) -> list[str]:
                x = code.at(number, "%x", code.mul(n, "%x_image"))
                y = code.at(number, "%w", code.mul(n, "%y_image"))
                x_rows, y_rows = ([code.at(number, a, at) for at in starts] for a, starts in ((x, theirs), (y, ours)))

                def step(j: str, part: Part, *sums: str) -> list[str]:
                    xs = [part.load(v, row, j) for row in x_rows]
                    ys = [part.load(v, row, j) for row in y_rows]
                    return [v.call("fma", b, a, sums[r * places + k]) for r, b in enumerate(ys) for k, a in enumerate(xs)]

                return v.over("%columns", step, sums)

            sums = code.loop(first, end, 1, image, carried=[(v.type, "zeroinitializer")] * (rows * places))
            for r in range(rows):
                for k in range(places):
                    row, place = code.add(o, r), code.add(d, k)
                    inside = [code.value(f"icmp slt i64 {i}, %{n}") for i, n in ((row, "outputs"), (place, "depth"))]

                    def add(row: str = row, place: str = place, total: str = sums[r * places + k]) -> None:
                        target = code.at(number, "%out", code.add(code.mul(row, "%depth"), place))
                        before = code.value(f"load {number}, ptr {target}")
                        more = code.value(f"fadd {number} {before}, {v.sum(total)}")
                        code.do(f"store {number} {more}, ptr {target}")

                    code.when(code.value(f"and i1 {inside[0]}, {inside[1]}"), add)

        code.loop(0, "%depth", places, lambda d: code.loop(0, "%outputs", rows, lambda o: tile(o, d)) and None)

    code.loop(0, "%images", "%block", some)
    return _module(code, "convolve_weight")


_TEXTS: dict[str, Callable[..., str]] = {"convolve": _convolve, "convolve_weight": _convolve_weight}
