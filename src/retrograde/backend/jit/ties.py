"""Which of several equal elements a partial sort picks, as generated code: the steps of `ops.introselect`, row by row.

Those steps are Python's there, some microseconds for each element; what is sorted here are words of a rank and a position.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from . import llvm, threads
from .lines import during, either
from .llvm import Code

SHORT = 16
"""Up to so many elements are sorted by insertion."""

LITTLE = 1 << 8
"""Fewer elements are left to Python's steps."""

_STEP = 4000
"""Nanoseconds that these take for an element."""


def ordered(words: np.ndarray, what: str, k: int) -> bool:
    """Put rows of words (ranks above 32 bits of positions) in the order that C++'s algorithms leave, in place.

    what: "sort"; "top", the first k as `partial_sort` or `nth_element` and `sort` leave them; "kth", quickselect's k-th from 0.
    False where it is the caller's affair.
    """
    worth = words.size >= LITTLE and llvm.pays(words.size * _STEP)
    function = _generated(what) if worth else None
    if function is None:
        return False
    function(*threads.tiles(len(words), 32 * words.size), words.ctypes.data, words.shape[1], k)
    return True


@functools.cache
def _generated(what: str) -> Callable[..., None] | None:
    return llvm.shared(f"tied_{what}", "ptr words, i64 length, i64 k", lambda code: _text(code, what))


# ------------------------------------------------------------------------------------------ their code


class _Row(Code):
    """The text of a function of a row %w of words, of which `operands` are more i64."""

    def __init__(self, name: str, operands: str, result: str = "void") -> None:
        super().__init__()
        listed = "".join(f", i64 %{x}" for x in operands.split())
        self.head = f"define internal {result} @ties_{name}(ptr %w{listed})"

    def text(self, last: str = "ret void") -> str:
        """The whole function, that ends by an instruction."""
        return "\n".join([self.head + " #0 {", *self.lines, f"  {last}", "}"])

    def get(self, i: str) -> str:
        """Word i."""
        return self.value(f"load i64, ptr {self.at('i64', '%w', i)}")

    def put(self, word: str, i: str) -> None:
        """Write word i."""
        self.do(f"store i64 {word}, ptr {self.at('i64', '%w', i)}")

    def swap(self, i: str, j: str) -> None:
        """Exchange two words."""
        x, y = self.get(i), self.get(j)
        self.put(y, i)
        self.put(x, j)

    def less(self, x: str, y: str) -> str:
        """Whether the rank of a word is less than that of another."""
        return self.value(f"icmp ult i64 {self.value(f'lshr i64 {x}, 32')}, {self.value(f'lshr i64 {y}, 32')}")

    def is_(self, comparison: str, x: str, y: str | int) -> str:
        """Whether a comparison such as "sgt" of two i64 holds."""
        return self.value(f"icmp {comparison} i64 {x}, {y}")

    def both(self, x: str, y: str) -> str:
        """Whether two conditions hold."""
        return self.value(f"and i1 {x}, {y}")

    def choose(self, condition: str, x: str, y: str) -> str:
        """x where a condition holds, else y."""
        return self.value(f"select i1 {condition}, i64 {x}, i64 {y}")

    def half(self, x: str) -> str:
        """An i64 by 2, rounded down."""
        return self.value(f"ashr i64 {x}, 1")

    def minus(self, x: str, y: str) -> str:
        """x - y."""
        return self.value(f"sub i64 {x}, {y}")

    def call(self, name: str, *operands: str | int) -> None:
        """Call another of these functions."""
        self.do(f"call void @ties_{name}(ptr %w{''.join(f', i64 {x}' for x in operands)})")

    def cut(self, first: str, last: str) -> str:
        """Partition a part, where the upper one begins."""
        return self.value(f"call i64 @ties_partition(ptr %w, i64 {first}, i64 {last})")

    def upwards(self, i: str, pivot: str) -> str:
        """From i on the first place whose rank is not less than the pivot's."""
        return during(self, lambda i: self.less(self.get(i), pivot), lambda i: [self.add(i, 1)], [("i64", i)])[0]

    def downwards(self, j: str, pivot: str) -> str:
        """From j back the first place whose rank is not above the pivot's."""
        return during(self, lambda j: self.less(pivot, self.get(j)), lambda j: [self.add(j, -1)], [("i64", j)])[0]

    def meeting(self, i: str, j: str, pivot: str, comparison: str) -> list[str]:
        """Exchange words on the wrong sides of a pivot from both ends, as long as a comparison of the places holds."""

        def exchange(i: str, j: str) -> list[str]:
            self.swap(i, j)
            return [self.upwards(self.add(i, 1), pivot), self.downwards(self.add(j, -1), pivot)]

        start = [("i64", self.upwards(i, pivot)), ("i64", self.downwards(j, pivot))]
        return during(self, lambda i, j: self.is_(comparison, i, j), exchange, start)

    def depth(self, count: str) -> str:
        """How often a part of so many is partitioned at most: twice the logarithm."""
        zeros = self.value(f"call i64 @llvm.ctlz.i64(i64 {count}, i1 false)")
        return self.mul(self.minus("63", zeros), 2)


