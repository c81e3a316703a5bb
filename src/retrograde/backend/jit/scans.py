"""Scans line by line as generated code: sums, products, extremes so far, and the linear recurrence behind their derivatives.

A scan goes from number to number, each waits for the one before: four cycles for an addition. Here several lines go at the
same time, side by side in a vector where the axis is not the last, else four that do not wait for each other. What is added up
and in which order is NumPy's: single numbers in double precision.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from . import llvm, threads
from .lines import Lines, Room, either, lines, own_room, taken
from .operands import address
from .vectors import LANES, Part, Vectors

TOGETHER = 4
"""Lines that go at the same time. More would have their numbers in the same places of the cache where a line takes 4 KB."""

SHORT = 64
"""Lines of so many numbers are short."""

COLUMNS = 64
"""Lines side by side that are one unit of work."""


def cumulative(name: str, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray | None:
    """The "cumsum" or "cumprod" along an axis, from the end if `reverse`; None where it is the caller's affair."""
    number = _number(x)
    function = None if number is None else _generated(name, number, reverse)
    if function is None:
        return None
    out = np.empty(x.shape, x.dtype)
    _run(function, lines(x.shape, axis), 2, out, x)
    return out


def recurrence(a: np.ndarray, b: np.ndarray, axis: int, reverse: bool) -> np.ndarray | None:
    """s with s_i = a_i s_(i-1) + b_i along an axis, from the end if `reverse`; None where it is the caller's affair."""
    number = _number(b)
    function = None if number is None or _number(a) != number else _generated("recurrence", number, reverse)
    if function is None:
        return None
    out = np.empty(b.shape, b.dtype)
    _run(function, lines(b.shape, axis), 3, out, a, b)
    return out


