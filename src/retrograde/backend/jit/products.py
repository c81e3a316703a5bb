"""Matrix products of a middling size as generated code, where NumPy's BLAS spends its time on rearranging operands.

OpenBLAS copies both operands of a product into blocks before it multiplies, and sets the result to zero first: at
64x784x256 (a layer and a batch) that takes nearly half of its time. Here one panel of the second operand at a time is
copied into the nearest cache, the first is read where it is, and the result written once (after Goto and van de Geijn
2008, who describe both).

Each element of a result is the same sum in the same order whatever the layouts and wherever it stands: with v a copy of
w.T, `x @ w.T` and `x @ v` agree in every bit.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm, threads
from .operands import aligned
from .processor import AVX512
from .vectors import Part, Vectors

ROWS = 8
DEPTH = 256  # rows of a panel at most: with 3 vectors of AVX-512, 48 KiB
TOGETHER = 96  # rows of the blocks that threads compute side by side; columns: half as many, a panel of single numbers

# ------------------------------------------------------------------------------------------ products

LEAST = 1 << 20
"""Fewer multiplications go to BLAS: a call takes 2 µs longer than one of NumPy."""


@functools.cache
def blas_threads() -> int:
    """How many threads BLAS has, as far as it can be told from here."""
    return threads.asked_for("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") or threads.processors()


def most() -> int:
    """More multiplications go to BLAS, and sooner where it has more threads than the pool."""
    return 1 << 26 if blas_threads() <= threads.count() else (1 << 24) // blas_threads()


_generated: dict[str, Callable[..., None] | None] = {}  # by dtype, for those that have been asked for; None: BLAS's
_limit = 1 << 26
_plans: dict[Any, int] = {}


def product(x: np.ndarray, y: np.ndarray, bias: np.ndarray | None = None) -> Any:
    """x y (+ bias), of two matrices (or with a vector) of NumPy; raises ValueError where they do not fit.

    On one thread with AVX-512 0.75 to 0.95 of OpenBLAS's time with its kernels for that (64x784x256 and 2048x16x512: 0.84,
    512x784x96: 0.9), and 0.5 to 0.6 with those for AVX2. Without llvmlite everything goes to BLAS.
    """
    size = x.size
    if size == 1 or y.size == 1:  # where that is 0, `dot` does nothing, and loses what is nan or infinite beside it
        return _plus(np.matmul(x, y), bias)
    if size * y.shape[-1] < LEAST or x.ndim != 2 or y.ndim != 2:
        return _plus(x.dot(y), bias)
    char = x.dtype.char
    function = _generated[char] if char in _generated else _set_up(char)
    if function is None:
        return _plus(_by_blas(x, y), bias)
    x, y = aligned(x), aligned(y)
    form = x.dtype, y.dtype, x.shape, y.shape, x.strides, y.strides
    depth = _plans.get(form)
    if depth is None:
        if len(_plans) > 4096:
            _plans.clear()
        depth = _plans[form] = _planned(*form)
    if not depth:
        return _plus(_by_blas(x, y), bias)
    (m, k), n = x.shape, y.shape[1]
    out = np.empty((m, n), x.dtype)
    rows, columns = _blocks(m, n) if threads.pool(m * k * n >> 2) else (m, n)
    units = threads.tiles(-(-m // rows) * -(-n // columns), m * k * n >> 2)
    if bias is None:
        function(*units, out, x, y, out, 0, depth, rows, columns)
    elif bias.shape == (n,) and bias.strides == (x.itemsize,) and bias.dtype == x.dtype and bias.flags.aligned:
        function(*units, out, x, y, bias, 1, depth, rows, columns)
    else:
        function(*units, out, x, y, out, 0, depth, rows, columns)
        out += bias
    return out


def _blocks(m: int, n: int) -> tuple[int, int]:
    """Rows and columns of the blocks that threads compute side by side. A panel is copied for each block of rows anew."""
    return m if m <= 2 * TOGETHER else TOGETHER, n if n <= TOGETHER else TOGETHER // 2


def _plus(out: Any, bias: np.ndarray | None) -> Any:
    if bias is not None:
        out += bias
    return out


def _planned(
    x_dtype: Any, y_dtype: Any, xs: tuple[int, ...], ys: tuple[int, ...], x_steps: tuple[int, ...], y_steps: tuple[int, ...]
) -> int:
    """The rows of a panel; 0 where the generated functions cannot compute a product, or BLAS is done sooner."""
    (m, k), n, size = xs, ys[1], x_dtype.itemsize
    suited = (
        x_dtype == y_dtype and x_dtype.isnative and k == ys[0] and m >= ROWS and n >= 16 and m * k * n <= _limit
        and (x_steps[1] == size or (m <= 1024 and k <= 1024))  # columns far apart: each is another page
        and size in y_steps
        and not any(step % size for step in (*x_steps, *y_steps))
    )  # fmt: skip
    return -(-k // -(-k // DEPTH)) if suited else 0


def _by_blas(x: np.ndarray, y: np.ndarray) -> Any:
    m, k = x.shape
    # A few long rows against rows: OpenBLAS is faster at (yᵀ xᵀ)ᵀ, by a tenth at 64x784x256 and by half at 16x512x512.
    if k >= 256 and 1 < m <= 64 and y.shape[1] >= 4 * m and y.dtype.char in "fd" and y.strides[0] == y.itemsize:
        return y.T.dot(x.T).T.copy()
    return x.dot(y)


def _set_up(char: str) -> Callable[..., None] | None:
    """The function for a dtype, translated once: 0.12 s, or 8 ms where it lies on the disk; None where BLAS is faster.

    With AVX2 a product of rows that fit the cache takes 0.95 to 1.2 of OpenBLAS's time, a long thin one three times as much.
    """
    global _limit
    with llvm.lock:
        if char not in _generated:
            _limit = most()
            _generated[char] = translated(char) if llvm.available() and llvm.processor() is AVX512 else None
        return _generated[char]


def translated(char: str) -> Callable[..., None] | None:
    """The function for a dtype; None for others than float32 and float64, and where no code is generated."""
    if char not in _NUMBERS or not _laid_out_as_known():
        return None
    return llvm.shared(
        "product", "object out, object x, object y, object bias, i64 biased, i64 depth, i64 rows, i64 columns",
        functools.partial(body, number=_NUMBERS[char]), attributes=_ATTRIBUTES,
    )  # fmt: skip


_NUMBERS = {"f": "float", "d": "double"}


def _laid_out_as_known() -> bool:
    """Whether an array's data, shape and strides stand in it where the generated functions look for them."""
    if sys.implementation.name != "cpython":  # elsewhere id() is no address
        return False
    a = np.zeros((3, 5), np.float32)[:, 1:]
    start = id(a) + object.__basicsize__
    data, shape, strides = (ctypes.c_void_p.from_address(start + offset).value for offset in (0, 16, 24))
    if data != a.ctypes.data or ctypes.c_int.from_address(start + 8).value != 2 or not shape or not strides:
        return False
    pair = ctypes.c_ssize_t * 2
    return tuple(pair.from_address(shape)) == a.shape and tuple(pair.from_address(strides)) == a.strides