def _insertion() -> str:
    f = _Row("insertion", "first last")

    def one(i: str) -> None:
        word = f.get(i)

        def later(j: str) -> str:
            before = f.value(f"call i64 @llvm.smax.i64(i64 {f.add(j, -1)}, i64 0)")
            return f.both(f.is_("sgt", j, "%first"), f.less(word, f.get(before)))

        def move(j: str) -> list[str]:
            before = f.add(j, -1)
            f.put(f.get(before), j)
            return [before]

        f.put(word, during(f, later, move, [("i64", i)])[0])

    f.loop(f.add("%first", 1), "%last", 1, one)
    return f.text()


def _partition() -> str:
    """Around the median of three."""
    f = _Row("partition", "first last", "i64")
    a, b, c = f.add("%first", 1), f.add("%first", f.half(f.minus("%last", "%first"))), f.add("%last", -1)
    x, y, z = (f.get(i) for i in (a, b, c))
    ab, bc, ac = f.less(x, y), f.less(y, z), f.less(x, z)
    rising = f.choose(bc, b, f.choose(ac, c, a))
    falling = f.choose(ac, a, f.choose(bc, c, b))
    f.swap("%first", f.choose(ab, rising, falling))
    i, _ = f.meeting(a, c, f.get("%first"), "slt")
    return f.text(f"ret i64 {i}")


def _sift() -> str:
    """A word goes down from a hole of a heap of n, along the larger children, and up again."""
    f = _Row("sift", "first hole n word")

    def at(i: str) -> str:
        return f.add("%first", i)

    def down(child: str) -> list[str]:
        right = f.mul(f.add(child, 1), 2)
        left = f.add(right, -1)
        larger = f.choose(f.less(f.get(at(right)), f.get(at(left))), left, right)
        f.put(f.get(at(larger)), at(child))
        return [larger]

    most = f.half(f.add("%n", -1))
    (hole,) = during(f, lambda child: f.is_("slt", child, most), down, [("i64", "%hole")])
    even = f.is_("eq", f.value("and i64 %n, 1"), 0)
    alone = f.both(even, f.is_("eq", hole, f.half(f.add("%n", -2))))
    child = f.choose(alone, f.add(f.mul(hole, 2), 1), hole)
    f.when(alone, lambda: f.put(f.get(at(child)), at(hole)))

    def parent(hole: str) -> str:
        return f.value(f"call i64 @llvm.smax.i64(i64 {f.half(f.add(hole, -1))}, i64 0)")

    def above(hole: str) -> str:
        return f.both(f.is_("sgt", hole, "%hole"), f.less(f.get(at(parent(hole))), "%word"))

    def up(hole: str) -> list[str]:
        over = parent(hole)
        f.put(f.get(at(over)), at(hole))
        return [over]

    f.put("%word", at(during(f, above, up, [("i64", child)])[0]))
    return f.text()


def _pop() -> str:
    """The top of the heap goes to `result`, and what was there into the heap."""
    f = _Row("pop", "first last result")
    word = f.get("%result")
    f.put(f.get("%first"), "%result")
    f.call("sift", "%first", 0, f.minus("%last", "%first"), word)
    return f.text()


def _heap_select() -> str:
    f = _Row("heap_select", "first middle last")
    n = f.minus("%middle", "%first")
    count = f.half(n)  # parents; none for a heap of one

    def sift(i: str) -> None:
        hole = f.minus(f.add(count, -1), i)
        f.call("sift", "%first", hole, n, f.get(f.add("%first", hole)))

    f.loop(0, count, 1, sift)

    def offer(i: str) -> None:
        f.when(f.less(f.get(i), f.get("%first")), lambda: f.call("pop", "%first", "%middle", i))

    f.loop("%middle", "%last", 1, offer)
    return f.text()


def _partial_sort() -> str:
    f = _Row("partial_sort", "first middle last")
    f.call("heap_select", "%first", "%middle", "%last")

    def pop(middle: str) -> list[str]:
        before = f.add(middle, -1)
        f.call("pop", "%first", before, before)
        return [before]

    during(f, lambda m: f.is_("sgt", f.minus(m, "%first"), 1), pop, [("i64", "%middle")])
    return f.text()


