"""Attention as generated code (float32, float64): softmax(q kᵀ scale) v of many pairs of matrices, forward and backward.

A block of targets stands in the lanes of a few vectors, the sources below one another: the softmax's sums and maxima run down
the lanes, the scores lie as the next product reads them, and of the operands only the block's own rows are laid out anew. The
scores of a block meet CHUNK sources at a time and are never kept (Dao et al. 2022, who describe the running maximum and the
way back; Milakov and Gimelshein 2018). Where no target looks at a later source, blocks of later sources are not computed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from . import functions, llvm, threads
from .operands import FLOAT32, FLOAT64, aligned
from .vectors import Part, Vectors

CHUNK = 256
"""Sources that a block of targets meets at a time: also how many products are added up before they are added to the result."""
SHARES = 16
"""Parts of the targets whose cotangents of sources are summed by themselves, all pairs of matrices together, at most: the
threads that can take part in the backward pass of few long sequences."""

_ATTRIBUTES = '"prefer-vector-width"="512" "no-stack-arg-probe"'


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, causal: bool) -> np.ndarray | None:
    """softmax(q kᵀ scale) v; causal: no target looks at a source after it. None where it is the caller's affair."""
    q, k, v = aligned(q), aligned(k), aligned(v)
    steps = q.strides, k.strides, v.strides
    plan = _planned("attend", causal, (q.dtype, k.dtype, v.dtype), (q.shape, k.shape, v.shape), steps)
    if plan is None:
        return None
    if plan.apart:
        return attended(np.ascontiguousarray(q), np.ascontiguousarray(k), np.ascontiguousarray(v), scale, causal)
    out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
    plan.function(*threads.tiles(plan.units, plan.work), out, q, k, v, *plan.operands, scale)
    return out


