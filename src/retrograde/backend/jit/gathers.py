"""Reading, writing and adding at positions along an axis as generated code: gather, take, scatter and their transposes.

NumPy makes the places in memory first, eight bytes for each number, and goes through Python's buffers number by number to add.
Here positions are checked by vectors and used where they stand. What is added to one place is added in the order of the
positions, by one unit of work: units are lines, blocks of columns, or rows of the result.

Positions along an axis are one for each element ("own"), or one for a row of them ("rows"), as where they are expanded along
the axes behind; positions of `take` ("wrapped") may count from the end. Lines that share their positions read them from the
same place. Where one is out of bounds nothing is returned, and the caller says what is wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import llvm, threads
from .copies import packed
from .lines import LEAST, NUMBERS, Lines, either, lines
from .vectors import LANES, Part, Vectors

MANY = 1 << 17
"""Fewer numbers in rows are copied by NumPy."""

SPAN = 1024
"""Numbers that are read by one unit of work."""

COLUMNS = 64
"""Numbers of a row that are added by one unit of work."""

_WORDS = {4: "i32", 8: "i64"}
_POSITIONS = {"l": np.dtype("l").itemsize, "q": 8, "i": 4}


def along(x: np.ndarray, at: np.ndarray, axis: int) -> np.ndarray | None:
    """The elements of x at positions `at` along an axis, as shaped as they are; None where it is the caller's affair."""
    if max(at.size, x.size) < LEAST or not (_fits(x.shape, at.shape, axis) and _plain(x)):
        return None
    named = _named(at, axis)
    return None if named is None else _read(np.empty(at.shape, x.dtype), packed(x), named, lines(x.shape, axis), at.shape[axis])


def take(x: np.ndarray, at: np.ndarray, axis: int) -> np.ndarray | None:
    """The slices of x at positions along an axis, whose axes stand in its place; None where it is the caller's affair.

    Rows are copied as fast by NumPy, unless there are several threads.
    """
    if at.size * x.size < LEAST:
        return None
    lie = lines(x.shape, axis)
    moved = at.size * lie.total
    if moved < (2 * LEAST if lie.inner == 1 else MANY) or not (_plain(x) and _whole(at)):
        return None
    if lie.inner > 1 and threads.count() == 1:
        return None
    out = np.empty((*x.shape[:axis], *at.shape, *x.shape[axis + 1 :]), x.dtype)
    return _read(out, packed(x), _Named(packed(at), lie.outer, "wrapped"), lie, at.size)


def along_add(
    g: np.ndarray, at: np.ndarray, shape: tuple[int, ...], axis: int, base: np.ndarray | None = None
) -> np.ndarray | None:  # fmt: skip
    """Zeros, or a copy of `base`, with g added at positions along an axis; None where it is the caller's affair."""
    number = _addable(g, shape)
    if number is None or g.shape != at.shape or not _fits(shape, at.shape, axis):
        return None
    if base is not None and (base.dtype != g.dtype or base.shape != shape):
        return None
    named = _named(at, axis)
    if named is None:
        return None
    out = np.zeros(shape, g.dtype) if base is None else np.array(base, order="C")
    return _write(out, packed(g), named, lines(shape, axis), at.shape[axis], "add", number)


