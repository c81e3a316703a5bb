"""Matrix products, and batches of them, as generated code, where NumPy's BLAS spends its time on rearranging operands.

OpenBLAS copies both operands of a product into blocks before it multiplies, and sets the result to zero first: at
64x784x256 (a layer and a batch) that takes nearly half of its time. Here one panel of the second operand at a time is
copied into the nearest cache, while its first tile is computed; the first operand is read where it is (a block of rows at a
time, which stays in the second cache), and the result written once for each panel's depth (after Goto and van de Geijn 2008,
who describe both).

Each element of a result is the same sum in the same order whatever the layouts and wherever it stands: with v a copy of
w.T, `x @ w.T` and `x @ v` agree in every bit.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import blas
from . import llvm, matvec, threads
from .operands import aligned
from .processor import AVX2
from .thresholds import ALONE, LEAST, here
from .vectors import Part, Vectors

ROWS = 8
DEPTH = 256
"""Rows of a panel at most (with 3 vectors of AVX-512 48 KiB), and products that are added up before they are added to the
result, so that rounding errors stay small."""
SEVERAL = 192
"""Rows of a panel at most where there are several of them: a panel and what meets it lie in a first cache of 32 KiB (512x784x1024
takes 0.95 of the time that it takes with 256)."""
LINE = 64
"""Bytes of a line of the cache."""
FAR = 1 << 20
"""Bytes of a second operand from which on its next panel is asked for ahead: it is not in the second cache."""
PANEL = 48  # columns of a panel of single numbers; what meets one alone is read where it is
TOGETHER = 4
"""Panels that are copied together where the registers are few and panels narrow: a line of the cache of each row then."""
COPIED = 8
"""Columns of a block of rows that are laid out at a time."""
LAID = 3 << 17
"""Bytes of a block of rows that is laid out anew at most, on the stack."""
_KEPT = 3 << 17
"""Bytes of the first operand that a block meets a panel with at most, to be found again in the second cache by the next."""
ROWS_APART, LEAST_ROWS = 256, 96
"""Rows of a block that several threads share out, and where columns are too few for enough blocks: a panel is copied for each
(1024x512x512 in blocks of 88 rows takes 1.05 of the time in blocks of 256, where x is laid out 1.1)."""
_PIECES = 4
"""Blocks for each thread, half as many where x is laid out anew for each."""

# ------------------------------------------------------------------------------------------ products


_generated: dict[str, Callable[..., None] | None] = {}  # by dtype, for those that have been asked for; None: BLAS's
_plans: dict[Any, int] = {}


def product(x: np.ndarray, y: np.ndarray, bias: np.ndarray | None = None) -> Any:
    """x y (+ bias), of two matrices (or with a vector) of NumPy; raises ValueError where they do not fit.

    Half to four fifths of BLAS's time on one thread with AVX-512 (64x784x256: 0.65 to 0.8, 2048x16x512: 0.6, 512x784x96:
    0.78; 1024x512x512: 0.6), with AVX2 about as much. Without llvmlite everything goes to BLAS.
    """
    size = x.size
    if size == 1 or y.size == 1:  # where that is 0, `dot` does nothing, and loses what is nan or infinite beside it
        return _plus(np.matmul(x, y), bias)
    if x.ndim != 2 or y.ndim != 2:
        return _plus(_of_vectors(x, y), bias)
    work = size * y.shape[1]
    # OpenBLAS's sums for AVX2 have another order, so that one thread must not take them where several do not.
    if work < LEAST and (work <= ALONE or (threads.count() == 1 and _blas_adds_alike())):
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
    return computed(function, x, y, bias, depth)


def _blas_adds_alike() -> bool:
    """Whether BLAS adds in the order in which generated code does, so that it makes no difference who multiplies."""
    return llvm.processor() is not AVX2 and not blas.adds_as_avx2()


def computed(function: Callable[..., None], x: np.ndarray, y: np.ndarray, bias: np.ndarray | None, depth: int) -> Any:
    """x y (+ bias) by a function that `translated` or `of_pairs` gives. depth: rows of a panel, which `panel_rows` gives."""
    (m, k), n = x.shape, y.shape[1]
    out = np.empty((m, n), x.dtype)
    work, laid = m * k * n >> 2, int(x.strides[1] != x.itemsize and n > PANEL)
    rows, columns = _blocks(m, n, depth * x.itemsize, laid, threads.count() if threads.pool(work) else 1)
    units = threads.tiles(-(-m // rows) * -(-n // columns), work)
    if bias is None:
        function(*units, out, x, y, out, 0, depth, rows, columns, laid)
    elif bias.shape == (n,) and bias.strides == (x.itemsize,) and bias.dtype == x.dtype and bias.flags.aligned:
        function(*units, out, x, y, bias, 1, depth, rows, columns, laid)
    else:
        function(*units, out, x, y, out, 0, depth, rows, columns, laid)
        out += bias
    return out


def batched(x: np.ndarray, y: np.ndarray) -> Any:
    """x y of the matrices along the last two axes of arrays of NumPy; the axes in front of them, one at least of each, broadcast.

    Raises ValueError where they do not fit. With AVX-512 half to three quarters of BLAS's time, which multiplies one pair after
    the other (64 x 128x32x128: 0.6, 20 x 32x32x32: 0.7), and on all cores.
    """
    char = x.dtype.char
    if x.size * y.shape[-1] < LEAST >> 1 or char not in _NUMBERS or x.dtype != y.dtype or not x.dtype.isnative:
        return np.matmul(x, y)
    found = _batched(char)
    if found is None:
        return np.matmul(x, y)
    x, y = aligned(x), aligned(y)
    call = _stack(x.dtype, x.shape, y.shape, x.strides, y.strides)
    if call is None:
        return np.matmul(x, y)
    shape, places, sizes, laid, depth = call
    matrices, (m, k, n) = len(places), sizes[:3]
    out = np.empty(shape, x.dtype)
    work = matrices * m * k * n >> 2
    rows, columns = _blocks(m, n, depth * x.itemsize, laid, threads.count() if threads.pool(work) else 1, matrices)
    units = threads.tiles(matrices * -(-m // rows) * -(-n // columns), work)
    found(*units, out, x, y, places, *sizes, depth, rows, columns, laid)
    return out


@functools.lru_cache(512)
def _stack(
    dtype: Any, xs: tuple[int, ...], ys: tuple[int, ...], x_steps: tuple[int, ...], y_steps: tuple[int, ...]
) -> tuple[tuple[int, ...], np.ndarray, tuple[int, ...], int, int] | None:
    """For `batched`: the result's shape, where each of its matrices' operands begin, sizes and strides, whether rows of x
    are laid out, and their bytes beside a panel. None where BLAS computes it."""
    (m, k), n, size = xs[-2:], ys[-1], dtype.itemsize
    if k != ys[-2] or m < ROWS or n < 16 or k < 8 or any(step % size for step in (*x_steps, *y_steps)):
        return None
    if size not in y_steps[-2:]:
        return None
    try:
        lead = np.broadcast_shapes(xs[:-2], ys[:-2])
    except ValueError:  # np.matmul says so
        return None
    if not math.prod(lead):
        return None
    places = np.zeros((math.prod(lead), 2), np.int64)
    for column, (shape, steps) in enumerate(((xs[:-2], x_steps), (ys[:-2], y_steps))):
        at = np.zeros(lead, np.int64)
        for axis, (length, step) in enumerate(zip(shape, steps), len(lead) - len(shape)):
            if length > 1:
                at += (np.arange(length) * (step // size)).reshape(-1, *(1,) * (len(lead) - axis - 1))
        places[:, column] = at.ravel()
    strides = (step // size for step in (*x_steps[-2:], *y_steps[-2:]))
    return (*lead, m, n), places, (m, k, n, *strides), int(x_steps[-1] != size and n > PANEL), panel_rows(k)


@functools.lru_cache(1024)
def _blocks(m: int, n: int, row: int, laid: int, count: int, matrices: int = 1) -> tuple[int, int]:
    """Rows and columns of the blocks that `count` threads compute side by side, of so many matrices.

    row: the bytes of a row of the first operand beside a panel. A panel is copied for each block of rows anew.
    """
    least = -(-m // ((LAID if laid else _KEPT) // row // ROWS * ROWS))
    pieces = -(-(_PIECES >> laid) * count // matrices)
    if count == 1 or pieces == 1:
        return _part(m, least, ROWS), n
    across = -(-n // PANEL)
    down = max(least, min(-(-m // ROWS_APART), pieces), min(-(-m // LEAST_ROWS), -(-pieces // across)))
    if matrices == 1:
        down = min(-(-down // count) * count, -(-m // ROWS))  # as many for each
    across = min(across, -(-pieces // down))
    return _part(m, down, ROWS), _part(n, across, PANEL)


def _part(size: int, parts: int, unit: int) -> int:
    """The size of so many parts, whole units."""
    return -(-size // (parts * unit)) * unit


def _of_vectors(x: np.ndarray, y: np.ndarray) -> Any:
    found = None
    if x.ndim == 2 and y.ndim == 1:
        found = matvec.product(x, y)
    elif x.ndim == 1 and y.ndim == 2:
        found = matvec.product(y.T, x)
    return x.dot(y) if found is None else found


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
        x_dtype == y_dtype and x_dtype.isnative and k == ys[0] and m >= ROWS and n >= 8
        and size in y_steps
        and not any(step % size for step in (*x_steps, *y_steps))
    )  # fmt: skip
    return panel_rows(k) if suited else 0


def panel_rows(k: int) -> int:
    """The rows of a panel, of k in all."""
    return k if k <= DEPTH else -(-k // -(-k // SEVERAL))


def _by_blas(x: np.ndarray, y: np.ndarray) -> Any:
    m, k = x.shape
    # A few long rows against rows: OpenBLAS is faster at (yᵀ xᵀ)ᵀ, by a tenth at 64x784x256 and by half at 16x512x512.
    if k >= 256 and 1 < m <= 64 and y.shape[1] >= 4 * m and y.dtype.char in "fd" and y.strides[0] == y.itemsize:
        return y.T.dot(x.T).T.copy()
    return x.dot(y)


def _set_up(char: str) -> Callable[..., None] | None:
    """The function for a dtype, translated once: 0.12 s, or 8 ms where it lies on the disk; None where BLAS is faster."""
    with llvm.lock:
        if char not in _generated:
            _generated[char] = translated(char) if llvm.available() and here().generated else None
        return _generated[char]


def generates(char: str) -> bool:
    """Whether products of matrices of a dtype, where they are large, are generated code's."""
    return (_generated[char] if char in _generated else _set_up(char)) is not None