def _sort() -> str:
    """Parts that wait for their turn are kept on a stack: their beginnings, ends and depths."""
    f = _Row("sort", "first last")
    stack = f.value(f"alloca [{3 * 160} x i64]")
    height = f.value("alloca i64")

    def push(*part: str) -> None:
        n = f.value(f"load i64, ptr {height}")
        for k, x in enumerate(part):
            f.do(f"store i64 {x}, ptr {f.at('i64', stack, f.add(f.mul(n, 3), k))}")
        f.do(f"store i64 {f.add(n, 1)}, ptr {height}")

    count = f.minus("%last", "%first")
    f.do(f"store i64 0, ptr {height}")
    push("%first", "%last", f.depth(count))

    def turn(n: str) -> list[str]:
        top = f.add(n, -1)
        f.do(f"store i64 {top}, ptr {height}")
        part = [f.value(f"load i64, ptr {f.at('i64', stack, f.add(f.mul(top, 3), k))}") for k in range(3)]

        def long(last: str, depth: str) -> str:
            return f.is_("sgt", f.minus(last, part[0]), SHORT)

        def split(last: str, depth: str) -> list[str]:
            less = f.add(depth, -1)
            cut = f.cut(part[0], last)
            push(cut, last, less)
            return [cut, less]

        last, _ = during(
            f, lambda last, depth: f.both(long(last, depth), f.is_("sgt", depth, 0)), split,
            [("i64", part[1]), ("i64", part[2])],
        )  # fmt: skip
        f.when(long(last, "0"), lambda: f.call("partial_sort", part[0], last, last))
        return [f.value(f"load i64, ptr {height}")]

    def parts() -> None:
        during(f, lambda n: f.is_("sgt", n, 0), turn, [("i64", "1")])
        f.call("insertion", "%first", "%last")

    f.when(f.is_("sgt", count, 1), parts)
    return f.text()


def _nth_element() -> str:
    f = _Row("nth_element", "nth n")

    def long(first: str, last: str) -> str:
        return f.is_("sgt", f.minus(last, first), 3)

    def split(first: str, last: str, depth: str) -> list[str]:
        cut = f.cut(first, last)
        below = f.is_("sle", cut, "%nth")
        return [f.choose(below, cut, first), f.choose(below, last, cut), f.add(depth, -1)]

    first, last, _ = during(
        f, lambda first, last, depth: f.both(long(first, last), f.is_("sgt", depth, 0)), split,
        [("i64", "0"), ("i64", "%n"), ("i64", f.depth("%n"))],
    )  # fmt: skip

    def by_heap() -> None:
        f.call("heap_select", first, f.add("%nth", 1), last)
        f.swap(first, "%nth")

    either(f, long(first, last), by_heap, lambda: f.call("insertion", first, last))
    return f.text()


def _quickselect() -> str:
    f = _Row("quickselect", "nth n")

    def step(low: str, high: str) -> list[str]:
        second = f.add(low, 1)
        f.swap(f.half(f.add(low, high)), second)
        for a, b in ((second, high), (low, high), (second, low)):
            f.when(f.less(f.get(b), f.get(a)), lambda a=a, b=b: f.swap(a, b))  # type: ignore[misc]
        i, j = f.meeting(f.add(low, 2), f.add(high, -1), f.get(low), "sle")
        f.swap(low, j)
        return [
            f.choose(f.is_("sle", j, "%nth"), i, low), f.choose(f.is_("sge", j, "%nth"), f.add(j, -1), high)
        ]  # fmt: skip

    low, high = during(
        f, lambda low, high: f.is_("sgt", high, f.add(low, 1)), step, [("i64", "0"), ("i64", f.add("%n", -1))]
    )  # fmt: skip

    def two() -> None:
        f.when(f.less(f.get(high), f.get(low)), lambda: f.swap(low, high))

    f.when(f.is_("eq", high, f.add(low, 1)), two)
    return f.text()


_FUNCTIONS: Sequence[Callable[[], str]] = (
    _insertion, _partition, _sift, _pop, _heap_select, _partial_sort, _sort, _nth_element, _quickselect
)  # fmt: skip


def _text(code: Code, what: str) -> None:
    """For each row of the tile."""
    code.declare("declare i64 @llvm.smax.i64(i64, i64)")
    code.declare("declare i64 @llvm.ctlz.i64(i64, i1)")
    for function in _FUNCTIONS:
        code.declare(function())

    def row(r: str) -> None:
        w = code.at("i64", "%words", code.mul(r, "%length"))

        def call(name: str, *operands: str) -> None:
            code.do(f"call void @ties_{name}(ptr {w}{''.join(f', i64 {x}' for x in operands)})")

        def select() -> None:
            last = code.add("%k", -1)
            call("nth_element", last, "%length")
            call("sort", "0", last)

        if what == "sort":
            call("sort", "0", "%length")
        elif what == "kth":
            call("quickselect", "%k", "%length")
        else:
            little = code.value(f"icmp sle i64 {code.mul('%k', 64)}, %length")
            either(code, little, lambda: call("partial_sort", "0", "%k", "%length"), select)

    code.loop("%first", "%last", 1, row)
