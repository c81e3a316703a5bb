"""Sums and maxima over windows along the last two axes as generated code: pooling, interpolation, and what transposes them.

Which elements of an axis a window holds, and with which weights, is said by a table (`Table`): so one kernel serves every
kernel, stride, padding and dilation, adaptive windows and all kinds of interpolation, and the transposes of all of these.

As many rows of the result as a vector has lanes are made together. Along the first axis, whole rows of the operand are
added up; the rows that come of it are transposed, so that a column is a vector, and along the second axis columns are added up.
So nothing is gathered, whatever the windows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import llvm, threads
from .copies import packed
from .lines import either
from .operands import address
from .vectors import Part, Vectors

LEAST = 1 << 10
"""Fewer numbers are left to NumPy: the first call loads llvmlite, 50 ms, and each later one takes a tenth of NumPy's passes."""

SPAN = 512
"""Columns of the operand of which a strip of the result is made at most: they lie in the nearest caches."""

# ------------------------------------------------------------------------------------------ tables


class Table(NamedTuple):
    """The windows along an axis of n elements."""

    n: int
    starts: np.ndarray
    """For each window, where in `places` its elements begin; and how many there are in all."""
    places: np.ndarray
    weights: np.ndarray | None
    """Of the elements; None: 1."""
    strips: np.ndarray
    """Windows that are computed together: the first, the one past the last, and the same of the elements they hold."""
    single: bool
    """Whether each window is one element, as it is."""
    results: int
    """How many windows there are."""


def table(
    n: int, windows: Sequence[Sequence[int]], weights: Sequence[Sequence[float]] | None = None, char: str = "f", *,
    empty: bool = False,
) -> Table | None:  # fmt: skip
    """Of windows of places, with weights in a dtype; None where one is wider than SPAN, or, unless that is allowed, empty."""
    lengths = [len(w) for w in windows]
    if not lengths or not (empty or min(lengths)):
        return None
    strips: list[tuple[int, int, int, int]] = []
    for k, window in enumerate(windows):
        first, _, a, b = strips[-1] if strips else (0, 0, 0, 1)
        low, high = (min(window), max(window) + 1) if len(window) else (b - 1, b)
        if high - low > SPAN:
            return None
        joined = min(a, low), max(b, high)
        if strips and joined[1] - joined[0] <= SPAN:
            strips[-1] = (first, k + 1, *joined)
        else:
            strips.append((k, k + 1, low, high))
    return Table(
        n, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.array([p for w in windows for p in w], np.int64),
        None if weights is None else np.array([x for w in weights for x in w], char), np.array(strips, np.int64),
        weights is None and set(lengths) == {1}, len(lengths),
    )  # fmt: skip


@functools.lru_cache(64)
def every(n: int, weight: str | None = None) -> Table:
    """The windows of one element each; with weights of 1, in a dtype, if one is given."""
    found = table(n, [[k] for k in range(n)], None if weight is None else [[1.0]] * n, weight or "f")
    assert found is not None
    return found


def _suited(x: np.ndarray, results: int = 0) -> bool:
    return (x.size >= LEAST or results >= LEAST) and x.dtype.char in "fd" and x.dtype.isnative and x.size > 0


def weighted(
    x: np.ndarray, rows: Table, columns: Table, divisors: tuple[np.ndarray, np.ndarray] | None = None, *, before: bool = False
) -> np.ndarray | None:  # fmt: skip
    """Sums over windows of the last two axes of x (.., n, m): (.., rows.results, columns.results).

    divisors: for each row and column a number; by their product the sums are divided, or, `before`, the elements. None
    where it is the caller's affair.
    """
    has = int(rows.weights is not None)
    if bool(has) != (columns.weights is not None):
        return None
    divided = 0 if divisors is None else 2 if before else 1
    if rows.single and columns.single and not divided:
        has = 2
    none = rows.places
    given = (rows.weights, columns.weights) if has == 1 else (none, none)
    return _run("weighted", (has, divided), x, rows, columns, x.dtype.char, (*given, *(divisors or (none, none))))  # type: ignore[arg-type]


def maxima(x: np.ndarray, rows: Table, columns: Table) -> np.ndarray | None:
    """The largest element of each window of the last two axes, nan where there is one; None where it is the caller's affair."""
    return _run("maxima", (), x, rows, columns, x.dtype.char, ())