def translated(char: str) -> Callable[..., None] | None:
    """The function for a dtype; None for others than float32 and float64, and where no code is generated."""
    if char not in _NUMBERS or not _laid_out_as_known():
        return None
    return llvm.shared(
        "product", f"object out, object x, object y, object bias, i64 biased, {_FORM}",
        functools.partial(body, number=_NUMBERS[char]), attributes=_ATTRIBUTES,
    )  # fmt: skip


@functools.cache
def of_pairs() -> Callable[..., None] | None:
    """The function for matrices whose elements are pairs of bfloat16 (pairs.py); None without instructions for them."""
    if not _laid_out_as_known():
        return None
    return llvm.shared(
        "product_of_pairs", f"object out, object x, object y, object bias, i64 biased, {_FORM}",
        functools.partial(body, number="float", pairs=True), attributes=_ATTRIBUTES,
    )  # fmt: skip


@functools.cache
def _batched(char: str) -> Callable[..., None] | None:
    """The function for batches of matrices of a dtype; None where BLAS is faster."""
    if not llvm.available() or not here().generated:
        return None
    return batched_of(char)


def batched_of(char: str) -> Callable[..., None] | None:
    """The function for batches of float32 or float64 matrices; None where no code is generated."""
    strides = "i64 x_row, i64 x_column, i64 y_row, i64 y_column"
    return llvm.shared(
        "products", f"array out, array x, array y, array places, i64 m, i64 k, i64 n, {strides}, {_FORM}",
        functools.partial(body, number=_NUMBERS[char], several=True), attributes=_ATTRIBUTES,
    )  # fmt: skip