def pulled(
    g: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, causal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The cotangents of `attended`'s q, k and v for that of its result; None where it is the caller's affair."""
    g, q, k, v = aligned(g), aligned(q), aligned(k), aligned(v)
    shapes, steps = (q.shape, k.shape, v.shape, g.shape), (q.strides, k.strides, v.strides, g.strides)
    plan = _planned("attend_pull", causal, (q.dtype, k.dtype, v.dtype, g.dtype), shapes, steps)
    if plan is None:
        return None
    if plan.apart:
        g, q = np.ascontiguousarray(g), np.ascontiguousarray(q)
        return pulled(g, q, np.ascontiguousarray(k), np.ascontiguousarray(v), scale, causal)
    dq = np.empty(q.shape, q.dtype)
    dk, dv = np.zeros((plan.shares, *k.shape), k.dtype), np.zeros((plan.shares, *v.shape), v.dtype)
    plan.function(*threads.tiles(plan.units, plan.work), dq, dk, dv, g, q, k, v, *plan.operands, scale)
    if plan.shares == 1:
        return dq, dk[0], dv[0]
    return dq, np.add.reduce(dk, 0), np.add.reduce(dv, 0)


class _Plan(NamedTuple):
    """What is called for operands of some shapes that lie so in memory."""

    apart: bool
    """Whether rows are not contiguous: then of copies."""
    function: Callable[..., None]
    units: int
    work: int
    shares: int
    operands: tuple[np.ndarray | int, ...]


@functools.lru_cache(256)
def _planned(
    name: str, causal: bool, dtypes: tuple[np.dtype, ...], shapes: tuple[tuple[int, ...], ...], steps: tuple[tuple[int, ...], ...]
) -> _Plan | None:
    """How operands (q, k, v, and the result's cotangent) are computed with; None where they are the caller's affair."""
    dtype, size = dtypes[0], dtypes[0].itemsize
    if dtype not in (FLOAT32, FLOAT64) or any(x != dtype for x in dtypes) or not all(map(math.prod, shapes[:3])):
        return None
    if not llvm.available():
        return None
    (*lead, targets, width), (sources, depth) = shapes[0], shapes[2][-2:]
    number = "float" if dtype == FLOAT32 else "double"
    form = _form(number, targets, width, depth)
    function = None if form is None else _generated(name, number, *form, causal)
    if form is None or function is None:
        return None
    apart = any(s[-1] != size and shape[-1] != 1 for s, shape in zip(steps, shapes)) or any(x % size for s in steps for x in s)
    places = _places(tuple(lead), size, *steps)
    matrices, blocks = len(places), -(-targets // (form[0] * _lanes(number)))
    rows: list[int] = [s[-2] // size for s in steps]
    given: tuple[np.ndarray | int, ...] = (places, targets, sources, width, depth, *rows, blocks)
    work = matrices * targets * sources // (8 if causal else 4)
    if name == "attend":
        return _Plan(apart, function, matrices * blocks, work * (width + depth), 1, given)
    together = -(-blocks // max(1, min(blocks, SHARES // matrices)))
    shares = -(-blocks // together)
    return _Plan(apart, function, matrices * shares, work * (3 * width + 2 * depth), shares, (*given, matrices, together))


def _form(number: str, targets: int, width: int, depth: int) -> tuple[int, int, bool] | None:
    """The vectors of a block of targets, those of a row that go together, and whether rows are whole ones."""
    kind = llvm.processor()
    assert kind is not None  # code is `available`
    most, lanes = kind.tile()[1], _lanes(number)

    def least(*sizes: int) -> int:
        """The vectors together that leave the fewest lanes unused."""
        return min(range(most, 0, -1), key=lambda n: sum(-(-size // (n * lanes)) * n for size in sizes))

    wide = least(width, depth)
    whole = not (width % (wide * lanes) or depth % (wide * lanes))
    return (least(targets), wide, whole) if whole or kind.masked else None


def _lanes(number: str) -> int:
    kind = llvm.processor()
    assert kind is not None  # code is `available`
    return kind.register // (4 if number == "float" else 8)


def _places(lead: tuple[int, ...], size: int, *steps: tuple[int, ...]) -> np.ndarray:
    """Where the matrices of each operand begin, as a row of numbers for each place along the leading axes."""
    found = np.zeros((*lead, len(steps)), np.int64)
    for operand, strides in enumerate(steps):
        for axis, n in enumerate(lead):
            along = (np.arange(n) * (strides[axis] // size)).reshape(-1, *(1,) * (len(lead) - axis - 1))
            found[..., operand] += along
    return found.reshape(-1, len(steps))


@functools.cache
def _generated(name: str, number: str, vectors: int, wide: int, whole: bool, causal: bool) -> Callable[..., None] | None:
    operands, body = _TEXTS[name]
    return llvm.shared(
        name, operands.replace("number", number), lambda code: body(_Block(code, number, vectors, wide, whole, causal)),
        attributes=_ATTRIBUTES,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ their code


class _Block:
    """What is done for a block of targets; `span` of them stand in the lanes of its vectors."""

    def __init__(self, code: llvm.Code, number: str, vectors: int, wide: int, whole: bool, causal: bool) -> None:
        kind = llvm.processor()
        assert kind is not None  # code is `available`
        self.height = kind.tile()[0]
        self.code, self.v = code, Vectors(code, _lanes(number), number)
        self.vectors, self.wide, self.whole, self.causal = vectors, wide, whole, causal
        self.span = vectors * self.v.lanes
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        code.declare("declare i64 @llvm.smax.i64(i64, i64)")

    def room(self, rows: int | str) -> str:
        """Memory for rows of a number for each target."""
        if isinstance(rows, int):
            return self.code.value(f"alloca [{rows * self.span} x {self.v.number}], align 64")
        count = self.code.mul(rows, self.span)
        return self.code.value(f"alloca {self.v.number}, i64 {count}, align 64")

    def most(self, x: str, y: str | int) -> str:
        """The greater of two i64."""
        return self.code.value(f"call i64 @llvm.smax.i64(i64 {x}, i64 {y})")

    def minus(self, x: str, y: str | int) -> str:
        """x - y of two i64."""
        return self.code.value(f"sub i64 {x}, {y}")

    def row(self, pointer: str, row: str | int, step: str | int) -> str:
        """The address of a row."""
        return self.code.at(self.v.number, pointer, self.code.mul(str(row), step))

    def kept(self, place: str, q: int) -> str:
        """Vector q of a row of numbers for each target."""
        return self.v.load(place, q * self.v.lanes, align=64)

    def keep(self, x: str, place: str, q: int) -> None:
        """Write vector q of a row of numbers for each target."""
        self.v.store(x, place, q * self.v.lanes, align=64)

    def parts(self, j: str, width: str) -> list[Part]:
        """The vectors from column j on that go together."""
        if self.whole:
            return [Part()] * self.wide
        left = self.minus(width, j)
        return [Part(self.v.below(left, q * self.v.lanes)) for q in range(self.wide)]

    def lay(self, panel: str, source: str, step: str, first: str, width: str, scale: str | None = None) -> None:
        """Rows of the block's targets as columns, times a number: squares, transposed. Beyond the last target, it again."""
        code, v = self.code, self.v
        last = code.add("%targets", -1)
        factor = None if scale is None else code.spread(v.lanes, v.number, scale)
        for q in range(self.vectors):
            rows = [
                self.row(source, code.least(code.add(first, q * v.lanes + i), last), step) for i in range(v.lanes)
            ]  # fmt: skip

            def square(k: str, inside: Part, rows: list[str] = rows, q: int = q) -> None:
                for i, vector in enumerate(v.transposed([inside.load(v, row, k) for row in rows])):
                    x = vector if factor is None else v.multiply(vector, factor)
                    self.keep(x, self.row(panel, code.add(k, i), self.span), q)

            v.over(width, square)

    def sums(
        self, length: str, count: int, numbers: Sequence[str], step: str | int, vectors: Callable[[str], list[str]]
    ) -> list[list[str]]:  # fmt: skip
        """Sums of products over `length` steps: of one number of each row, `step` apart, with the vectors of a step."""
        code, v = self.code, self.v

        def one(d: str, *before: str) -> list[str]:
            ys, offset, after = vectors(d), code.mul(d, step), []
            for r, pointer in enumerate(numbers):
                x = code.value(f"load {v.number}, ptr {code.at(v.number, pointer, offset)}")
                x = code.spread(v.lanes, v.number, x)
                after += [v.call("fma", x, y, before[r * count + q]) for q, y in enumerate(ys)]
            return after

        found = code.loop(0, length, 1, one, carried=[(v.type, "zeroinitializer")] * (len(numbers) * count))
        return [found[r * count : (r + 1) * count] for r in range(len(numbers))]

    def of_sources(self, into: str, x: str, step: str, panel: str, width: str, first: str, count: str, below: str) -> None:
        """Products of rows of sources with the block's panel, from source `first` on; `below` is how many sources there are."""
        code = self.code
        last = code.add(below, -1)

        def tile(i: str) -> None:
            rows = [self.row(x, code.least(code.add(code.add(first, i), r), last), step) for r in range(self.height)]
            line = functools.partial(self.row, panel, step=self.span)
            found = self.sums(
                width, self.vectors, rows, 1, lambda d: [self.kept(line(d), q) for q in range(self.vectors)]
            )  # fmt: skip
            for r, vectors in enumerate(found):
                place = self.row(into, code.add(i, r), self.span)
                for q, vector in enumerate(vectors):
                    self.keep(vector, place, q)

        code.loop(0, count, self.height, tile)

    def tops(self, scores: str, target: str, first: str, count: str) -> list[str]:
        """The largest of the scores of each target; those that do not take part become -inf."""
        code, v = self.code, self.v
        words = Vectors(code, v.lanes, "i64")
        numbers = [
            "<" + ", ".join(f"i64 {q * v.lanes + lane}" for lane in range(v.lanes)) + ">" for q in range(self.vectors)
        ]  # fmt: skip

        def tile(i: str, *before: str) -> list[str]:
            after = list(before)
            for r in range(self.height):
                s = code.add(i, r)
                place = self.row(scores, s, self.span)
                inside = code.spread(v.lanes, "i1", code.value(f"icmp slt i64 {s}, {count}"))
                at = code.spread(v.lanes, "i64", self.minus(code.add(first, s), target))
                for q in range(self.vectors):
                    mask = inside
                    if self.causal:
                        mask = code.value(f"and {v.mask} {mask}, {words.two('icmp sge', numbers[q], at)}")
                    x = v.select(mask, self.kept(place, q), -math.inf)
                    self.keep(x, place, q)
                    after[q] = v.choose("fcmp ogt", x, after[q], x, after[q])
            return after

        return code.loop(0, count, self.height, tile, carried=[(v.type, v.constant(-math.inf))] * self.vectors)

    def power(self, x: str) -> str:
        """exp(x) for x up to 0, and 0 where that is no normal number: arithmetic with the others takes 150 cycles each."""
        v = self.v
        least = -87.0 if v.number == "float" else -708.0
        y = v.choose("fcmp olt", x, least, least, x)
        if v.number == "float":
            less, scale = v.exp(y)
            found = v.call("fma", less, scale, scale)
        else:
            found = functions.exp(v, y)
        return v.choose("fcmp olt", x, least, 0.0, found)

    def powers(
        self, scores: str, count: str, tops: Sequence[str], others: str | None = None
    ) -> tuple[list[str], list[str]]:  # fmt: skip
        """Scores become exp(score - top); the sums of these, and of their products with `others`. Those of a tile are added up
        first, so that the rounding errors stay small."""
        code, v, n = self.code, self.v, self.vectors

        def total(xs: list[str]) -> str:
            while len(xs) > 1:
                xs = [v.add(*xs[k : k + 2]) if k + 1 < len(xs) else xs[k] for k in range(0, len(xs), 2)]
            return xs[0]

        def tile(i: str, *before: str) -> list[str]:
            places = [self.row(scores, code.add(i, r), self.span) for r in range(self.height)]
            after = []
            products: list[str] = []
            for q in range(n):
                found = [self.power(v.subtract(self.kept(place, q), tops[q])) for place in places]
                for x, place in zip(found, places):
                    self.keep(x, place, q)
                after.append(v.add(before[q], total(found)))
                if others is not None:
                    rows = [self.row(others, code.add(i, r), self.span) for r in range(self.height)]
                    both = [v.multiply(x, self.kept(row, q)) for x, row in zip(found, rows)]
                    products.append(v.add(before[n + q], total(both)))
            return after + products

        zeros = [(v.type, v.constant(0.0))] * (n if others is None else 2 * n)
        found = code.loop(0, count, self.height, tile, carried=zeros)
        return found[:n], found[n:]

    def gathered(
        self, into: str, into_row: str, rows: str, width: str, length: Callable[[str], str], factors: str, weights: str,
        of: str, of_row: str, again: str, last: str,
    ) -> None:  # fmt: skip
        """Rows of the block's targets: sums of rows of sources times `weights`.

        factors: rows of numbers for each target: what stands there already, if it counts (`again`), is multiplied with the
        first, and the whole with the second, if this is the `last` time. length: how many sources the targets from one on meet.
        """
        code, v = self.code, self.v

        def tile(t: str) -> None:
            meets = length(t)

            def columns(j: str) -> None:
                parts = self.parts(j, width)
                there = code.at(v.number, of, j)

                def vectors(d: str) -> list[str]:
                    line = self.row(there, d, of_row)
                    return [part.load(v, line, q * v.lanes) for q, part in enumerate(parts)]

                numbers = [code.at(v.number, weights, code.add(t, r)) for r in range(self.height)]
                found = self.sums(meets, self.wide, numbers, self.span, vectors)
                for r, row in enumerate(found):
                    at = code.add(t, r)

                    def write(at: str = at, row: list[str] = row) -> None:
                        place = code.at(v.number, self.row(into, at, into_row), j)
                        pair = (code.at(v.number, factors, where) for where in (at, code.add(at, self.span)))
                        scale, final = (
                            code.spread(v.lanes, v.number, code.value(f"load {v.number}, ptr {x}")) for x in pair
                        )  # fmt: skip
                        counts, ends = (code.spread(v.lanes, "i1", x) for x in (again, last))
                        for q, part in enumerate(parts):
                            before = v.multiply(part.load(v, place, q * v.lanes), scale)
                            total = v.add(v.select(counts, before, 0.0), row[q])
                            part.store(v, v.select(ends, v.multiply(total, final), total), place, q * v.lanes)

                    code.when(code.value(f"icmp slt i64 {at}, {rows}"), write)

            code.loop(0, width, self.wide * v.lanes, columns)

        code.loop(0, rows, self.height, tile)

    def scattered(
        self, into: str, width: str, first: str, count: str, start: Callable[[str], str], rows: str, weights: str, of: str,
        of_row: str,
    ) -> None:  # fmt: skip
        """Added to rows of sources, from `first` on: sums of rows of the block's targets times `weights`, from the target on
        that `start` says."""
        code, v = self.code, self.v

        def tile(s: str) -> None:
            from_ = start(s)
            length = self.minus(rows, from_)

            def columns(j: str) -> None:
                parts = self.parts(j, width)
                there = code.at(v.number, self.row(of, from_, of_row), j)

                def vectors(d: str) -> list[str]:
                    line = self.row(there, d, of_row)
                    return [part.load(v, line, q * v.lanes) for q, part in enumerate(parts)]

                numbers = [
                    code.at(v.number, self.row(weights, code.add(s, r), self.span), from_) for r in range(self.height)
                ]  # fmt: skip
                found = self.sums(length, self.wide, numbers, 1, vectors)
                for r, row in enumerate(found):
                    at = code.add(s, r)

                    def write(at: str = at, row: list[str] = row) -> None:
                        place = code.at(v.number, self.row(into, code.add(first, at), width), j)
                        for q, part in enumerate(parts):
                            part.store(v, v.add(part.load(v, place, q * v.lanes), row[q]), place, q * v.lanes)

                    code.when(code.value(f"icmp slt i64 {at}, {count}"), write)

            code.loop(0, width, self.wide * v.lanes, columns)

        code.loop(0, count, self.height, tile)

    def place(self, matrix: str, operand: int, of: int, name: str) -> str:
        """Where an operand's matrix begins."""
        code = self.code
        at = code.at("i64", "%places", code.add(code.mul(matrix, of), operand))
        return code.at(self.v.number, name, code.value(f"load i64, ptr {at}"))

    def bounds(self, block: str) -> tuple[str, str, str]:
        """The first target of a block, how many it has, and how many sources they look at."""
        code = self.code
        target = code.mul(block, self.span)
        count = code.least(self.minus("%targets", target), self.span)
        return target, count, code.least("%sources", code.add(target, count)) if self.causal else "%sources"

    def met(self, target: str, first: str, count: str) -> Callable[[str], str]:
        """How many of `count` sources from `first` on a tile of the block's targets looks at."""
        code = self.code
        if not self.causal:
            return lambda t: count
        ahead = self.minus(code.add(target, self.height), first)
        return lambda t: self.most(code.least(count, code.add(ahead, t)), 0)

    def merged(self, statistics: str, tops: Sequence[str]) -> tuple[list[str], list[str]]:
        """The largest scores so far, and what earlier sums are multiplied with; both are kept (rows 0 and 3)."""
        v = self.v
        news, factors = [], []
        for q, top in enumerate(tops):
            before = self.kept(statistics, q)
            new = v.choose("fcmp ogt", top, before, top, before)
            factors.append(self.power(v.subtract(before, new)))
            self.keep(new, statistics, q)
            self.keep(factors[q], self.row(statistics, 3, self.span), q)
            news.append(new)
        return news, factors

    def begin(self, statistics: str) -> None:
        """No scores yet: the largest (row 0), the sums of powers (1) and of their products (2)."""
        for row, x in enumerate((-math.inf, 0.0, 0.0)):
            for q in range(self.vectors):
                self.keep(self.v.constant(x), self.row(statistics, row, self.span), q)

    def added(self, statistics: str, row: int, factors: Sequence[str], sums: Sequence[str]) -> None:
        """Sums of these scores beside those of earlier ones."""
        place = self.row(statistics, row, self.span)
        for q, (factor, x) in enumerate(zip(factors, sums)):
            self.keep(self.v.call("fma", self.kept(place, q), factor, x), place, q)


def _attend(b: _Block) -> None:
    """A unit is a block of targets of a pair of matrices. statistics: rows 3 and 4 are `gathered`'s factors."""
    code, v = b.code, b.v
    panel, scores = b.room(code.add("%width", v.lanes)), b.room(CHUNK + b.height)
    statistics = b.room(6)  # one more: what is read beyond the last target

    def unit(u: str) -> None:
        matrix = code.value(f"sdiv i64 {u}, %blocks")
        target, count, below = b.bounds(b.minus(u, code.mul(matrix, "%blocks")))
        q, k, x = (b.place(matrix, i, 3, name) for i, name in enumerate(("%q", "%k", "%v")))
        out = b.row("%out", code.add(code.mul(matrix, "%targets"), target), "%depth")
        b.lay(panel, q, "%q_row", target, "%width", "%scale")
        b.begin(statistics)

        def chunk(first: str) -> None:
            some = code.least(b.minus(below, first), CHUNK)
            b.of_sources(scores, k, "%k_row", panel, "%width", first, some, below)
            tops, factors = b.merged(statistics, b.tops(scores, target, first, some))
            b.added(statistics, 1, factors, b.powers(scores, some, tops)[0])
            for i in range(b.vectors):
                total = b.kept(b.row(statistics, 1, b.span), i)
                b.keep(v.divide(1.0, total), b.row(statistics, 4, b.span), i)
            again = code.value(f"icmp ne i64 {first}, 0")
            last = code.value(f"icmp sge i64 {code.add(first, CHUNK)}, {below}")
            b.gathered(
                out, "%depth", count, "%depth", b.met(target, first, some), b.row(statistics, 3, b.span), scores,
                b.row(x, first, "%v_row"), "%v_row", again, last,
            )  # fmt: skip

        code.loop(0, below, CHUNK, chunk)

    code.loop("%first", "%last", 1, unit)


def _attend_pull(b: _Block) -> None:
    """A unit is a share of a pair's targets: `together` blocks, whose cotangents of sources are summed by themselves."""
    code, v = b.code, b.v
    panel, pulls = b.room(code.add("%width", v.lanes)), b.room(code.add("%depth", v.lanes))
    scores, others = b.room(CHUNK + b.height), b.room(CHUNK + b.height)
    statistics = b.room(6)

    def unit(u: str) -> None:
        share = code.value(f"sdiv i64 {u}, %matrices")
        matrix = b.minus(u, code.mul(share, "%matrices"))
        q, k, x, g = (b.place(matrix, i, 4, name) for i, name in enumerate(("%q", "%k", "%v", "%g")))
        dk, dv = (b.row(into, code.mul(u, "%sources"), width) for into, width in (("%dk", "%width"), ("%dv", "%depth")))
        begin = code.mul(share, "%together")

        def block(n: str) -> None:
            target, count, below = b.bounds(n)
            own_q, own_g = b.row(q, target, "%q_row"), b.row(g, target, "%g_row")
            dq = b.row("%dq", code.add(code.mul(matrix, "%targets"), target), "%width")
            b.lay(panel, q, "%q_row", target, "%width", "%scale")
            b.lay(pulls, g, "%g_row", target, "%depth")
            b.begin(statistics)
            once = code.value(f"icmp sle i64 {below}, {CHUNK}")
            several = code.value(f"xor i1 {once}, true")

            def products(first: str, some: str) -> None:
                b.of_sources(scores, k, "%k_row", panel, "%width", first, some, below)
                b.of_sources(others, x, "%v_row", pulls, "%depth", first, some, below)

            def look(first: str) -> None:
                """The softmax's maxima and sums, and the sums of the weights' cotangents times the weights."""
                some = code.least(b.minus(below, first), CHUNK)
                products(first, some)
                tops, factors = b.merged(statistics, b.tops(scores, target, first, some))
                sums, both = b.powers(scores, some, tops, others)
                b.added(statistics, 1, factors, sums)
                b.added(statistics, 2, factors, both)

            code.loop(0, below, CHUNK, look)
            ones = b.row(statistics, 3, b.span)
            for i in range(b.vectors):
                for row in (0, 1):
                    b.keep(v.constant(1.0), b.row(ones, row, b.span), i)

            def pull(first: str) -> None:
                some = code.least(b.minus(below, first), CHUNK)

                def weigh_again() -> None:
                    products(first, some)
                    b.tops(scores, target, first, some)
                    b.powers(scores, some, [b.kept(statistics, i) for i in range(b.vectors)])

                code.when(several, weigh_again)
                totals, along = (
                    [b.kept(b.row(statistics, row, b.span), i) for i in range(b.vectors)] for row in (1, 2)
                )  # fmt: skip
                shares = [v.divide(1.0, total) for total in totals]
                means = [v.multiply(x, y) for x, y in zip(along, shares)]
                scale = code.spread(v.lanes, v.number, "%scale")

                def line(s: str) -> None:
                    weights, pulled = b.row(scores, s, b.span), b.row(others, s, b.span)
                    for i in range(b.vectors):
                        p = v.multiply(b.kept(weights, i), shares[i])
                        b.keep(p, weights, i)
                        rest = v.multiply(v.subtract(b.kept(pulled, i), means[i]), p)
                        b.keep(v.multiply(rest, scale), pulled, i)

                code.loop(0, some, 1, line)

                def start(s: str) -> str:
                    return b.most(b.minus(code.add(first, s), target), 0) if b.causal else "0"

                b.scattered(dv, "%depth", first, some, start, count, scores, own_g, "%g_row")
                b.scattered(dk, "%width", first, some, start, count, others, own_q, "%q_row")
                again = code.value(f"icmp ne i64 {first}, 0")
                b.gathered(
                    dq, "%width", count, "%width", b.met(target, first, some), ones, others, b.row(k, first, "%k_row"),
                    "%k_row", again, "false",
                )  # fmt: skip

            code.loop(0, below, CHUNK, pull)

        code.loop(begin, code.least(code.add(begin, "%together"), "%blocks"), 1, block)

    code.loop("%first", "%last", 1, unit)


_ARRAYS = "array q, array k, array v, array places"
_SIZES = "i64 targets, i64 sources, i64 width, i64 depth, i64 q_row, i64 k_row, i64 v_row"
_BLOCKS = "i64 blocks, i64 matrices, i64 together"

# By name: operands, and what is done for the units from %first to %last.
_TEXTS: dict[str, tuple[str, Callable[[_Block], None]]] = {
    "attend": (f"array out, {_ARRAYS}, {_SIZES}, i64 blocks, number scale", _attend),
    "attend_pull": (
        f"array dq, array dk, array dv, array g, {_ARRAYS}, {_SIZES}, i64 g_row, {_BLOCKS}, number scale", _attend_pull
    ),
}  # fmt: skip