def places(x: np.ndarray, rows: Table, columns: Table) -> np.ndarray | None:
    """Where in the last two axes flattened the largest element of each window is, the first of equal ones, the last nan;
    int32. None where it is the caller's affair."""
    return _run("places", (), x, rows, columns, "i", ()) if rows.n * columns.n < 1 << 31 else None


def _run(
    name: str, variant: tuple[int, ...], x: np.ndarray, rows: Table, columns: Table, char: str, more: tuple[np.ndarray, ...]
) -> np.ndarray | None:  # fmt: skip
    """The results, numbers of the type `char`, of a kernel for two tables; None where x is the caller's affair.

    What a call is given is remembered, as few come again and again: it is most of the time for few numbers.
    """
    key = name, variant, x.shape, x.dtype.char, id(rows), id(columns), *map(id, more)
    found = _calls.get(key)
    if found is None:
        found = _call(name, variant, x, rows, columns, more)
        if found is None:
            return None
        if len(_calls) >= _REMEMBERED:
            _calls.clear()
        _calls[key] = found
    if not x.dtype.isnative:
        return None
    out = np.empty(found.shape, char)
    found.function(*threads.tiles(found.units, found.work), out, packed(x), found.geometry, found.lines)
    return out


def _lanes(size: int) -> int:
    """Of vectors of numbers of so many bytes: a register's, so that as many are in registers while they are transposed; of the
    narrowest two, as measured with SSE."""
    kind = llvm.processor()
    assert kind is not None  # there is a function
    return max(kind.register, 32) // size


class _Call(NamedTuple):
    """What a kernel is given for operands of a shape and two tables."""

    function: Callable[..., None]
    shape: tuple[int, ...]
    units: int
    work: int
    lines: int
    geometry: np.ndarray
    held: Any
    """The arrays whose addresses stand in the geometry, and those by whose identity the call is known."""