# ------------------------------------------------------------------------------------------ their code


_ATTRIBUTES = '"prefer-vector-width"="512" "no-stack-arg-probe"'


def body(c: Any, number: str) -> None:
    """out = x y (+ bias) for NumPy arrays; a unit is a block of `rows` and `columns` of the result.

    The arrays are read as PyArrayObject has been laid out since NumPy 1.7: data, number of axes, shape, strides.
    biased: whether there is a bias. depth: rows of the panels that `y` is cut into.
    """
    kind = llvm.processor()
    assert kind is not None  # something is `available`
    height, most_vectors = kind.tile()
    v = Vectors(c, kind.register // (4 if number == "float" else 8), number)
    c.declare("declare i64 @llvm.smin.i64(i64, i64)")
    panel = c.value(f"alloca [{(DEPTH + v.lanes) * most_vectors * v.lanes} x {number}], align 64")

    def array(name: str) -> tuple[str, list[str], list[str]]:
        data, shape, strides = (
            c.value(f"load ptr, ptr {c.at('i8', name, object.__basicsize__ + offset)}") for offset in (0, 16, 24)
        )
        sizes = [c.value(f"load i64, ptr {c.at('i64', shape, k)}") for k in (0, 1)]
        steps = [c.value(f"load i64, ptr {c.at('i64', strides, k)}") for k in (0, 1)]
        return data, sizes, [c.value(f"sdiv exact i64 {s}, {v.size}") for s in steps]

    out, (m, n), (out_row, _) = array("%out")
    x, (_, k), (x_row, x_column) = array("%x")
    y, _, (y_row, y_column) = array("%y")
    bias = c.value(f"load ptr, ptr {c.at('i8', '%bias', object.__basicsize__)}")

    def block(unit: str) -> None:
        down = c.value(f"sdiv i64 {c.add(m, c.add('%rows', -1))}, %rows")
        across = c.value(f"sdiv i64 {unit}, {down}")
        top = c.mul(c.value(f"sub i64 {unit}, {c.mul(across, down)}"), "%rows")
        bottom = c.least(c.add(top, "%rows"), m)
        left = c.mul(across, "%columns")
        right = c.least(c.add(left, "%columns"), n)
        last = c.add(bottom, -1)

        def keep(vector: str, row: str, column: str | int, width: str | int) -> None:
            v.store(vector, panel, c.add(c.mul(row, width), column), align=64)

        def parts(j: str, count: int, whole: bool) -> list[Part]:
            """The vectors of a row of n numbers from j on. Only the last one may end outside; whole: it does not either."""
            left = c.value(f"sub i64 {right}, {j}")
            end = None if whole else v.below(left, (count - 1) * v.lanes)
            return [*[Part()] * (count - 1), Part(end)]

        def if_so(condition: str, part: Part, pointer: str, index: int) -> str:
            """The vector that starts at an element where a condition holds, or zeros."""
            if part.mask is None:
                return c.value(f"select {v.mask} {condition}, {v.type} {part.load(v, pointer, index)}, {v.type} zeroinitializer")
            return Part(c.value(f"and {v.mask} {part.mask}, {condition}")).load(v, pointer, index)

        def copy_rows(first: str, j: str, rows: str, columns: list[Part]) -> None:
            """Rows of `y`, where they are contiguous, into the panel."""
            count = len(columns)
            source = c.at(number, c.at(number, y, c.mul(first, y_row)), j)

            def copy(row: str) -> None:
                start = c.at(number, source, c.mul(row, y_row))
                for k, part in enumerate(columns):
                    keep(part.load(v, start, k * v.lanes), row, k * v.lanes, count * v.lanes)

            c.loop(0, rows, 1, copy)

        def copy_columns(first: str, j: str, rows: str, width: str) -> None:
            """`width` columns of `y`, where they are contiguous, into the panel: squares of lanes x lanes, transposed."""
            end = c.add(n, -1)

            def some(row: str, inside: Part) -> None:
                def square(k: str) -> None:
                    vectors = []
                    for i in range(v.lanes):
                        column = c.least(c.add(c.add(j, k), i), end)
                        start = c.at(number, y, c.mul(column, y_column))
                        vectors.append(inside.load(v, start, c.add(first, row)))
                    for i, vector in enumerate(v.transposed(vectors)):
                        keep(vector, c.add(row, i), k, width)

                c.loop(0, width, v.lanes, square)

            v.over(rows, some)

        def tiles(first: str, j: str, rows: str, columns: list[Part]) -> None:
            """The columns from j on, of all rows of `out`."""
            count = len(columns)
            again = c.spread(v.lanes, "i1", c.value(f"icmp ne i64 {first}, 0"))
            complete = c.value(f"icmp eq i64 {c.add(first, rows)}, {k}")
            biased = c.spread(v.lanes, "i1", c.value(f"and i1 {complete}, {c.value('icmp ne i64 %biased, 0')}"))
            place = c.at(number, bias, j)
            biases = [if_so(biased, part, place, i * v.lanes) for i, part in enumerate(columns)]
            full = c.value(f"icmp sge i64 {c.value(f'sub i64 {right}, {j}')}, {count * v.lanes}")
            partial = c.value(f"xor i1 {full}, true")

            def tile(i: str) -> None:
                starts = []
                for r in range(height):
                    row = c.least(c.add(i, r), last)  # beyond the last row, that one again: computed, not stored
                    starts.append(c.at(number, c.at(number, x, c.mul(row, x_row)), c.mul(first, x_column)))

                def step(row: str, *sums: str) -> list[str]:
                    start = c.at(number, panel, c.mul(row, count * v.lanes))
                    ys = [v.load(start, i * v.lanes, align=64) for i in range(count)]
                    offset, after = c.mul(row, x_column), []
                    for r in range(height):
                        one = c.value(f"load {number}, ptr {c.at(number, starts[r], offset)}")
                        xs = c.spread(v.lanes, number, one)
                        after += [v.call("fma", xs, ys[i], sums[r * count + i]) for i in range(count)]
                    return after

                sums = c.loop(0, rows, 1, step, carried=[(v.type, "zeroinitializer")] * (height * count))
                for r in range(height):
                    row = c.add(i, r)
                    place = c.at(number, c.at(number, out, c.mul(row, out_row)), j)

                    def store(place: str = place, r: int = r) -> None:
                        totals = []
                        for i, part in enumerate(columns):
                            total = v.add(if_so(again, part, place, i * v.lanes), sums[r * count + i])
                            totals.append(v.add(total, biases[i]))
                        for i, total in enumerate(totals[:-1]):
                            v.store(total, place, i * v.lanes)
                        end, total = (count - 1) * v.lanes, totals[-1]
                        if columns[-1].mask is None:
                            v.store(total, place, end)
                            return
                        # A store with a mask takes some processors ten times as long, though the mask be set everywhere.
                        c.when(full, lambda: v.store(total, place, end))
                        c.when(partial, lambda: columns[-1].store(v, total, place, end))

                    c.when(c.value(f"icmp slt i64 {row}, {bottom}"), store)

            c.loop(top, bottom, height, tile)

        by_rows = c.value(f"icmp eq i64 {y_column}, 1")
        by_columns = c.value(f"xor i1 {by_rows}, true")

        def depth_block(first: str) -> None:
            rows = c.least(c.value(f"sub i64 {k}, {first}"), "%depth")

            def columns(j: str) -> str:
                """The vectors of the next panel: as many as fit, but 2 where 1 would be left, which takes as long as 2."""
                left = c.value(f"sub i64 {right}, {j}")
                one_over = c.value(f"icmp sle i64 {left}, {(most_vectors + 1) * v.lanes}")
                several = c.value(f"icmp sgt i64 {left}, {most_vectors * v.lanes}")
                most = c.value(f"select i1 {c.value(f'and i1 {one_over}, {several}')}, i64 2, i64 {most_vectors}")
                vectors = c.value(f"ashr i64 {c.add(left, v.lanes - 1)}, {v.lanes.bit_length() - 1}")
                return c.least(vectors, most)

            def column_block(j: str) -> None:
                vectors = columns(j)

                c.when(by_columns, lambda: copy_columns(first, j, rows, c.mul(vectors, v.lanes)))

                def panel_of(count: int, whole: bool) -> None:
                    here = parts(j, count, whole)
                    c.when(by_rows, lambda: copy_rows(first, j, rows, here))
                    tiles(first, j, rows, here)

                for count in range(1, most_vectors + 1):
                    chosen = c.value(f"icmp eq i64 {vectors}, {count}")
                    if kind.masked:
                        c.when(chosen, lambda count=count: panel_of(count, False))
                        continue
                    enough = c.value(f"icmp sge i64 {c.value(f'sub i64 {right}, {j}')}, {count * v.lanes}")
                    for whole in (True, False):
                        fits = enough if whole else c.value(f"xor i1 {enough}, true")
                        both = c.value(f"and i1 {chosen}, {fits}")
                        c.when(both, lambda count=count, whole=whole: panel_of(count, whole))

            c.loop(left, right, lambda j: c.mul(columns(j), v.lanes), column_block)

        c.loop(0, k, "%depth", depth_block)

    c.loop("%first", "%last", 1, block)