def along_put(x: np.ndarray, at: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray | None:
    """A copy of x with values (as shaped as the positions, or one for all) written at positions along an axis, the last one
    stays; None where it is the caller's affair."""
    if max(at.size, x.size) < LEAST or values.dtype != x.dtype or values.shape not in (at.shape, ()):
        return None
    lie = lines(x.shape, axis)
    if not (_fits(x.shape, at.shape, axis) and _plain(x)):
        return None
    named = _named(at, axis)
    if named is None:
        return None
    values = packed(values) if values.shape else np.full(at.shape, values)
    return _write(np.array(x, order="C"), values, named, lie, at.shape[axis], "put", _WORDS[x.dtype.itemsize])


def take_add(
    g: np.ndarray, at: np.ndarray, shape: tuple[int, ...], axis: int, base: np.ndarray | None = None
) -> np.ndarray | None:  # fmt: skip
    """Zeros, or a copy of `base`, with the slices of g added at positions along an axis; None where it is the caller's
    affair."""
    number = _addable(g, shape) or _addable_rows(g, axis)
    if number is None or not _whole(at) or not (base is None or (base.dtype == g.dtype and base.shape == shape)):
        return None
    lie = lines(shape, axis)
    by_rows = lie.outer == 1 and lie.inner > 1 and 4 * at.size >= lie.length
    if g.size != lie.total * at.size or not (by_rows or _addable(g, shape)):
        return None
    g, at = packed(g), packed(at)
    if by_rows:
        return _rows(g, at, lie, number, np.zeros(0, g.dtype) if base is None else packed(base), shape)
    out = np.zeros(shape, g.dtype) if base is None else np.array(base, order="C")
    return _write(out, g, _Named(at, lie.outer, "wrapped"), lie, at.size, "add", number)


class _Named(NamedTuple):
    """Positions, contiguous; how many lines that follow each other share them; and what each of them names."""

    at: np.ndarray
    shared: int
    kind: str


def _named(at: np.ndarray, axis: int) -> _Named | None:
    """Positions along an axis without what they are expanded by: along axes behind it, and directly before it."""
    if not _whole(at):
        return None
    if at.flags.c_contiguous or not at.size:
        return _Named(packed(at), 1, "own")
    spread = [stride == 0 or n == 1 for stride, n in zip(at.strides, at.shape)]
    first = axis
    while first and spread[first - 1]:
        first -= 1
    whole: tuple[slice, ...] = (slice(None),)
    rows = at.ndim > axis + 1 and all(spread[axis + 1 :])
    behind = (0,) * (at.ndim - axis - 1) if rows else whole * (at.ndim - axis - 1)
    core = at[whole * first + (0,) * (axis - first) + whole + behind]
    return _Named(packed(core), math.prod(at.shape[first:axis]), "rows" if rows else "own")


def _fits(shape: tuple[int, ...], at: tuple[int, ...], axis: int) -> bool:
    return len(at) == len(shape) and shape[:axis] == at[:axis] and shape[axis + 1 :] == at[axis + 1 :]


def _plain(x: np.ndarray) -> bool:
    return x.dtype.itemsize in _WORDS and x.dtype.kind in "fiu"


def _whole(at: np.ndarray) -> bool:
    return at.dtype.char in _POSITIONS and at.dtype.isnative


def _addable(g: np.ndarray, shape: tuple[int, ...]) -> str | None:
    if g.size < LEAST and math.prod(shape) < LEAST:
        return None
    return NUMBERS.get(g.dtype.char) if g.dtype.isnative else None


def _addable_rows(g: np.ndarray, axis: int) -> str | None:
    """The same for fewer rows, where `_rows` takes a quarter to a half of NumPy's time (the other ways are as slow as NumPy)."""
    rows = axis == 0 and g.ndim > 1 and g.shape[-1] > 1
    return NUMBERS.get(g.dtype.char) if rows and g.dtype.isnative and llvm.pays(_CALL + g.size) else None


_CALL = 1500
"""Nanoseconds that NumPy takes longer for few rows, and one more for each number."""


def _read(out: np.ndarray, x: np.ndarray, named: _Named, lie: Lines, count: int) -> np.ndarray | None:
    at = named.at
    function = _generated("read", _WORDS[x.dtype.itemsize], _POSITIONS[at.dtype.char], named.kind)
    if function is None or not lie.length:
        return None
    span = max(1, SPAN // lie.inner)
    units = lie.outer * -(-count // span)
    bad = np.zeros(1, np.int64)
    function(*threads.tiles(units, 4 * out.size), out, x, at, bad, lie.length, count, lie.inner, named.shared, span)
    return None if bad[0] else out


def _write(
    out: np.ndarray, g: np.ndarray, named: _Named, lie: Lines, count: int, what: str, number: str
) -> np.ndarray | None:  # fmt: skip
    at = named.at
    function = _generated(what, number, _POSITIONS[at.dtype.char], named.kind)
    if function is None or not lie.length:
        return None
    units = lie.outer * -(-lie.inner // COLUMNS)
    bad = np.zeros(1, np.int64)
    function(*threads.tiles(units, 4 * g.size), out, g, at, bad, lie.length, count, lie.inner, named.shared)
    return None if bad[0] else out


def _rows(
    g: np.ndarray, at: np.ndarray, lie: Lines, number: str, base: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray | None:  # fmt: skip
    """Rows by where they go: the positions are put in order first, then every row of the result is a sum of its own, onto
    that of `base` where that has any."""
    size = _POSITIONS[at.dtype.char]
    ordered, summed = _ordered(size), _generated("onto" if base.size else "sum", number, size, "wrapped")
    if ordered is None or summed is None:
        return None
    places = np.empty(at.size + lie.length + 1, np.int64)
    order = places[lie.length + 1 :]
    bad = np.zeros(1, np.int64)
    ordered(0, 1, 1, order, places, at, bad, lie.length, at.size)
    if bad[0]:
        return None
    out = np.empty(shape, g.dtype)
    summed(*threads.tiles(lie.length, g.size + out.size), out, g, order, places, base, lie.inner)
    return out


@functools.cache
def _generated(what: str, number: str, size: int, kind: str) -> Callable[..., None] | None:
    text, operands = {
        "read": (_read_text, "array out, array x, array at, array bad, i64 length, i64 count, i64 inner, i64 shared, i64 span"),
        "add": (_write_text, "array out, array g, array at, array bad, i64 length, i64 count, i64 inner, i64 shared"),
        "put": (_write_text, "array out, array g, array at, array bad, i64 length, i64 count, i64 inner, i64 shared"),
        "sum": (_sum_text, "array out, array g, array order, array starts, array base, i64 inner"),
        "onto": (_sum_text, "array out, array g, array order, array starts, array base, i64 inner"),
    }[what]
    name = f"{what}_{number}_{kind}{8 * size}"
    return llvm.shared(name, operands, lambda code: text(_Positions(code, size, kind), number, what))


@functools.cache
def _ordered(size: int) -> Callable[..., None] | None:
    operands = "array order, array starts, array at, array bad, i64 length, i64 count"
    return llvm.shared(f"ordered{8 * size}", operands, lambda code: _order_text(_Positions(code, size, "wrapped")))


# ------------------------------------------------------------------------------------------ their code


class _Positions:
    """The positions `%at`, i32 or i64, along an axis of `%length`."""

    def __init__(self, code: llvm.Code, size: int, kind: str) -> None:
        self.code, self.own, self.wrapped = code, kind == "own", kind == "wrapped"
        self.type = f"i{8 * size}"
        self.v = Vectors(code, LANES // 2, self.type)

    def at(self, place: str) -> str:
        """The position that stands at a place, not negative, as an i64."""
        code = self.code
        found = code.value(f"load {self.type}, ptr {code.at(self.type, '%at', place)}")
        if self.type == "i32":
            found = code.value(f"sext i32 {found} to i64")
        if not self.wrapped:
            return found
        negative = code.value(f"ashr i64 {found}, 63")
        return code.add(found, code.value(f"and i64 {negative}, %length"))

    def of_block(self, o: str) -> str:
        """Where the positions of a block of lines begin."""
        begin = self.code.mul(self.code.value(f"sdiv i64 {o}, %shared"), "%count")
        return self.code.mul(begin, "%inner") if self.own else begin

    def inside(self, begin: str, count: str) -> str:
        """Whether all of so many positions from a place on are within the axis (an i1); tells `%bad` where not."""
        code, v = self.code, self.v
        wide = Vectors(code, v.lanes, "i64")
        length = code.spread(v.lanes, "i64", "%length")
        limit = wide.add(length, length) if self.wrapped else length

        def some(i: str, part: Part, most: str) -> list[str]:
            found = part.load(v, "%at", code.add(begin, i))
            if self.type == "i32":
                found = v.convert("sext", found, wide)
            if self.wrapped:
                found = wide.add(found, length)
            return [wide.choose("icmp ugt", found, most, found, most)]

        complete = code.value(f"and i64 {count}, {-v.lanes}")
        (most,) = code.loop(
            0, complete, v.lanes, lambda i, m: some(i, Part(), m), carried=[(wide.type, wide.constant(0))]
        )  # fmt: skip
        (most,) = code.loop(
            complete, count, v.lanes,
            lambda i, m: some(i, Part(v.below(code.value(f"sub i64 {count}, {i}"))), m), carried=[(wide.type, most)],
        )  # fmt: skip
        outside = code.value(f"icmp uge {wide.type} {most}, {limit}")
        word = code.value(f"bitcast {wide.mask} {outside} to i{v.lanes}")
        fine = code.value(f"icmp eq i{v.lanes} {word}, 0")
        code.when(code.value(f"xor i1 {fine}, true"), self.tell)
        return fine

    def tell(self) -> None:
        """Tell the caller that a position is out of bounds."""
        self.code.do("store atomic i64 1, ptr %bad monotonic, align 8")


UNROLLED = 4


def _each(code: llvm.Code, count: str, body: Callable[[str], None]) -> None:
    """body(i) for i below a count, several in a turn."""
    complete = code.value(f"and i64 {count}, {-UNROLLED}")

    def several(i: str) -> None:
        for k in range(UNROLLED):
            body(code.add(i, k) if k else i)

    code.loop(0, complete, UNROLLED, several)
    code.loop(complete, count, 1, body)


def _read_text(positions: _Positions, word: str, what: str) -> None:
    """A unit: the positions from one on, `%span` at most, of one block of lines."""
    code = positions.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    v = Vectors(code, LANES if word == "i32" else LANES // 2, word)
    parts = code.value(f"sdiv i64 {code.add(code.add('%count', '%span'), -1)}, %span")

    def unit(u: str) -> None:
        o = code.value(f"sdiv i64 {u}, {parts}")
        begin = code.mul(code.value(f"srem i64 {u}, {parts}"), "%span")
        count = code.least(code.value(f"sub i64 %count, {begin}"), "%span")
        first = code.add(code.mul(o, "%count"), begin)
        source = code.at(word, "%x", code.mul(code.mul(o, "%length"), "%inner"))
        target = code.at(word, "%out", code.mul(first, "%inner"))

        def copy(i: str, p: str) -> None:
            x = code.value(f"load {word}, ptr {code.at(word, source, p)}")
            code.do(f"store {word} {x}, ptr {code.at(word, target, i)}")

        at = positions.of_block(o)
        at = code.add(at, code.mul(begin, "%inner") if positions.own else begin)

        def numbers() -> None:
            _each(code, count, lambda i: copy(i, positions.at(code.add(at, i))))

        def rows() -> None:
            if positions.own:

                def row(j: str) -> None:
                    here = code.mul(j, "%inner")

                    def number(c: str) -> None:
                        i = code.add(here, c)
                        copy(i, code.add(code.mul(positions.at(code.add(at, i)), "%inner"), c))

                    _each(code, "%inner", number)
            else:

                def row(j: str) -> None:
                    x = code.at(word, source, code.mul(positions.at(code.add(at, j)), "%inner"))
                    y = code.at(word, target, code.mul(j, "%inner"))
                    v.over("%inner", lambda i, part: part.store(v, part.load(v, x, i), y, i))

            code.loop(0, count, 1, row)

        code.when(
            positions.inside(at, code.mul(count, "%inner") if positions.own else count),
            lambda: either(code, code.value("icmp eq i64 %inner, 1"), numbers, rows),
        )  # fmt: skip

    code.loop("%first", "%last", 1, unit)


def _write_text(positions: _Positions, number: str, what: str) -> None:
    """A unit: a block of lines that lie beside each other, of one that is contiguous the whole."""
    code = positions.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    wide = number in ("double", "i64")
    v = Vectors(code, LANES // 2 if wide else LANES, number)
    blocks = code.value(f"sdiv i64 {code.add('%inner', COLUMNS - 1)}, {COLUMNS}")

    def put(x: str, place: str) -> None:
        if what == "add":
            old = code.value(f"load {number}, ptr {place}")
            x = code.value(f"{'fadd' if number in ('float', 'double') else 'add'} {number} {old}, {x}")
        code.do(f"store {number} {x}, ptr {place}")

    def unit(u: str) -> None:
        o = code.value(f"sdiv i64 {u}, {blocks}")
        c = code.mul(code.value(f"srem i64 {u}, {blocks}"), COLUMNS)
        width = code.least(code.value(f"sub i64 %inner, {c}"), COLUMNS)
        source = code.mul(code.mul(o, "%count"), "%inner")
        given = code.at(number, "%g", code.add(source, c))
        target = code.at(number, "%out", code.add(code.mul(code.mul(o, "%length"), "%inner"), c))

        at = positions.of_block(o)

        def single(i: str) -> None:
            p = positions.at(code.add(at, i))
            put(code.value(f"load {number}, ptr {code.at(number, given, i)}"), code.at(number, target, p))

        def beside() -> None:
            def row(j: str) -> None:
                here = code.mul(j, "%inner")
                if not positions.own:
                    y = code.at(number, target, code.mul(positions.at(code.add(at, j)), "%inner"))
                    x = code.at(number, given, here)

                    def several(i: str, part: Part) -> None:
                        given = part.load(v, x, i)
                        part.store(v, v.add(part.load(v, y, i), given) if what == "add" else given, y, i)

                    v.over(width, several)
                    return

                def one(i: str) -> None:
                    p = code.add(code.mul(positions.at(code.add(code.add(code.add(at, c), here), i)), "%inner"), i)
                    x = code.value(f"load {number}, ptr {code.at(number, given, code.add(here, i))}")
                    put(x, code.at(number, target, p))

                code.loop(0, width, 1, one)

            def checked(j: str, fine: str) -> list[str]:
                begin = code.add(code.add(at, c), code.mul(j, "%inner"))
                return [code.value(f"and i1 {fine}, {positions.inside(begin, width)}")]

            if positions.own:
                (fine,) = code.loop(0, "%count", 1, checked, carried=[("i1", "true")])
            else:
                fine = positions.inside(at, "%count")

            def every() -> None:
                code.loop(0, "%count", 1, row)

            code.when(fine, every)

        def contiguous() -> None:
            fine = positions.inside(at, "%count")
            code.when(fine, lambda: _each(code, "%count", single))

        either(code, code.value("icmp eq i64 %inner, 1"), contiguous, beside)

    code.loop("%first", "%last", 1, unit)


def _order_text(positions: _Positions) -> None:
    """Positions in order: where those of each place begin, and the numbers of the rows, by counting. It is one unit."""
    code = positions.code
    starts = code.at("i64", "%starts", 1)
    code.loop(0, code.add("%length", 1), 1, lambda i: code.do(f"store i64 0, ptr {code.at('i64', '%starts', i)}"))

    def counted(at: str) -> str:
        found = code.value(f"load i64, ptr {at}")
        code.do(f"store i64 {code.add(found, 1)}, ptr {at}")
        return found

    def all() -> None:
        code.loop(0, "%count", 1, lambda i: counted(code.at("i64", starts, positions.at(i))) and None)

        def place(i: str, total: str) -> list[str]:
            at = code.at("i64", starts, i)
            found = code.value(f"load i64, ptr {at}")
            code.do(f"store i64 {total}, ptr {at}")
            return [code.add(total, found)]

        code.loop(0, "%length", 1, place, carried=[("i64", "0")])

        def write(i: str) -> None:
            at = counted(code.at("i64", starts, positions.at(i)))
            code.do(f"store i64 {i}, ptr {code.at('i64', '%order', at)}")

        code.loop(0, "%count", 1, write)

    code.when(positions.inside("0", "%count"), all)


def _sum_text(positions: _Positions, number: str, what: str) -> None:
    """A unit: a row of the result. `%starts`: where the numbers of its rows begin in `%order`, from 0 on."""
    code = positions.code
    v = Vectors(code, LANES if number == "float" else LANES // 2, number)
    together = 4 * v.lanes
    whole = code.value(f"and i64 %inner, {-together}")

    def unit(r: str) -> None:
        begin, end = (code.value(f"load i64, ptr {code.at('i64', '%starts', i)}") for i in (r, code.add(r, 1)))
        out, base = (code.at(number, name, code.mul(r, "%inner")) for name in ("%out", "%base"))

        def start(c: str, part: Part) -> str:
            return part.load(v, base, c) if what == "onto" else v.constant(0)

        def row(j: str) -> str:
            return code.mul(code.value(f"load i64, ptr {code.at('i64', '%order', j)}"), "%inner")

        def wide(c: str) -> None:
            def one(j: str, *totals: str) -> list[str]:
                x = code.at(number, "%g", code.add(row(j), c))
                return [v.add(t, v.load(x, k * v.lanes)) for k, t in enumerate(totals)]

            starts = [(v.type, start(code.add(c, k * v.lanes), Part())) for k in range(4)]
            totals = code.loop(begin, end, 1, one, carried=starts)
            for k, total in enumerate(totals):
                v.store(total, out, code.add(c, k * v.lanes))

        code.loop(0, whole, together, wide)
        rest, given = code.value(f"sub i64 %inner, {whole}"), code.at(number, "%g", whole)
        left = code.at(number, out, whole)

        def narrow(c: str, part: Part) -> None:
            (total,) = code.loop(
                begin, end, 1, lambda j, t: [v.add(t, part.load(v, given, code.add(row(j), c)))],
                carried=[(v.type, start(code.add(whole, c), part))],
            )  # fmt: skip
            part.store(v, total, left, c)

        v.over(rest, narrow)

    code.loop("%first", "%last", 1, unit)
