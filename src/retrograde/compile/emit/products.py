"""Small matrix products of known sizes, as functions of a segment: sums stay in registers, operands in the nearest cache.

They are what backend/jit/products.py is for matrices of any size: nothing is asked at run time, and the second operand is read
where it is. Where its rows are no whole vectors, or lie as columns, it is laid out anew (`pack`) first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...backend.jit import llvm
from ...backend.jit.products import DEPTH
from ...backend.jit.vectors import Part, Vectors
from .kernel import mask


class Form(NamedTuple):
    """A product of m x k and k x n numbers. x, y: the strides of rows and columns. add: to what is there. across: the stride of
    the result's rows; 0 where they lie one behind the other."""

    number: str
    m: int
    k: int
    n: int
    x: tuple[int, int]
    y: tuple[int, int]
    add: bool = False
    across: int = 0

    @property
    def lanes(self) -> int:
        kind = llvm.processor()
        assert kind is not None
        return kind.register // self.size

    @property
    def size(self) -> int:
        return 4 if self.number == "float" else 8

    @property
    def width(self) -> int:
        """Of the second operand's rows, in whole vectors."""
        return -(-self.n // self.lanes) * self.lanes

    @property
    def packed(self) -> int:
        """The bytes of the second operand laid out anew; 0 where it is read as it is."""
        return self.k * self.width * self.size if self.y[1] != 1 or self.n % self.lanes else 0

    @property
    def name(self) -> str:
        """Of the function."""
        xs, ys = ("x".join(map(str, strides)) for strides in (self.x, (self.width, 1) if self.packed else self.y))
        to = f"_to_{self.across}" if self.across not in (0, self.n) else ""
        return f"{'add_' if self.add else ''}product_{self.number}_{self.m}_{self.k}_{self.n}_by_{xs}_{ys}{to}".replace("-", "_")

    @property
    def pack_name(self) -> str:
        """Of the function that lays the second operand out anew."""
        return f"pack_{self.number}_{self.k}_{self.n}_by_{'x'.join(map(str, self.y))}"

    @property
    def work(self) -> int:
        """Steps, as `threads` counts them."""
        return self.m * self.k * self.n >> 2


def pack(f: Form, code: Any) -> list[str]:
    """The lines of `pack(out, y)`: rows of whole vectors, zeros behind their end."""
    v = Vectors(code, f.lanes, f.number)

    def squares(k: str) -> None:
        """So many rows as a vector has numbers, of a matrix whose columns are contiguous: squares that are transposed."""

        def square(j: str) -> None:
            start = code.at(f.number, code.at(f.number, "%y", k), code.mul(j, f.y[1]))
            target = code.at(f.number, code.at(f.number, "%out", code.mul(k, f.width)), j)
            for r, vector in enumerate(v.transposed([v.load(start, c * f.y[1]) for c in range(f.lanes)])):
                v.store(vector, target, r * f.width)

        code.loop(0, f.n, f.lanes, square)

    def row(k: str) -> None:
        there, here = code.at(f.number, "%y", code.mul(k, f.y[0])), code.at(f.number, "%out", code.mul(k, f.width))

        def one(j: str) -> None:
            found = code.value(f"load {f.number}, ptr {code.at(f.number, there, code.mul(j, f.y[1]))}")
            code.do(f"store {f.number} {found}, ptr {code.at(f.number, here, j)}")

        code.loop(0, f.n, 1, one)
        if f.width > f.n:
            code.loop(f.n, f.width, 1, lambda j: code.do(f"store {f.number} 0.0, ptr {code.at(f.number, here, j)}"))

    def vectors(k: str) -> None:
        """A row whose numbers lie side by side."""
        there, here = code.at(f.number, "%y", code.mul(k, f.y[0])), code.at(f.number, "%out", code.mul(k, f.width))
        whole = f.n - f.n % f.lanes
        code.loop(0, whole, f.lanes, lambda j: v.store(v.load(there, j), here, j))
        if f.n > whole:
            v.store(Part(mask(f.n - whole, f.lanes)).load(v, there, whole), here, whole)

    if f.y[1] == 1:
        code.loop(0, f.k, 1, vectors)
    elif f.y[0] == 1 and f.k % f.lanes == f.n % f.lanes == 0:
        code.loop(0, f.k, f.lanes, squares)
    else:
        code.loop(0, f.k, 1, row)
    code.do("ret void")
    return [f"define internal void @{f.pack_name}(ptr %out, ptr %y) #0 {{", *code.lines, "}"]


def text(f: Form, code: Any) -> list[str]:
    """The lines of `product(out, x, y)`."""
    kind = llvm.processor()
    assert kind is not None
    height, most = kind.tile()
    v = Vectors(code, f.lanes, f.number)
    step = f.width if f.packed else f.y[0]
    across = f.across or f.n
    vectors = f.width // f.lanes
    panels = -(-vectors // most)
    chunks = -(-f.k // DEPTH)
    depth = -(-f.k // chunks)

    def tile(rows: int, count: int, i: str, column: str, first: int, deep: int, last: bool) -> None:
        """The sums of some rows from i on and of `count` vectors from a column on, over `deep` numbers from `first` on. last: the
        columns end with the matrix, which may be within the last vector."""
        together = next(u for u in (deep if deep <= 8 else 4, 4, 2, 1) if deep % u == 0)
        start = code.at(f.number, code.at(f.number, "%x", code.mul(i, f.x[0])), first * f.x[1])
        panel = code.at(f.number, code.at(f.number, "%y", first * step), column)

        def turn(k: str, *sums: str) -> list[str]:
            xs, ys = code.at(f.number, start, code.mul(k, f.x[1])), code.at(f.number, panel, code.mul(k, step))
            now = list(sums)
            for t in range(together):
                row = [v.load(ys, t * step + q * f.lanes) for q in range(count)]
                for r in range(rows):
                    one = code.value(f"load {f.number}, ptr {code.at(f.number, xs, r * f.x[0] + t * f.x[1])}")
                    spread = code.spread(f.lanes, f.number, one)
                    for q in range(count):
                        now[r * count + q] = v.call("fma", spread, row[q], now[r * count + q])
            return now

        zeros = [(v.type, "zeroinitializer")] * (rows * count)
        sums = turn("0", *[z for _, z in zeros]) if deep == together else code.loop(0, deep, together, turn, carried=zeros)
        target = code.at(f.number, code.at(f.number, "%out", code.mul(i, across)), column)
        for r in range(rows):
            for q in range(count):
                over = f.n % f.lanes if last and q == count - 1 else 0
                part = Part(mask(over, f.lanes) if over else None)
                at = r * across + q * f.lanes
                total = sums[r * count + q]
                if f.add or first:
                    total = v.add(part.load(v, target, at), total)
                part.store(v, total, target, at)

    def panel(count: int, column: str, last: bool) -> None:
        """`count` vectors of all rows, from a column on."""
        for first in range(0, f.k, depth):
            deep = min(depth, f.k - first)
            whole = f.m - f.m % height
            if whole:
                code.loop(0, whole, height, lambda i: tile(height, count, i, column, first, deep, last))  # noqa: B023 - called at once
            if f.m > whole:
                tile(f.m - whole, count, str(whole), column, first, deep, last)

    widths = [vectors // panels + (p < vectors % panels) for p in range(panels)]
    alike = widths if f.n % f.lanes == 0 else widths[:-1]  # the others are whole vectors
    begin = 0
    for count in dict.fromkeys(alike):
        end = begin + alike.count(count) * count * f.lanes
        code.loop(begin, end, count * f.lanes, lambda j, count=count: panel(count, j, False))
        begin = end
    if f.n % f.lanes:
        panel(widths[-1], str(begin), True)
    code.do("ret void")
    return [f"define internal void @{f.name}(ptr %out, ptr %x, ptr %y) #0 {{", *code.lines, "}"]