def _call(
    name: str, variant: tuple[int, ...], x: np.ndarray, rows: Table, columns: Table, more: tuple[np.ndarray, ...]
) -> _Call | None:  # fmt: skip
    shape = (*x.shape[:-2], rows.results, columns.results)
    size = math.prod(shape)
    function = _generated(name, x.dtype.char, *variant) if _suited(x, size if name == "weighted" else 0) else None
    if function is None:
        return None
    lines = size // columns.results
    units = -(-lines // _lanes(x.itemsize)) * len(columns.strips)
    work = max(size * len(columns.places) // columns.results, x.size)
    return _Call(function, shape, units, work, lines, *_geometry(rows, columns, more))


def _geometry(rows: Table, columns: Table, more: tuple[np.ndarray, ...]) -> tuple[np.ndarray, Any]:
    """What generated code has to know of two tables (and of weights and divisors), as `_GEOMETRY` lists it: addresses and
    sizes; and what is held for it."""
    arrays = (rows.starts, rows.places, columns.starts, columns.places, columns.strips, *more)
    held = [packed(x) for x in (*arrays, *(rows.places,) * (len(_ARRAYS) - len(arrays)))]
    sizes = len(columns.strips), rows.n, columns.n, rows.results, columns.results
    return np.array([*map(address, held), *sizes], np.int64), (rows, columns, more, held)


_calls: dict[tuple[Any, ...], _Call] = {}
_REMEMBERED = 512


def scattered(g: np.ndarray, at: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """Zeros in a shape with the elements of g added at int32 places in its last two axes flattened; g (.., n, m).

    None where it is the caller's affair.
    """
    function = _generated("scattered", g.dtype.char) if _suited(g, math.prod(shape)) else None
    if function is None or at.dtype != np.int32:
        return None
    out = np.empty(shape, g.dtype)
    planes = math.prod(shape[:-2])
    function(*threads.tiles(planes, out.size + g.size), out, packed(g), packed(at), out.size // planes, g.size // planes)
    return out


# ------------------------------------------------------------------------------------------ their code

_NUMBERS = {"f": "float", "d": "double"}
_ARRAYS = "h_starts", "h_places", "w_starts", "w_places", "strips", "h_weights", "w_weights", "h_divisors", "w_divisors"
_SIZES = "parts", "h", "w", "h_out", "w_out"
_GEOMETRY = (*(("ptr", name) for name in _ARRAYS), *(("i64", name) for name in _SIZES))
"""What stands in an array for two tables: types and names, by which code knows them."""
_TABLES = "array out, array x, array geometry, i64 lines"
_OPERANDS = {
    "weighted": _TABLES, "maxima": _TABLES, "places": _TABLES,
    "scattered": "array out, array g, array at, i64 size, i64 count",
}  # fmt: skip


@functools.cache
def _generated(name: str, dtype: str, *variant: int) -> Callable[..., None] | None:
    number = _NUMBERS[dtype]

    def body(code: Any) -> None:
        if _OPERANDS[name] is _TABLES:
            for k, (type, what) in enumerate(_GEOMETRY):
                code.value(f"load {type}, ptr {code.at('i64', '%geometry', k)}", f"%{what}")
        _TEXTS[name](code, number=number, variant=variant)

    return llvm.shared(name, _OPERANDS[name], body)


def _word(code: Any, pointer: str, index: str | int) -> str:
    return str(code.value(f"load i64, ptr {code.at('i64', pointer, index)}"))


Fold = Callable[..., list[str]]


def _each_window(
    code: Any, kinds: Sequence[Vectors], vertical: Callable[..., list[str]], horizontal: Callable[..., list[str]],
    finish: Callable[..., str], result: Vectors, prepare: Callable[[str], str] = str,
    single: bool = False,
) -> None:  # fmt: skip
    """The loops of a unit, a strip of columns of as many rows as there are lanes.

    kinds: of the values that stand for a window. vertical(plane, h, w, part): of a window along the first axis, for a
    vector of columns from w on. horizontal(read, k0, k1): of columns, read(k) gives the values of element k of the table.
    prepare(first): anything of the rows from `first` on. finish(values, j, prepared): a vector of results, of column j.
    result: of what kind they are. single: each window is one element, as it is.
    """
    lanes = kinds[0].lanes
    pitch = SPAN + lanes
    square = code.value(f"alloca [{lanes * lanes} x {result.number}], align 64")
    made = [code.value(f"alloca [{lanes * pitch} x {v.number}], align 64") for v in kinds]
    turned = [code.value(f"alloca [{lanes * pitch} x {v.number}], align 64") for v in kinds]
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def unit(u: str) -> None:
        group, strip = code.value(f"sdiv i64 {u}, %parts"), code.mul(code.value(f"srem i64 {u}, %parts"), 4)
        j0, j1, c0, c1 = (_word(code, "%strips", code.add(strip, k)) for k in range(4))
        first, span = code.mul(group, lanes), code.value(f"sub i64 {c1}, {c0}")
        final, prepared = code.add("%lines", -1), prepare(first)
        starts = [code.mul(code.least(code.add(first, r), final), "%w_out") for r in range(lanes)]

        def line(r: str) -> None:
            number = code.least(code.add(first, r), final)
            plane, h = code.value(f"sdiv i64 {number}, %h_out"), code.value(f"srem i64 {number}, %h_out")
            x = code.at(kinds[0].number, "%x", code.mul(plane, code.mul("%h", "%w")))
            to = code.mul(r, pitch)

            def columns(w: str, part: Part) -> None:
                for v, target, value in zip(kinds, made, vertical(x, h, code.add(c0, w), part), strict=True):
                    v.store(value, target, code.add(to, w))

            kinds[0].over(span, columns)

        code.loop(0, lanes, 1, line)

        def turn(w: str) -> None:
            for v, source, target in zip(kinds, made, turned, strict=True):
                vectors = v.transposed([v.load(source, code.add(w, k * pitch)) for k in range(lanes)])
                for k, vector in enumerate(vectors):
                    v.store(vector, target, code.mul(code.add(w, k), lanes), align=v.size * lanes)

        code.loop(0, span, lanes, turn)

        def block(j: str) -> None:
            end = code.least(code.add(j, lanes), j1)
            if single:  # a third less time than by way of the square
                vectors = []
                for k in range(lanes):
                    place = _word(code, "%w_places", code.least(code.add(j, k), code.add(end, -1)))
                    at = code.mul(code.value(f"sub i64 {place}, {c0}"), lanes)
                    vectors.append(result.load(turned[0], at, align=result.size * lanes))
                write(j, end, vectors)
                return

            def column(i: str) -> None:
                k0, k1 = _word(code, "%w_starts", i), _word(code, "%w_starts", code.add(i, 1))

                def read(k: str) -> list[str]:
                    at = code.mul(code.value(f"sub i64 {_word(code, '%w_places', k)}, {c0}"), lanes)
                    return [v.load(source, at, align=v.size * lanes) for v, source in zip(kinds, turned, strict=True)]

                value = finish(horizontal(read, k0, k1), i, prepared)
                result.store(value, square, code.mul(code.value(f"sub i64 {i}, {j}"), lanes), align=result.size * lanes)

            code.loop(j, end, 1, column)
            write(j, end, [result.load(square, k * lanes, align=result.size * lanes) for k in range(lanes)])

        def write(j: str, end: str, columns: list[str]) -> None:
            some, rows = code.value(f"sub i64 {end}, {j}"), result.transposed(columns)

            def store(part: Part) -> None:
                for row, start in zip(rows, starts, strict=True):
                    part.store(result, row, "%out", code.add(start, j))

            # Processors are slow with masks.
            either(
                code, code.value(f"icmp eq i64 {some}, {lanes}"), lambda: store(Part()), lambda: store(Part(result.below(some)))
            )

        code.loop(j0, j1, lanes, block)

    code.loop("%first", "%last", 1, unit)


def _window(code: Any, h: str, x: str, number: str, w: str) -> tuple[str, str, Callable[[str], str]]:
    """The elements of the table of window h, and the address of element k's row from column w on."""
    k0, k1 = _word(code, "%h_starts", h), _word(code, "%h_starts", code.add(h, 1))
    return k0, k1, lambda k: str(code.at(number, x, code.add(code.mul(_word(code, "%h_places", k), "%w"), w)))


def _weighted(code: Any, number: str, variant: Sequence[int]) -> None:
    has, divided = variant  # has: 1 with weights, 2 where each window is one element
    v = Vectors(code, _lanes(4 if number == "float" else 8), number)

    def scalar(pointer: str, k: str) -> str:
        return str(code.spread(v.lanes, number, code.value(f"load {number}, ptr {code.at(number, pointer, k)}")))

    def added(total: str, x: str, weights: str, k: str) -> str:
        return v.call("fma", x, scalar(weights, k), total) if has == 1 else v.add(total, x)

    def vertical(x: str, h: str, w: str, part: Part) -> list[str]:
        k0, k1, row = _window(code, h, x, number, w)
        if has == 2:
            return [part.load(v, row(h), 0)]

        def step(k: str, total: str) -> list[str]:
            found = part.load(v, row(k), 0)
            if divided == 2:
                by = v.multiply(part.load(v, "%w_divisors", w, 1), scalar("%h_divisors", _word(code, "%h_places", k)))
                found = v.divide(found, by)
            return [added(total, found, "%h_weights", k)]

        return list(code.loop(k0, k1, 1, step, carried=[(v.type, v.constant(0.0))]))

    def horizontal(read: Callable[[str], list[str]], k0: str, k1: str) -> list[str]:
        return list(code.loop(
            k0, k1, 1, lambda k, total: [added(total, read(k)[0], "%w_weights", k)], carried=[(v.type, v.constant(0.0))]
        ))  # fmt: skip

    def prepare(first: str) -> str:
        by = v.constant(1.0)
        if divided == 1:
            for r in range(v.lanes):
                h = code.value(f"srem i64 {code.least(code.add(first, r), code.add('%lines', -1))}, %h_out")
                one = code.value(f"load {number}, ptr {code.at(number, '%h_divisors', h)}")
                by = code.value(f"insertelement {v.type} {by}, {number} {one}, i64 {r}")
        return by

    def finish(values: list[str], j: str, by: str) -> str:
        return v.divide(values[0], v.multiply(by, scalar("%w_divisors", j))) if divided == 1 else values[0]

    _each_window(code, [v], vertical, horizontal, finish, v, prepare, has == 2)


def _larger(v: Vectors, other: str, best: str) -> str:
    """The mask of the lanes where `other` is to be taken: larger, or nan."""
    more, nan = v.two("fcmp ogt", other, best), v.two("fcmp uno", other, other)
    return v.code.value(f"or {v.mask} {more}, {nan}")


def _maxima(code: Any, number: str, variant: Sequence[int]) -> None:
    v = Vectors(code, _lanes(4 if number == "float" else 8), number)

    def best(old: str, new: str) -> str:
        return str(code.value(f"select {v.mask} {_larger(v, new, old)}, {v.type} {new}, {v.type} {old}"))

    lowest = [(v.type, v.constant(-math.inf))]

    def vertical(x: str, h: str, w: str, part: Part) -> list[str]:
        k0, k1, row = _window(code, h, x, number, w)
        return list(code.loop(k0, k1, 1, lambda k, old: [best(old, part.load(v, row(k), 0))], carried=lowest))

    def horizontal(read: Callable[[str], list[str]], k0: str, k1: str) -> list[str]:
        return list(code.loop(k0, k1, 1, lambda k, old: [best(old, read(k)[0])], carried=lowest))

    _each_window(code, [v], vertical, horizontal, lambda values, *_: values[0], v)


def _places(code: Any, number: str, variant: Sequence[int]) -> None:
    v = Vectors(code, _lanes(4 if number == "float" else 8), number)
    index = Vectors(code, v.lanes, "i32")
    lanes = "<" + ", ".join(f"i32 {k}" for k in range(v.lanes)) + ">"

    def chosen(mask: str, new: list[str], old: list[str]) -> list[str]:
        return [
            code.value(f"select {v.mask} {mask}, {kind.type} {a}, {kind.type} {b}")
            for kind, a, b in zip((v, index), new, old, strict=True)
        ]

    def vertical(x: str, h: str, w: str, part: Part) -> list[str]:
        k0, k1, row = _window(code, h, x, number, w)

        def place(k: str) -> str:
            at = code.add(code.mul(_word(code, "%h_places", k), "%w"), w)
            return index.add(code.spread(v.lanes, "i32", code.value(f"trunc i64 {at} to i32")), lanes)

        def step(k: str, *old: str) -> list[str]:
            new = part.load(v, row(k), 0)
            return chosen(_larger(v, new, old[0]), [new, place(k)], list(old))

        return list(code.loop(k0, k1, 1, step, carried=[(v.type, v.constant(-math.inf)), (index.type, place(k0))]))

    def horizontal(read: Callable[[str], list[str]], k0: str, k1: str) -> list[str]:
        def step(k: str, *old: str) -> list[str]:
            new = read(k)
            masks = [
                v.two("fcmp ogt", new[0], old[0]), v.two("fcmp oeq", new[0], old[0]), v.two("fcmp uno", new[0], new[0]),
                v.two("fcmp ord", old[0], old[0]), index.two("icmp slt", new[1], old[1]),
            ]  # fmt: skip
            more, equal, nan, number, earlier = masks
            first = code.value(f"and {v.mask} {equal}, {earlier}")
            later = code.value(f"xor {v.mask} {earlier}, {_all(v)}")
            last = code.value(f"and {v.mask} {nan}, {code.value(f'or {v.mask} {number}, {later}')}")
            return chosen(code.value(f"or {v.mask} {more}, {code.value(f'or {v.mask} {first}, {last}')}"), new, list(old))

        start = [(kind.type, x) for kind, x in zip((v, index), read(k0), strict=True)]
        return list(code.loop(code.add(k0, 1), k1, 1, step, carried=start))

    _each_window(code, [v, index], vertical, horizontal, lambda values, *_: values[1], index)


def _all(v: Vectors) -> str:
    return "<" + ", ".join(["i1 true"] * v.lanes) + ">"


def _scattered(code: Any, number: str, variant: Sequence[int]) -> None:
    """A unit is a plane."""
    v = Vectors(code, _lanes(4 if number == "float" else 8), number)

    def plane(p: str) -> None:
        out = code.at(number, "%out", code.mul(p, "%size"))
        g, at = code.at(number, "%g", code.mul(p, "%count")), code.at("i32", "%at", code.mul(p, "%count"))
        v.over("%size", lambda i, part: part.store(v, v.constant(0.0), out, i))

        def one(i: str) -> None:
            found = code.value(f"load i32, ptr {code.at('i32', at, i)}")
            place = code.value(f"zext i32 {found} to i64")
            target = code.at(number, out, place)
            before = code.value(f"load {number}, ptr {target}")
            more = code.value(f"load {number}, ptr {code.at(number, g, i)}")
            code.do(f"store {number} {code.value(f'fadd {number} {before}, {more}')}, ptr {target}")

        code.loop(0, "%count", 1, one)

    code.loop("%first", "%last", 1, plane)


_TEXTS: dict[str, Callable[..., None]] = {
    "weighted": _weighted, "maxima": _maxima, "places": _places, "scattered": _scattered,
}  # fmt: skip