_FORM = "i64 depth, i64 rows, i64 columns, i64 laid"


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


def body(c: Any, number: str, *, several: bool = False, pairs: bool = False) -> None:
    """out = x y (+ bias) for NumPy arrays; a unit is a block of `rows` and `columns` of the result.

    The arrays are read as PyArrayObject has been laid out since NumPy 1.7: data, number of axes, shape, strides. several:
    results of one shape lie one behind the other, their operands begin where `places` says; there is no bias.
    biased: whether there is a bias. depth: rows of the panels that `y` is cut into. laid: whether the rows of a block of `x`
    are copied, number by number of a tile's rows, since its numbers do not lie side by side.
    pairs: what the operands hold in the place of a number are two of bfloat16, both of which are multiplied and added.
    """
    kind = llvm.processor()
    assert kind is not None  # something is `available`
    height, most_vectors = kind.tile()
    v = Vectors(c, kind.register // (4 if number == "float" else 8), number)
    c.declare("declare i64 @llvm.smin.i64(i64, i64)")
    panels = 1 if kind.registers == 32 else TOGETHER
    panel = c.value(f"alloca [{(DEPTH + v.lanes) * most_vectors * v.lanes * panels} x {number}], align 64")
    copied = c.value(f"alloca [{LAID // v.size + height * DEPTH} x {number}], align 64")
    laid = c.value("icmp ne i64 %laid, 0")
    tile_sums = c.value(f"alloca [{height * most_vectors * v.lanes} x {number}], align 64")
    nothing = c.value(f"alloca {v.type}, align 64")
    v.store(v.constant(0.0), nothing, align=64)

    def multiplied(x: str, y: str, total: str) -> str:
        """total + x y in each lane."""
        if not pairs:
            return v.call("fma", x, y, total)
        halves = f"<{2 * v.lanes} x bfloat>"
        function = f"@llvm.x86.avx512bf16.dpbf16ps.{8 * kind.register}"
        c.declare(f"declare {v.type} {function}({v.type}, {halves}, {halves})")
        x, y = (c.value(f"bitcast {v.type} {x} to {halves}") for x in (x, y))
        return str(c.value(f"call {v.type} {function}({v.type} {total}, {halves} {x}, {halves} {y})"))

    c.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    _write(c, v)
    if not several:
        _ask(c)

    def array(name: str) -> tuple[str, list[str], list[str]]:
        data, shape, strides = (
            c.value(f"load ptr, ptr {c.at('i8', name, object.__basicsize__ + offset)}") for offset in (0, 16, 24)
        )
        sizes = [c.value(f"load i64, ptr {c.at('i64', shape, k)}") for k in (0, 1)]
        steps = [c.value(f"load i64, ptr {c.at('i64', strides, k)}") for k in (0, 1)]
        return data, sizes, [c.value(f"sdiv exact i64 {s}, {v.size}") for s in steps]

    if several:
        m, k, n, x_row, x_column, y_row, y_column, out_row = "%m", "%k", "%n", "%x_row", "%x_column", "%y_row", "%y_column", "%n"
    else:
        first_out, (m, n), (out_row, _) = array("%out")
        first_x, (_, k), (x_row, x_column) = array("%x")
        first_y, _, (y_row, y_column) = array("%y")
        bias = c.value(f"load ptr, ptr {c.at('i8', '%bias', object.__basicsize__)}")
    down = c.value(f"sdiv i64 {c.add(m, c.add('%rows', -1))}, %rows")
    by_rows = c.value(f"icmp eq i64 {y_column}, 1")
    by_columns = c.value(f"xor i1 {by_rows}, true")
    asks = c.value(f"icmp sgt i64 {c.mul(c.mul(k, n), v.size)}, {FAR}")

    def matrix(unit: str) -> None:
        """A block of one of several products."""
        per = c.mul(down, c.value(f"sdiv i64 {c.add(n, c.add('%columns', -1))}, %columns"))
        which = c.value(f"sdiv i64 {unit}, {per}")
        out = c.at(number, "%out", c.mul(which, c.mul(m, n)))
        place = c.at("i64", "%places", c.mul(which, 2))
        x, y = (
            c.at(number, first, c.value(f"load i64, ptr {c.at('i64', place, i)}")) for i, first in enumerate(("%x", "%y"))
        )
        block(c.value(f"sub i64 {unit}, {c.mul(which, per)}"), out, x, y)

    def block(unit: str, out: str, x: str, y: str) -> None:
        across = c.value(f"sdiv i64 {unit}, {down}")
        top = c.mul(c.value(f"sub i64 {unit}, {c.mul(across, down)}"), "%rows")
        bottom = c.least(c.add(top, "%rows"), m)
        left = c.mul(across, "%columns")
        right = c.least(c.add(left, "%columns"), n)
        last = c.add(bottom, -1)

        def keep(vector: str, row: str, column: str | int, width: str | int) -> None:
            v.store(vector, panel, c.add(c.mul(row, width), column), align=64)

        def parts(j: str, count: int, whole: bool) -> list[Part]:
            """The vectors of a row of n numbers from j on; whole: they are known to be inside."""
            left = c.value(f"sub i64 {right}, {j}")
            return [Part(None if whole else v.below(left, k * v.lanes)) for k in range(count)]

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

            if kind.masked:  # one text for whole squares and what is left below them: half as much to translate
                c.loop(0, rows, v.lanes, lambda row: some(row, Part(v.below(c.value(f"sub i64 {rows}, {row}")))))
            else:
                v.over(rows, some)

        def lay(first: str, rows: str) -> None:
            """The rows of the block beside a panel, tile by tile, so that the numbers of a tile's rows lie side by side."""
            vector = f"<{height} x {number}>"
            source = c.at(number, x, c.mul(first, x_column))

            def start(i: str) -> str:
                return str(c.at(number, copied, c.mul(c.value(f"sub i64 {i}, {top}"), rows)))

            def of_columns() -> None:
                """Where columns are contiguous: some of them, whole, at a time, so that each line of the cache is met once."""
                some = c.value(f"sub i64 {bottom}, {top}")
                whole = c.add(top, c.value(f"sub i64 {some}, {c.value(f'srem i64 {some}, {height}')}"))

                def several(k: str) -> None:
                    end = c.least(c.add(k, COPIED), rows)

                    def one(i: str) -> None:
                        own, there = start(i), c.at(number, source, i)

                        def column(k: str) -> None:
                            found = c.value(f"load {vector}, ptr {c.at(number, there, c.mul(k, x_column))}, align {v.size}")
                            c.do(f"store {vector} {found}, ptr {c.at(number, own, c.mul(k, height))}, align {v.size}")

                        c.loop(k, end, 1, column)

                    c.loop(top, whole, height, one)

                c.loop(0, rows, COPIED, several)
                c.loop(whole, bottom, height, tile)

            def tile(i: str) -> None:
                def row(r: str) -> None:
                    there = c.at(number, source, c.mul(c.least(c.add(i, r), last), x_row))
                    here = c.at(number, start(i), r)

                    def one(k: str) -> None:
                        found = c.value(f"load {number}, ptr {c.at(number, there, c.mul(k, x_column))}")
                        c.do(f"store {number} {found}, ptr {c.at(number, here, c.mul(k, height))}")

                    c.loop(0, rows, 1, one)

                c.loop(0, height, 1, row)

            columns_are = c.value(f"icmp eq i64 {x_row}, 1")
            c.when(columns_are, of_columns)
            c.when(c.value(f"xor i1 {columns_are}, true"), lambda: c.loop(top, bottom, height, tile))

        def copy_rows(first: str, j: str, rows: str) -> None:
            """The next `panels` panels of `y`, whose rows are contiguous: each row is looked up once for all of them."""
            width = most_vectors * v.lanes
            size = c.mul(rows, width)

            def row(r: str) -> None:
                there, here = c.at(number, c.at(number, y, c.mul(c.add(first, r), y_row)), j), c.mul(r, width)
                for q in range(panels):
                    goal = c.at(number, panel, c.add(c.mul(size, q), here))
                    for i in range(most_vectors):
                        v.store(v.load(there, q * width + i * v.lanes), goal, i * v.lanes, align=32)

            c.loop(0, rows, 1, row)

        def tiles(first: str, j: str, rows: str, columns: list[Part], laid_panel: str | None = None) -> None:
            """The columns from j on, of all rows of `out`. laid_panel: theirs of `y`, if it is there already."""
            count = len(columns)
            panel_here = panel if laid_panel is None else laid_panel
            width = count * v.lanes
            all_there = c.value(f"icmp sge i64 {c.value(f'sub i64 {right}, {j}')}, {width}")
            begun = c.value(f"icmp ne i64 {first}, 0")
            biased = "false"
            if not several:
                complete = c.value(f"icmp eq i64 {c.add(first, rows)}, {k}")
                biased = c.value(f"and i1 {complete}, {c.value('icmp ne i64 %biased, 0')}")
            along = c.value(f"select i1 {laid}, i64 {height}, i64 {x_column}")
            lines = c.value(f"select i1 {by_rows}, i64 {rows}, i64 {width}")
            line = c.value(f"select i1 {by_rows}, i64 {width}, i64 {rows}")
            some = c.add(c.value(f"sdiv i64 {c.mul(lines, height)}, {c.value(f'sub i64 {bottom}, {top}')}"), 1)

            def ask(i: str) -> None:
                """Ask for some rows (or columns, where these are contiguous) of the next panel, so that the second cache has all
                of it when its first tile comes."""
                next_one = c.at(number, y, c.add(c.mul(first, y_row), c.mul(c.add(j, width), y_column)))
                step = c.mul(c.value(f"select i1 {by_rows}, i64 {y_row}, i64 {y_column}"), v.size)
                begin = c.mul(c.value(f"sdiv i64 {c.value(f'sub i64 {i}, {top}')}, {height}"), some)
                end = c.add(c.mul(line, v.size), LINE - 1)  # it may begin anywhere in a line of the cache
                given = f"i64 {begin}, i64 {c.least(c.add(begin, some), lines)}, ptr {next_one}, i64 {step}, i64 {end}"
                c.do(f"call preserve_mostcc void @ask({given})")

            def tile(i: str) -> None:
                """The columns of a tile's rows. Where rows of `y` are contiguous, the first tile meets them where they are, and
                copies them into the panel."""
                starts = []
                own = c.at(number, copied, c.mul(c.value(f"sub i64 {i}, {top}"), rows))
                for r in range(height):
                    row = c.least(c.add(i, r), last)  # beyond the last row, that one again: computed, not stored
                    there = c.at(number, c.at(number, x, c.mul(row, x_row)), c.mul(first, x_column))
                    starts.append(c.value(f"select i1 {laid}, ptr {c.at(number, own, r)}, ptr {there}"))
                several_rows = c.value(f"sub i64 {bottom}, {i}")
                whole = c.value(f"and i1 {all_there}, {c.value(f'icmp sge i64 {several_rows}, {height}')}")
                whole = c.value(f"and i1 {whole}, {c.value(f'xor i1 {biased}, true')}")

                def step(row: str, *sums: str, copies: bool = False) -> list[str]:
                    start = c.at(number, panel_here, c.mul(row, width))
                    if copies:
                        there = c.at(number, c.at(number, y, c.mul(c.add(first, row), y_row)), j)
                        ys = [part.load(v, there, i * v.lanes) for i, part in enumerate(columns)]
                        for i, vector in enumerate(ys):
                            v.store(vector, start, i * v.lanes, align=64)
                    else:
                        ys = [v.load(start, i * v.lanes, align=64) for i in range(count)]
                    offset, after = c.mul(row, along), []
                    for r in range(height):
                        one = c.value(f"load {number}, ptr {c.at(number, starts[r], offset)}")
                        xs = c.spread(v.lanes, number, one)
                        after += [multiplied(xs, ys[i], sums[r * count + i]) for i in range(count)]
                    return after

                if not several:
                    c.when(asks, lambda: ask(i))
                for r in range(0 if several else height):  # while the sums are made, what they are added to comes nearer
                    place = c.at(number, c.at(number, out, c.mul(c.add(i, r), out_row)), j)
                    for q in range(count):
                        c.do(f"call void @llvm.prefetch.p0(ptr {c.at(number, place, q * v.lanes)}, i32 0, i32 3, i32 1)")
                sums, begin = ["zeroinitializer"] * (height * count), "0"
                if laid_panel is None:
                    copying = c.value(f"and i1 {by_rows}, {c.value(f'icmp eq i64 {i}, {top}')}")
                    begin = c.value(f"select i1 {copying}, i64 {rows}, i64 0")
                    copied_too = functools.partial(step, copies=True)
                    sums = c.loop(0, begin, 1, copied_too, carried=[(v.type, x) for x in sums])
                sums = c.loop(begin, rows, 1, step, carried=[(v.type, x) for x in sums])

                def at_once() -> None:
                    for r in range(height):
                        place = c.at(number, c.at(number, out, c.mul(c.add(i, r), out_row)), j)
                        for q in range(count):
                            there = c.at(number, place, q * v.lanes)
                            earlier = v.load(c.value(f"select i1 {begun}, ptr {there}, ptr {nothing}"))
                            v.store(v.add(earlier, sums[r * count + q]), there)

                def row_by_row() -> None:
                    for q, total in enumerate(sums):
                        v.store(total, tile_sums, q * v.lanes, align=64)
                    place = c.at(number, c.at(number, out, c.mul(i, out_row)), j)
                    inside = c.value(f"sub i64 {right}, {j}")
                    shift = nothing if several else c.at(number, bias, j)
                    given = f"ptr {tile_sums}, i64 {width}, ptr {place}, i64 {out_row}, i64 {c.least(several_rows, height)}"
                    c.do(f"call preserve_mostcc void @write({given}, i64 {inside}, i1 {begun}, i1 {biased}, ptr {shift})")

                c.when(whole, at_once)
                c.when(c.value(f"xor i1 {whole}, true"), row_by_row)

            c.loop(top, bottom, height, tile)

        def depth_block(first: str) -> None:
            rows = c.least(c.value(f"sub i64 {k}, {first}"), "%depth")
            c.when(laid, lambda: lay(first, rows))

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

            begin = left
            if panels > 1:
                width = most_vectors * v.lanes
                some = c.value(f"sub i64 {right}, {left}")
                most = c.value(f"sub i64 {some}, {c.value(f'srem i64 {some}, {panels * width}')}")
                begin = c.add(left, c.value(f"select i1 {by_rows}, i64 {most}, i64 0"))

                def several_panels(j: str) -> None:
                    copy_rows(first, j, rows)

                    def one(q: str) -> None:
                        offset = c.mul(q, width)
                        tiles(first, c.add(j, offset), rows, [Part()] * most_vectors, c.at(number, panel, c.mul(offset, rows)))

                    c.loop(0, panels, 1, one)

                c.loop(left, begin, panels * width, several_panels)
            c.loop(begin, right, lambda j: c.mul(columns(j), v.lanes), column_block)

        c.loop(0, k, "%depth", depth_block)

    c.loop("%first", "%last", 1, matrix if several else lambda unit: block(unit, first_out, first_x, first_y))


def _function(c: Any, head: str, inner: llvm.Code) -> None:
    """Have a function in the module that others call."""
    inner.do("ret void")
    c.declare("\n".join([f"define internal preserve_mostcc void {head} #0 {{", *inner.lines, "}"]))


def _ask(c: Any) -> None:
    """ask(first, last, start, step, bytes): ask for rows of so many bytes, that lie `step` bytes apart."""
    inner = llvm.Code()

    def one(r: str) -> None:
        there = inner.at("i8", "%start", inner.mul(r, "%step"))

        def part(at: str) -> None:
            inner.do(f"call void @llvm.prefetch.p0(ptr {inner.at('i8', there, at)}, i32 0, i32 2, i32 1)")

        inner.loop(0, "%bytes", LINE, part)

    inner.loop("%first", "%last", 1, one)
    _function(c, "@ask(i64 %first, i64 %last, ptr %start, i64 %step, i64 %bytes)", inner)


def _write(c: Any, like: Vectors) -> None:
    """write(sums, width, place, step, rows, inside, again, biased, bias): the sums of a tile into the first `inside` numbers of
    rows that lie `step` numbers apart: added to what is there, if `again`, and the bias to that, if `biased`.

    For tiles at an edge, and those with a bias; others store their registers. It is one text for tiles of all widths.
    """
    inner = llvm.Code()
    inner._declared = c._declared
    v = Vectors(inner, like.lanes, like.number)
    nothing = inner.value(f"alloca {v.type}, align 64")
    v.store(v.constant(0.0), nothing, align=64)

    def vector(q: str) -> None:
        left = inner.value(f"sub i64 %inside, {q}")

        def of(part: Part) -> None:
            shift = part.load(v, inner.value(f"select i1 %biased, ptr {inner.at(v.number, '%bias', q)}, ptr {nothing}"), 0)

            def row(r: str) -> None:
                there = inner.at(v.number, inner.at(v.number, "%place", inner.mul(r, "%step")), q)
                found = v.load(inner.at(v.number, "%sums", inner.mul(r, "%width")), q, align=64)
                earlier = part.load(v, inner.value(f"select i1 %again, ptr {there}, ptr {nothing}"), 0)
                total = v.add(earlier, found)
                more = inner.value(f"select i1 %biased, {v.type} {v.add(total, shift)}, {v.type} {total}")
                part.store(v, more, there, 0)

            inner.loop(0, "%rows", 1, row)

        whole = inner.value(f"icmp sge i64 {left}, {v.lanes}")
        inner.when(whole, lambda: of(Part()))
        inner.when(inner.value(f"xor i1 {whole}, true"), lambda: of(Part(v.below(left))))

    inner.loop(0, "%width", v.lanes, vector)
    given = "ptr %sums, i64 %width, ptr %place, i64 %step, i64 %rows, i64 %inside, i1 %again, i1 %biased, ptr %bias"
    _function(c, f"@write({given})", inner)