def cumprod_pull(g: np.ndarray, out: np.ndarray, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray | None:
    """The cotangent of the operand x of "cumprod" with the result `out`; None where it is the caller's affair."""
    number = _number(x)
    function = None
    if number is not None and _number(g) == number == _number(out):
        function = _generated("cumprod_pull", number, reverse)
    if function is None:
        return None
    result = np.empty(x.shape, x.dtype)
    _run(function, lines(x.shape, axis), 4, result, g, out, x)
    return result


def last_extreme(x: np.ndarray, axis: int, largest: bool) -> np.ndarray | None:
    """For each element the last position of the extreme so far, of nan where there was one; None where it is the caller's
    affair."""
    number = _number(x)
    function = None if number is None else _generated("argcummax" if largest else "argcummin", number, False)
    if function is None:
        return None
    out = np.empty(x.shape, np.int64)
    _run(function, lines(x.shape, axis), 3, out, x)
    return out


def extreme(x: np.ndarray, axis: int, largest: bool) -> np.ndarray | None:
    """The position of the first extreme along an axis, of the first nan where there is one; None where it is the caller's
    affair: NumPy goes along a long line in vectors, but through short ones (524,288 of 8: 17 ms) and others number by number.
    """
    number = _number(x)
    if number is None:
        return None
    at = lines(x.shape, axis)
    if at.inner == 1 and at.length > SHORT:
        return None
    function = _generated("argmax" if largest else "argmin", number, False)
    if function is None:
        return None
    out = np.empty((*x.shape[:axis], *x.shape[axis + 1 :]), np.int64)
    _run(function, at, 1, out, x)
    return out


def product_of_others(x: np.ndarray) -> np.ndarray | None:
    """For each element the product of the other ones along the last axis; None where it is the caller's affair."""
    number = _number(x)
    function = None if number is None else _generated("product_of_others", number, False)
    if function is None:
        return None
    at = lines(x.shape, x.ndim - 1)
    room = Room(-(-at.total // TOGETHER), 4 * x.size, 8 * TOGETHER * at.length)
    out = np.empty(x.shape, x.dtype)
    function(
        *room.tiles, address(out), address(x), at.outer, at.length, 1, room.address, room.grain, room.bytes
    )  # fmt: skip
    return out


def product(x: np.ndarray, axis: int) -> np.ndarray | None:
    """The product along an axis; None where it is the caller's affair."""
    number = _number(x)
    function = None if number is None else _generated("product", number, False)
    if function is None:
        return None
    out = np.empty((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)
    _run(function, lines(x.shape, axis), 1, out, x)
    return out


def product_pull(g: np.ndarray, x: np.ndarray, axis: int) -> np.ndarray | None:
    """The cotangent of the operand of `product` along an axis; None where it is the caller's affair."""
    number = _number(x) if g.size * x.shape[axis] == x.size else None
    function = None if number is None or taken(g, 1) != number else _generated("product_pull", number, False)
    if function is None:
        return None
    at, out = lines(x.shape, axis), np.empty(x.shape, x.dtype)
    room = Room(_units(at), 3 * x.size, 8 * at.length * (1 if at.inner == 1 else LANES))
    function(
        *room.tiles, address(out), address(x), address(g), at.outer, at.length, at.inner,
        room.address, room.grain, room.bytes,
    )  # fmt: skip
    return out


def _number(x: np.ndarray) -> str | None:
    found = taken(x)
    return found if found in ("float", "double") else None


def _run(function: Callable[..., None], at: Lines, moved: int, *arrays: np.ndarray) -> None:
    """A kernel for lines: a unit is TOGETHER of them, or up to COLUMNS that lie side by side."""
    tiles = threads.tiles(_units(at), moved * at.total * at.length)
    function(*tiles, *map(address, arrays), at.outer, at.length, at.inner)


def _units(at: Lines) -> int:
    return -(-at.outer // TOGETHER) if at.inner == 1 else at.outer * -(-at.inner // COLUMNS)


@functools.cache
def _generated(name: str, number: str, reverse: bool) -> Callable[..., None] | None:
    text, arrays = _TEXTS[name]
    listed = ", ".join(f"ptr {a}" for a in arrays.split())
    rest = ", i64 outer, i64 length, i64 inner"
    if name in ("product_of_others", "product_pull"):
        rest += ", ptr room, i64 each, i64 bytes"
    return llvm.shared(f"{name}_{number}{'_back' * reverse}", listed + rest, lambda code: text(code, number, reverse))


# ------------------------------------------------------------------------------------------ their code

State = Callable[[Vectors], Sequence[tuple[Vectors, str]]]
"""state(v): what is carried from number to number of a line, as vectors and their first values."""

Step = Callable[..., Sequence[str]]
"""step(v, part, place, i, *state): the next state, after number i of a line, which stands at a place of the arrays, is read
and written."""


def _row_by_row(code: llvm.Code, some: Callable[[Sequence[str]], None]) -> None:
    """some(lines) for all contiguous lines of the tile, whose units are TOGETHER lines: so many, or one at a time."""

    def unit(u: str) -> None:
        first = code.mul(u, TOGETHER)
        whole = code.value(f"icmp sge i64 {code.value(f'sub i64 %outer, {first}')}, {TOGETHER}")

        def one_by_one() -> None:
            code.loop(first, "%outer", 1, lambda r: some([r]))

        either(code, whole, lambda: some([code.add(first, k) for k in range(TOGETHER)]), one_by_one)

    code.loop("%first", "%last", 1, unit)


def _turn(code: llvm.Code, i: str, reverse: bool) -> str:
    """The number's place in its line at turn i."""
    return code.value(f"sub i64 {code.add('%length', -1)}, {i}") if reverse else i


def _rows(
    code: llvm.Code, number: str, state: State, step: Step, reverse: bool, done: Callable[..., None] | None = None
) -> None:
    one = Vectors(code, 1, number)
    start = state(one)

    def some(rows: Sequence[str]) -> None:
        begins = [code.mul(r, "%length") for r in rows]

        def turn(i: str, *now: str) -> list[str]:
            at, wide = _turn(code, i, reverse), len(start)
            following: list[str] = []
            for k, begin in enumerate(begins):
                following += step(one, Part(), code.add(begin, at), at, *now[wide * k : wide * (k + 1)])
            return following

        last = code.loop(0, "%length", 1, turn, carried=[(v.type, x) for v, x in start] * len(begins))
        if done is not None:
            for k, r in enumerate(rows):
                done(one, Part(), r, *last[len(start) * k : len(start) * (k + 1)])

    _row_by_row(code, some)


def _blocks(code: llvm.Code, v: Vectors, body: Callable[[Part, str, str], None]) -> None:
    """body(part, first, line) for every vector of lines side by side: where their first numbers stand, and which they are."""
    blocks = code.value(f"sdiv i64 {code.add('%inner', COLUMNS - 1)}, {COLUMNS}")
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def unit(u: str) -> None:
        o = code.value(f"sdiv i64 {u}, {blocks}")
        c = code.mul(code.value(f"srem i64 {u}, {blocks}"), COLUMNS)
        line = code.add(code.mul(o, "%inner"), c)
        base = code.add(code.mul(code.mul(o, "%length"), "%inner"), c)
        width = code.least(code.value(f"sub i64 %inner, {c}"), COLUMNS)
        v.over(width, lambda j, part: body(part, code.add(base, j), code.add(line, j)))

    code.loop("%first", "%last", 1, unit)


def _columns(
    code: llvm.Code, number: str, state: State, step: Step, reverse: bool, done: Callable[..., None] | None = None
) -> None:
    v = Vectors(code, LANES if number == "float" else LANES // 2, number)
    start = state(v)

    def lines(part: Part, first: str, line: str) -> None:
        def turn(i: str, *now: str) -> Sequence[str]:
            at = _turn(code, i, reverse)
            return step(v, part, code.add(first, code.mul(at, "%inner")), at, *now)

        last = code.loop(0, "%length", 1, turn, carried=[(w.type, x) for w, x in start])
        if done is not None:
            done(v, part, line, *last)

    _blocks(code, v, lines)


def _each_line(
    code: llvm.Code, number: str, state: State, step: Step, reverse: bool, done: Callable[..., None] | None = None
) -> None:
    """All lines of the tile, several at a time; done(v, part, line, *state) at the end of each."""
    either(
        code, code.value("icmp eq i64 %inner, 1"), lambda: _rows(code, number, state, step, reverse, done),
        lambda: _columns(code, number, state, step, reverse, done),
    )  # fmt: skip


def _wide(v: Vectors) -> Vectors:
    return Vectors(v.code, v.lanes, "double")


def _widened(v: Vectors, x: str) -> str:
    return x if v.number == "double" else v.convert("fpext", x, _wide(v))


def _narrowed(v: Vectors, x: str) -> str:
    return x if v.number == "double" else _wide(v).convert("fptrunc", x, v)


def _cumulative(code: llvm.Code, number: str, reverse: bool, instruction: str, start: float) -> None:
    def step(v: Vectors, part: Part, place: str, i: str, total: str) -> list[str]:
        total = _wide(v).two(instruction, total, _widened(v, part.load(v, "%x", place)))
        part.store(v, _narrowed(v, total), "%out", place)
        return [total]

    _each_line(code, number, lambda v: [(_wide(v), _wide(v).constant(start))], step, reverse)


def _passed(w: Vectors, factor: str, x: str) -> str:
    """factor x, and 0 where the factor is: nothing gets through it, infinite or not."""
    return w.choose("fcmp oeq", factor, 0.0, 0.0, w.multiply(factor, x))


def _recurrence(code: llvm.Code, number: str, reverse: bool) -> None:
    def step(v: Vectors, part: Part, place: str, i: str, s: str) -> list[str]:
        w, a, b = _wide(v), *(_widened(v, part.load(v, x, place)) for x in ("%a", "%b"))
        further = w.add(_passed(w, a, s), b)
        edge = code.value(f"icmp eq i64 {i}, {code.add('%length', -1) if reverse else 0}")  # nothing times infinity
        s = code.value(f"select i1 {edge}, {w.type} {b}, {w.type} {further}")
        part.store(v, _narrowed(v, s), "%out", place)
        return [s]

    _each_line(code, number, lambda v: [(_wide(v), _wide(v).constant(0.0))], step, reverse)


def _cumprod_pull(code: llvm.Code, number: str, reverse: bool) -> None:
    """From the end: the cotangent of the product up to here, by the factor behind it; times the product before."""

    def step(v: Vectors, part: Part, place: str, i: str, s: str, factor: str) -> list[str]:
        w = _wide(v)
        s = w.add(_passed(w, factor, s), _widened(v, part.load(v, "%g", place)))
        edge = code.value(f"icmp eq i64 {i}, {code.add('%length', -1) if reverse else 0}")
        step = code.value(f"select i1 {edge}, i64 0, i64 {'%inner' if reverse else code.value('sub i64 0, %inner')}")
        before = _widened(v, part.load(v, "%y", code.add(place, step)))
        before = code.value(f"select i1 {edge}, {w.type} {w.constant(1.0)}, {w.type} {before}")
        part.store(v, _narrowed(v, _passed(w, before, s)), "%out", place)
        return [s, _widened(v, part.load(v, "%x", place))]

    _each_line(code, number, lambda v: [(_wide(v), _wide(v).constant(0.0))] * 2, step, not reverse)


def _extreme(code: llvm.Code, number: str, comparison: str, every: bool) -> None:
    """Positions of extremes: of the last one up to each element (every), or of the first one of the line."""
    worst = -math.inf if "g" in comparison else math.inf

    def state(v: Vectors) -> list[tuple[Vectors, str]]:
        at = Vectors(code, v.lanes, "i64")
        return [(v, v.constant(worst)), (at, at.constant(0))]

    def step(v: Vectors, part: Part, place: str, i: str, best: str, position: str) -> list[str]:
        at = Vectors(code, v.lanes, "i64")
        x = part.load(v, "%x", place)
        better = v.two(comparison, x, best)
        if every:
            better = code.value(f"or {v.mask} {better}, {v.two('fcmp uno', x, x)}")
        else:  # the comparison holds beside nan, too
            better = code.value(f"and {v.mask} {better}, {v.two('fcmp ord', best, best)}")
        best = code.value(f"select {v.mask} {better}, {v.type} {x}, {v.type} {best}")
        here = code.spread(v.lanes, "i64", i)
        position = code.value(f"select {v.mask} {better}, {at.type} {here}, {at.type} {position}")
        if every:
            part.store(at, position, "%out", place)
        return [best, position]

    def done(v: Vectors, part: Part, line: str, best: str, position: str) -> None:
        part.store(Vectors(code, v.lanes, "i64"), position, "%out", line)

    _each_line(code, number, state, step, False, None if every else done)


def _row_product(code: llvm.Code, number: str, begin: str) -> str:
    """The product of a contiguous line, in double precision."""
    lanes = LANES if number == "float" else LANES // 2
    v = Vectors(code, lanes, number)
    w = _wide(v)
    multiplied = f"@llvm.vector.reduce.fmul.v{lanes}f64"
    code.declare(f"declare double {multiplied}(double, {w.type})")

    def factor(i: str, part: Part, total: str) -> list[str]:
        return [w.multiply(total, _widened(v, part.load(v, "%x", code.add(begin, i), 1.0)))]

    complete = code.value(f"and i64 %length, {-lanes}")
    (total,) = code.loop(
        0, complete, lanes, lambda i, t: factor(i, Part(), t), carried=[(w.type, w.constant(1.0))]
    )  # fmt: skip
    (total,) = code.loop(
        complete, "%length", lanes,
        lambda i, t: factor(i, Part(v.below(code.value(f"sub i64 %length, {i}"))), t), carried=[(w.type, total)],
    )  # fmt: skip
    return code.value(f"call reassoc double {multiplied}(double 1.0, {w.type} {total})")


def _product(code: llvm.Code, number: str, reverse: bool) -> None:
    """Along the last axis in vectors of factors, else in vectors of lines."""

    def row(r: str) -> None:
        found = _row_product(code, number, code.mul(r, "%length"))
        if number == "float":
            found = code.value(f"fptrunc double {found} to float")
        code.do(f"store {number} {found}, ptr {code.at(number, '%out', r)}")

    def step(v: Vectors, part: Part, place: str, i: str, total: str) -> list[str]:
        return [_wide(v).multiply(total, _widened(v, part.load(v, "%x", place)))]

    def done(v: Vectors, part: Part, line: str, total: str) -> None:
        part.store(v, _narrowed(v, total), "%out", line)

    either(
        code, code.value("icmp eq i64 %inner, 1"),
        lambda: _row_by_row(code, lambda rows: _all(row, rows)),
        lambda: _columns(code, number, lambda v: [(_wide(v), _wide(v).constant(1.0))], step, False, done),
    )  # fmt: skip


def _all(body: Callable[[str], None], rows: Sequence[str]) -> None:
    for r in rows:
        body(r)


_SAFE = 1e-280, 1e280
"""A product in between has lost nothing to the ends of the range of doubles."""


def _product_pull(code: llvm.Code, number: str, reverse: bool) -> None:
    """By a division where the product is neither 0 nor near the ends of the range, else the other factors' products."""
    v, one = Vectors(code, LANES if number == "float" else LANES // 2, number), Vectors(code, 1, number)
    w, single = _wide(v), _wide(one)

    def safe(w: Vectors, total: str) -> str:
        size = w.call("fabs", total)
        return code.value(f"and {w.mask} {w.two('fcmp ogt', size, _SAFE[0])}, {w.two('fcmp olt', size, _SAFE[1])}")

    def row(r: str) -> None:
        begin = code.mul(r, "%length")
        total = code.spread(1, "double", _row_product(code, number, begin))
        given = _widened(one, one.load("%g", r))

        def divided() -> None:
            product = code.value(f"extractelement {single.type} {single.multiply(given, total)}, i64 0")
            scaled = code.spread(v.lanes, "double", product)

            def quotient(i: str, part: Part) -> None:
                x = _widened(v, part.load(v, "%x", code.add(begin, i), 1.0))
                part.store(v, _narrowed(v, w.divide(scaled, x)), "%out", code.add(begin, i))

            v.over("%length", quotient)

        def step_by_step() -> None:
            _others(code, one, Part(), "1", [begin], [room], lambda x: single.multiply(x, given))

        either(code, code.value(f"extractelement {single.mask} {safe(single, total)}, i64 0"), divided, step_by_step)

    def lines(part: Part, first: str, line: str) -> None:
        def place(i: str) -> str:
            return code.add(first, code.mul(i, "%inner"))

        (total,) = code.loop(
            0, "%length", 1, lambda i, t: [w.multiply(t, _widened(v, part.load(v, "%x", place(i), 1.0)))],
            carried=[(w.type, w.constant(1.0))],
        )  # fmt: skip
        given = _widened(v, part.load(v, "%g", line))
        word = code.value(f"bitcast {w.mask} {safe(w, total)} to i{w.lanes}")

        def divided() -> None:
            scaled = w.multiply(given, total)

            def quotient(i: str) -> None:
                x = _widened(v, part.load(v, "%x", place(i), 1.0))
                part.store(v, _narrowed(v, w.divide(scaled, x)), "%out", place(i))

            code.loop(0, "%length", 1, quotient)

        def step_by_step() -> None:
            _others(code, v, part, "%inner", [first], [room], lambda x: w.multiply(x, given))

        either(code, code.value(f"icmp eq i{w.lanes} {word}, -1"), divided, step_by_step)

    room = own_room(code)
    either(
        code, code.value("icmp eq i64 %inner, 1"), lambda: _row_by_row(code, lambda rows: _all(row, rows)),
        lambda: _blocks(code, v, lines),
    )  # fmt: skip


def _others(
    code: llvm.Code, v: Vectors, part: Part, inner: str, begins: Sequence[str], rooms: Sequence[str],
    finished: Callable[[str], str],
) -> None:  # fmt: skip
    """The products before each element of some lines into a room for each, then from the end those behind it."""
    w = _wide(v)

    def read(place: str) -> str:
        return _widened(v, part.load(v, "%x", place, 1.0))

    def forth(i: str, *totals: str) -> list[str]:
        following = []
        for total, begin, before in zip(totals, begins, rooms):
            w.store(total, before, code.mul(i, w.lanes))
            following.append(w.multiply(total, read(code.add(begin, code.mul(i, inner)))))
        return following

    def back(i: str, *totals: str) -> list[str]:
        following, at = [], _turn(code, i, True)
        for total, begin, before in zip(totals, begins, rooms):
            place = code.add(begin, code.mul(at, inner))
            x = read(place)
            others = w.multiply(w.load(before, code.mul(at, w.lanes)), total)
            part.store(v, _narrowed(v, finished(others)), "%out", place)
            following.append(w.multiply(total, x))
        return following

    for body in (forth, back):
        code.loop(0, "%length", 1, body, carried=[(w.type, w.constant(1.0))] * len(begins))


def _product_of_others(code: llvm.Code, number: str, reverse: bool) -> None:
    one, room = Vectors(code, 1, number), own_room(code)

    def some(rows: Sequence[str]) -> None:
        begins = [code.mul(r, "%length") for r in rows]
        rooms = [code.at("double", room, code.mul("%length", k)) for k in range(len(rows))]
        _others(code, one, Part(), "1", begins, rooms, lambda x: x)

    _row_by_row(code, some)


# By name: text, arrays.
_TEXTS: dict[str, tuple[Callable[[llvm.Code, str, bool], None], str]] = {
    "cumsum": (lambda code, number, reverse: _cumulative(code, number, reverse, "fadd", -0.0), "out x"),
    "cumprod": (lambda code, number, reverse: _cumulative(code, number, reverse, "fmul", 1.0), "out x"),
    "recurrence": (_recurrence, "out a b"),
    "cumprod_pull": (_cumprod_pull, "out g y x"),
    "argcummax": (lambda code, number, _: _extreme(code, number, "fcmp oge", True), "out x"),
    "argcummin": (lambda code, number, _: _extreme(code, number, "fcmp ole", True), "out x"),
    "argmax": (lambda code, number, _: _extreme(code, number, "fcmp ugt", False), "out x"),
    "argmin": (lambda code, number, _: _extreme(code, number, "fcmp ult", False), "out x"),
    "product": (_product, "out x"),
    "product_of_others": (_product_of_others, "out x"),
    "product_pull": (_product_pull, "out x g"),
}
