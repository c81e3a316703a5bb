"""Arrays as lines along one axis, for kernels that work line by line: how they lie, of which numbers, and in which order.

A contiguous array is `outer` blocks of `length` times `inner` numbers: line (o, c) begins at o length inner + c, and its
numbers lie `inner` apart. A unit of work is one line, in the order of memory.

Order is that of keys: whole numbers that compare as the numbers do, where nan is larger than any and -0 equals 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from . import threads
from .llvm import Code
from .operands import LEAST, address
from .vectors import LANES, Vectors

NUMBERS = {"f": "float", "d": "double", "i": "i32", "l": "i64", "q": "i64"}
"""LLVM's names of the numbers that there are kernels for, by NumPy's character."""
if np.dtype("l").itemsize == 4:
    NUMBERS["l"] = "i32"

KEYS = {"float": "i32", "double": "i64", "i32": "i32", "i64": "i64"}
_LARGEST = {"i32": 2**31 - 1, "i64": 2**63 - 1}

PADDED = 64
"""Keys of a line are filled up to a multiple of so many with the largest one."""


class Lines(NamedTuple):
    """The lines of a contiguous array along an axis."""

    outer: int
    length: int
    inner: int

    @property
    def total(self) -> int:
        """How many lines there are."""
        return self.outer * self.inner


def lines(shape: tuple[int, ...], axis: int) -> Lines:
    """The lines of an array of a shape along an axis."""
    length = shape[axis] if shape else 1  # what has no axes is a line of one
    return Lines(math.prod(shape[:axis]), length, math.prod(shape[axis + 1 :]))


def taken(x: np.ndarray, least: int = LEAST) -> str | None:
    """LLVM's name of the numbers of an array that kernels of lines take; None where it is the caller's affair."""
    if x.size < least:
        return None
    flags, dtype = x.flags, x.dtype
    if not flags.c_contiguous or not flags.aligned:
        return None
    return NUMBERS.get(dtype.char) if dtype.isnative else None


class Room:
    """Memory for the tiles of a job: each has `bytes` of its own, which begin at `%room` plus its number times them."""

    def __init__(self, units: int, work: int, bytes: int) -> None:
        self.tiles = threads.tiles(units, work)
        self.grain = max(self.tiles[2], 1)
        self.bytes = -(-bytes // 64) * 64
        self.memory = np.empty(self.bytes * -(-units // self.grain) + 64, np.uint8)

    @property
    def address(self) -> int:
        """Where it begins, at a line of the cache."""
        return -(-address(self.memory) // 64) * 64


def own_room(code: Code) -> str:
    """The memory of this tile, for a kernel with the operands `ptr room, i64 each, i64 bytes`."""
    return code.at("i8", "%room", code.mul(code.value("sdiv i64 %first, %each"), "%bytes"))


def during(
    code: Code, condition: Callable[..., str], body: Callable[..., Sequence[str]], carried: Sequence[tuple[str, str]]
) -> list[str]:
    """body(*values) as long as condition(*values), an i1, holds before a turn; returns the last values.

    carried: type and first value of each; `body` returns the next ones.
    """
    n = code.fresh()
    code.do(f"br label %start{n}")
    code.label(f"start{n}")
    code.do(f"br label %while{n}")
    code.label(f"while{n}")
    place = len(code.lines)
    values = [f"%w{n}.{k}" for k in range(len(carried))]
    code.do(f"br i1 {condition(*values)}, label %do{n}, label %left{n}")
    code.label(f"do{n}")
    following = body(*values)
    code.do(f"br label %turn{n}")
    code.label(f"turn{n}")
    code.do(f"br label %while{n}")
    code.label(f"left{n}")
    code.lines[place:place] = [
        f"  {v} = phi {type} [ {first}, %start{n} ], [ {later}, %turn{n} ]"
        for v, (type, first), later in zip(values, carried, following, strict=True)
    ]
    return values


def each_line(code: Code, body: Callable[[str, str, str], None]) -> None:
    """body(block, column, first) for the tile's lines: which one it is, and where its first number stands.

    The kernel has the operands `i64 length, i64 inner`.
    """

    def one(unit: str) -> None:
        o, c = code.value(f"sdiv i64 {unit}, %inner"), code.value(f"srem i64 {unit}, %inner")
        body(o, c, code.add(code.mul(code.mul(o, "%length"), "%inner"), c))

    code.loop("%first", "%last", 1, one)


class Keys:
    """The keys of numbers of a type, as vectors and one by one."""

    def __init__(self, code: Code, number: str, descending: bool) -> None:
        self.code, self.number, self.type, self.descending = code, number, KEYS[number], descending
        self.lanes = LANES if self.type == "i32" else LANES // 2
        self.vectors = Vectors(code, self.lanes, self.type)
        self.largest = _LARGEST[self.type]
        self.bits = 32 if self.type == "i32" else 64
        self.size = self.bits // 8

    def of(self, numbers: Vectors, x: str) -> str:
        """The keys of a vector of numbers."""
        v, floating = Vectors(self.code, numbers.lanes, self.type), self.number in ("float", "double")
        key = x
        if floating:
            word = numbers.convert("bitcast", numbers.add(x, 0.0), v)  # -0 + 0 is 0
            sign = v.two("lshr", v.two("ashr", word, self.bits - 1), 1)
            key = v.two("xor", word, sign)
            key = self.code.value(
                f"select {v.mask} {numbers.two('fcmp uno', x, x)}, {v.type} {v.constant(self.largest)}, {v.type} {key}"
            )
        return v.two("xor", key, -1) if self.descending else key

    def read(self, keys: str, x: str, first: str) -> None:
        """The keys of the line that begins at a place of x, written one after the other, filled up with the largest."""
        code, v = self.code, self.vectors
        numbers = Vectors(code, self.lanes, self.number)
        line = code.at(self.number, x, first)
        end = code.value(f"and i64 {code.add('%length', PADDED - 1)}, {-PADDED}")
        code.loop(
            code.value(f"and i64 %length, {-self.lanes}"), end, self.lanes,
            lambda i: v.store(v.constant(self.largest), keys, i),
        )  # fmt: skip

        def contiguous() -> None:
            numbers.over("%length", lambda i, part: part.store(v, self.of(numbers, part.load(numbers, line, i)), keys, i))

        def apart() -> None:
            one = Vectors(code, 1, self.number)

            def copy(i: str) -> None:
                x = one.load(line, code.mul(i, "%inner"))
                Vectors(code, 1, self.type).store(self.of(one, x), keys, i)

            code.loop(0, "%length", 1, copy)

        either(code, code.value("icmp eq i64 %inner, 1"), contiguous, apart)


def either(code: Code, condition: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """then() where a condition holds, otherwise() elsewhere."""
    code.when(condition, then)
    code.when(code.value(f"xor i1 {condition}, true"), otherwise)


def reduced(v: Vectors, name: str, x: str) -> str:
    """The lanes of a vector of whole numbers reduced to one by "add", "smin"..."""
    function = f"@llvm.vector.reduce.{name}.v{v.lanes}{v.number}"
    v.code.declare(f"declare {v.number} {function}({v.type})")
    return v.code.value(f"call {v.number} {function}({v.type} {x})")

