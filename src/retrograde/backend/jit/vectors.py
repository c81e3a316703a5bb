"""Instructions for vectors of numbers in LLVM's assembly language."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

import numpy as np

from .llvm import Code, processor

_SUFFIX = {"float": "f32", "double": "f64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"}
_SIZE = {"float": 4, "double": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}

_EXP = 0.49999994, 0.166665211, 0.041668389, 0.00836871006, 0.00138146104
"""(exp(r) - 1 - r) / r² for |r| up to log(2) / 2: our own minimax fit (Lawson's weighted least squares)."""
_LOG2 = 0.693359375, -2.12194440e-4  # log(2) as a number of few bits, whose multiples are exact, and the rest
_MAGIC = 1.5 * 2**23  # a float32 of this size has no room behind the point: adding it rounds

LANES = 16
"""Of vectors of single numbers: one register with AVX-512, two with AVX2, four elsewhere."""

SUMMED = 512
"""Numbers that are added up in single precision: 32 or 64 in each lane."""

Operand = str | float
"""The name of a value, or a number that becomes a constant in every lane."""

class Vectors:
    """Instructions for `lanes` numbers of LLVM's type float, double, i8, i16, i32 or i64 at a time."""

    def __init__(self, code: Code, lanes: int, number: str = "float") -> None:
        self.code, self.lanes, self.number = code, lanes, number
        self.type, self.mask = f"<{lanes} x {number}>", f"<{lanes} x i1>"
        self.size = _SIZE[number]
        self._float = number in ("float", "double")
        kind = processor()
        self.fused = kind is None or kind.fused

    def constant(self, x: Operand) -> str:
        """A number in every lane."""
        if isinstance(x, str):
            return x
        if self._float:
            bits = struct.pack(">d", float(np.float32(x)) if self.number == "float" else x)
            text = f"0x{bits.hex().upper()}"
        else:
            text = str(int(x))
        return "<" + ", ".join([f"{self.number} {text}"] * self.lanes) + ">"

    def two(self, instruction: str, x: Operand, y: Operand) -> str:
        """An instruction of two operands, such as "xor"."""
        return self.code.value(f"{instruction} {self.type} {self.constant(x)}, {self.constant(y)}")

    def add(self, x: Operand, y: Operand) -> str:
        """x + y."""
        return self.two("fadd" if self._float else "add", x, y)

    def subtract(self, x: Operand, y: Operand) -> str:
        """x - y."""
        return self.two("fsub" if self._float else "sub", x, y)

    def multiply(self, x: Operand, y: Operand) -> str:
        """x y."""
        return self.two("fmul" if self._float else "mul", x, y)

    def call(self, name: str, *operands: Operand) -> str:
        """A function of LLVM's own (an intrinsic) of vectors, such as "sqrt"; "fma" is rounded twice where no instruction
        rounds once."""
        if name == "fma" and not self.fused:
            x, y, z = operands
            return self.add(self.multiply(x, y), z)
        full = f"@llvm.{name}.v{self.lanes}{_SUFFIX[self.number]}"
        self.code.declare(f"declare {self.type} {full}({', '.join([self.type] * len(operands))})")
        given = ", ".join(f"{self.type} {self.constant(x)}" for x in operands)
        return self.code.value(f"call {self.type} {full}({given})")

    def choose(self, comparison: str, x: Operand, y: Operand, then: Operand, otherwise: Operand) -> str:
        """`then` where a comparison such as "fcmp olt" holds, `otherwise` elsewhere and beside nan."""
        holds = self.two(comparison, x, y)
        return self.code.value(
            f"select {self.mask} {holds}, {self.type} {self.constant(then)}, {self.type} {self.constant(otherwise)}"
        )

    def select(self, mask: str, then: Operand, otherwise: Operand) -> str:
        """`then` where the mask is set, `otherwise` elsewhere."""
        return self.code.value(
            f"select {self.mask} {mask}, {self.type} {self.constant(then)}, {self.type} {self.constant(otherwise)}"
        )

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        """The sum of coefficients[k] x^k, by fused multiply-adds from the last on."""
        *rest, last = coefficients
        total: Operand = last
        for c in reversed(rest):
            total = self.call("fma", total, x, c)
        return self.constant(total)

    def exp(self, x: str, shift: int = 0) -> tuple[str, str]:
        """r and s with exp(x) = (s + s r) / 2**shift for float32 x between -87 - log(2) shift and 88: s is a power of 2."""
        shifted = self.add(self.multiply(x, 1 / math.log(2)), _MAGIC)
        n = self.subtract(shifted, _MAGIC)
        r = self.call("fma", n, -_LOG2[0], x)
        r = self.call("fma", n, -_LOG2[1], r)
        less = self.call("fma", self.polynomial(_EXP, r), self.multiply(r, r), r)
        words = Vectors(self.code, self.lanes, "i32")
        exponent = words.two("shl", self.convert("bitcast", shifted, words), 23)
        return less, words.convert("bitcast", words.add(exponent, 127 + shift << 23), self)

    def decay(self, x: str) -> str:
        """exp(x) of float32 x up to 0, down to the smallest numbers that there are and 0."""
        part, scale = self.exp(self.choose("fcmp olt", x, -104.0, -104.0, x), shift=64)
        return self.multiply(self.call("fma", part, scale, scale), 2.0**-64)

    def sigmoid(self, x: str) -> str:
        """1 / (1 + exp(-x)) of float32; with t = exp(-|x|), t / (1 + t) below 0."""
        t = self.decay(self.subtract(0.0, self.call("fabs", x)))
        return self.divide(self.choose("fcmp olt", x, 0.0, t, 1.0), self.add(1.0, t))

    def tanh(self, x: str) -> str:
        """The hyperbolic tangent of float32: with t = exp(-2|x|) - 1, exact also near 0, -t / (2 + t)."""
        size = self.call("fabs", x)
        part, scale = self.exp(self.multiply(self.choose("fcmp ogt", size, 10.0, 10.0, size), -2.0))
        t = self.call("fma", part, scale, self.subtract(scale, 1.0))
        return self.call("copysign", self.divide(t, self.add(t, 2.0)), x)

    def negative(self, x: Operand) -> str:
        """-x."""
        if not self._float:
            return self.subtract(0, x)
        return self.code.value(f"fneg {self.type} {self.constant(x)}")

    def divide(self, x: Operand, y: Operand) -> str:
        """x / y."""
        return self.two("fdiv" if self._float else "sdiv", x, y)

    def convert(self, instruction: str, x: str, to: Vectors) -> str:
        """x in another type, by "bitcast", "sitofp", "zext"..."""
        return self.code.value(f"{instruction} {self.type} {x} to {to.type}")

    def pick(self, x: str, y: str, lanes: Sequence[int]) -> str:
        """Some lanes of x, and from `self.lanes` on of y."""
        chosen = ", ".join(f"i32 {k}" for k in lanes)
        return self.code.value(
            f"shufflevector {self.type} {x}, {self.type} {y}, <{len(lanes)} x i32> <{chosen}>"
        )

    def load(self, pointer: str, index: str | int = 0, align: int | None = None) -> str:
        """The vector that starts at an element, whose address is a multiple of `align` bytes."""
        at = self.code.at(self.number, pointer, index)
        return self.code.value(f"load {self.type}, ptr {at}, align {align or self.size}")

    def store(self, x: str, pointer: str, index: str | int = 0, align: int | None = None) -> None:
        """Write the vector that starts at an element."""
        at = self.code.at(self.number, pointer, index)
        self.code.do(f"store {self.type} {x}, ptr {at}, align {align or self.size}")

    def below(self, count: str, first: int = 0) -> str:
        """The mask of the lanes that are below a count (an i64), the lanes being numbered from `first` on."""
        numbers = ", ".join(f"i64 {first + k}" for k in range(self.lanes))
        return self.code.value(f"icmp slt <{self.lanes} x i64> <{numbers}>, {self.code.spread(self.lanes, 'i64', count)}")

    def sum(self, x: str) -> str:
        """The sum of the lanes, as one number, halves added to halves."""
        function = f"@llvm.vector.reduce.fadd.v{self.lanes}{_SUFFIX[self.number]}"
        self.code.declare(f"declare {self.number} {function}({self.number}, {self.type})")
        zero = f"{self.number} {'-0.0' if self._float else '0'}"
        return self.code.value(f"call reassoc {self.number} {function}({zero}, {self.type} {x})")

    def total(self, x: str) -> str:
        """The sum of the lanes, in every lane."""
        return self.code.spread(self.lanes, self.number, self.sum(x))

    def largest(self, x: str) -> str:
        """The largest of the lanes, in every lane; where one is nan, another may be taken."""
        for distance in (self.lanes >> k for k in range(1, self.lanes.bit_length())):
            other = self.pick(x, x, [lane ^ distance for lane in range(self.lanes)])
            x = self.choose("fcmp ogt", other, x, other, x)
        return x

    def transposed(self, vectors: list[str]) -> list[str]:
        """The columns of a square, of which these are the rows: squares of 1, 2, 4... elements change places across the
        diagonal."""
        distance, lanes = 1, range(self.lanes)
        while distance < self.lanes:
            result = list(vectors)
            for i in lanes:
                if not i & distance:
                    pair = vectors[i], vectors[i + distance]
                    upper = [self.lanes + (l ^ distance) if l & distance else l for l in lanes]
                    lower = [self.lanes + l if l & distance else l ^ distance for l in lanes]
                    for place, chosen in ((i, upper), (i + distance, lower)):
                        result[place] = self.pick(*pair, chosen)
            vectors, distance = result, 2 * distance
        return vectors

    def over(
        self, n: str, step: Callable[..., Sequence[str] | None], carried: Sequence[str] = ()
    ) -> list[str]:  # fmt: skip
        """step(i, part, *values) for i in range(0, n, lanes); returns the vectors that are carried from turn to turn.

        `part` reads and writes: whole vectors, and in the last turn what is left of n. `carried` are the first vectors,
        `step` returns the next ones.
        """
        code = self.code
        complete = code.value(f"and i64 {n}, {-self.lanes}")
        values = code.loop(
            0, complete, self.lanes, lambda i, *now: step(i, Part(), *now), carried=[(self.type, x) for x in carried]
        )

        def last(i: str, *now: str) -> Sequence[str] | None:
            return step(i, Part(self.below(code.value(f"sub i64 {n}, {i}"))), *now)

        return code.loop(complete, n, self.lanes, last, carried=[(self.type, x) for x in values])

    def folded(
        self, n: str, step: Callable[..., Sequence[str]], first: Sequence[str],
        join: Callable[[Sequence[str], Sequence[str]], Sequence[str]], together: int = 4,
    ) -> Sequence[str]:  # fmt: skip
        """`over` by several vectors a turn, each carrying what is its own, so that none waits for the one before; what they
        carry begins with `first` and is put together by `join`."""
        code, count = self.code, len(first)

        def turn(i: str, *now: str) -> list[str]:
            found: list[str] = []
            for k in range(together):
                at = code.add(i, k * self.lanes) if k else i
                found += step(at, Part(), *now[k * count : (k + 1) * count])
            return found

        whole = code.value(f"and i64 {n}, {-self.lanes * together}")
        each = code.loop(
            0, whole, self.lanes * together, turn, carried=[(self.type, self.constant(x)) for x in first] * together
        )  # fmt: skip
        sets: list[Sequence[str]] = [each[k * count : (k + 1) * count] for k in range(together)]
        while len(sets) > 1:
            sets = [join(*sets[k : k + 2]) if k + 1 < len(sets) else sets[k] for k in range(0, len(sets), 2)]

        def last(i: str, *now: str) -> Sequence[str]:
            return step(i, Part(self.below(code.value(f"sub i64 {n}, {i}"))), *now)

        complete = code.value(f"and i64 {n}, {-self.lanes}")
        values = code.loop(
            whole, complete, self.lanes, lambda i, *now: step(i, Part(), *now), carried=[(self.type, x) for x in sets[0]]
        )  # fmt: skip
        return code.loop(complete, n, self.lanes, last, carried=[(self.type, x) for x in values])

    def sums(
        self, n: str, step: Callable[..., Sequence[str]], count: int = 1, *, long: bool
    ) -> list[str]:  # fmt: skip
        """`count` sums of single numbers, in every lane; step(i, part, *sums) returns the next ones, as for `over`.

        long: n may be above SUMMED.
        """
        if not long:
            return [self.total(x) for x in self.over(n, step, [self.constant(0.0)] * count)]
        zero = Vectors(self.code, self.lanes, "double").constant(0.0)
        return [self.single_total(x) for x in self.added(n, step, [zero] * count, long=True)]

    def added(
        self, n: str, step: Callable[..., Sequence[str]], before: Sequence[str], *, long: bool
    ) -> list[str]:  # fmt: skip
        """Vectors of doubles and `sums` before they become one number: every SUMMED numbers they go on in double
        precision, for long sums of single ones lose digits."""
        code, wide = self.code, Vectors(self.code, self.lanes, "double")
        if self.number == "double":
            return self.over(n, step, before)

        def block(first: str, *totals: str) -> list[str]:
            here = code.least(code.value(f"sub i64 {n}, {first}"), SUMMED) if long else n
            zeros = [self.constant(0.0)] * len(totals)
            found = self.over(here, lambda i, part, *now: step(code.add(first, i), part, *now), zeros)
            return [wide.add(t, self.widened(x)) for t, x in zip(totals, found, strict=True)]

        if not long:
            return block("0", *before)
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        return code.loop(0, n, SUMMED, block, carried=[(wide.type, x) for x in before])

    def single_total(self, x: str) -> str:
        """The sum of the lanes of a vector of doubles, in every lane of single numbers."""
        found = Vectors(self.code, self.lanes, "double").sum(x)
        if self.number != "double":
            found = self.code.value(f"fptrunc double {found} to {self.number}")
        return self.code.spread(self.lanes, self.number, found)

    def widened(self, x: str) -> str:
        """x in double precision."""
        return x if self.number == "double" else self.convert("fpext", x, Vectors(self.code, self.lanes, "double"))

    def narrowed(self, x: str) -> str:
        """A vector of doubles as numbers of this kind."""
        return x if self.number == "double" else Vectors(self.code, self.lanes, "double").convert("fptrunc", x, self)


class Part:
    """What a turn of `over` reads and writes: whole vectors, or the lanes of a mask."""

    def __init__(self, mask: str | None = None) -> None:
        self.mask = mask

    def load(self, v: Vectors, pointer: str, index: str | int, beyond: Operand = 0) -> str:
        """The vector that starts at an element; outside the mask nothing is read, and `beyond` stands there."""
        if self.mask is None:
            return v.load(pointer, index)
        function = f"@llvm.masked.load.v{v.lanes}{_SUFFIX[v.number]}.p0"
        v.code.declare(f"declare {v.type} {function}(ptr, i32, {v.mask}, {v.type})")
        at = v.code.at(v.number, pointer, index)
        return v.code.value(
            f"call {v.type} {function}(ptr {at}, i32 {v.size}, {v.mask} {self.mask}, {v.type} {v.constant(beyond)})"
        )

    def store(self, v: Vectors, x: str, pointer: str, index: str | int) -> None:
        """Write the vector that starts at an element, inside the mask."""
        if self.mask is None:
            v.store(x, pointer, index)
            return
        if self.mask.count("true") == 1:  # of a narrowed number LLVM 22 stores all bits: those that were left out lie beyond it
            lane = self.mask.strip("<>").split(", ").index("i1 true")
            raw = v.code.value(f"extractelement {v.type} {x}, i64 {lane}")
            at = v.code.at(v.number, v.code.at(v.number, pointer, index), lane)
            v.code.do(f"store {v.number} {raw}, ptr {at}, align {v.size}")
            return
        function = f"@llvm.masked.store.v{v.lanes}{_SUFFIX[v.number]}.p0"
        v.code.declare(f"declare void {function}({v.type}, ptr, i32, {v.mask})")
        at = v.code.at(v.number, pointer, index)
        v.code.do(f"call void {function}({v.type} {x}, ptr {at}, i32 {v.size}, {v.mask} {self.mask})")

    def keep(self, v: Vectors, x: str) -> str:
        """x, and 0 outside the mask."""
        if self.mask is None:
            return x
        return v.code.value(f"select {v.mask} {self.mask}, {v.type} {x}, {v.type} zeroinitializer")
