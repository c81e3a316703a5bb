"""Instructions for vectors of numbers in LLVM's assembly language."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .llvm import Code

_SUFFIX = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64"}
_SIZE = {"float": 4, "double": 8, "i32": 4, "i64": 8}

Operand = str | float
"""The name of a value, or a number that becomes a constant in every lane."""

Step = Callable[[str, Callable[..., str], Callable[..., Any]], None]


class Vectors:
    """Instructions for `lanes` numbers of LLVM's type float, double, i32 or i64 at a time."""

    def __init__(self, code: Code, lanes: int, number: str = "float") -> None:
        self.code, self.lanes, self.number = code, lanes, number
        self.type, self.mask = f"<{lanes} x {number}>", f"<{lanes} x i1>"
        self.size = _SIZE[number]
        self._float = number in ("float", "double")

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
        """A function of LLVM's own (an intrinsic) of vectors, such as "fma" or "sqrt"."""
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

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        """The sum of coefficients[k] x^k, by fused multiply-adds from the last on."""
        *rest, last = coefficients
        total: Operand = last
        for c in reversed(rest):
            total = self.call("fma", total, x, c)
        return self.constant(total)

    def convert(self, instruction: str, x: str, to: Vectors) -> str:
        """x in another type, by "bitcast", "sitofp", "zext"..."""
        return self.code.value(f"{instruction} {self.type} {x} to {to.type}")

    def pick(self, x: str, y: str, lanes: Sequence[int]) -> str:
        """Some lanes of x, and from `self.lanes` on of y."""
        chosen = ", ".join(f"i32 {k}" for k in lanes)
        return self.code.value(
            f"shufflevector {self.type} {x}, {self.type} {y}, <{len(lanes)} x i32> <{chosen}>"
        )

    def load(self, pointer: str, index: str | int = 0) -> str:
        """The vector that starts at an element."""
        return self.code.value(f"load {self.type}, ptr {self.code.at(self.number, pointer, index)}, align {self.size}")

    def store(self, x: str, pointer: str, index: str | int = 0) -> None:
        """Write the vector that starts at an element."""
        self.code.do(f"store {self.type} {x}, ptr {self.code.at(self.number, pointer, index)}, align {self.size}")

    def below(self, count: str) -> str:
        """The mask of the lanes below a count (an i64)."""
        numbers = ", ".join(f"i64 {k}" for k in range(self.lanes))
        return self.code.value(f"icmp slt <{self.lanes} x i64> <{numbers}>, {self.code.spread(self.lanes, 'i64', count)}")

    def load_some(self, pointer: str, index: str, mask: str) -> str:
        """The vector that starts at an element, with 0 where the mask is not set: nothing is read there."""
        full = f"@llvm.masked.load.v{self.lanes}{_SUFFIX[self.number]}.p0"
        self.code.declare(f"declare {self.type} {full}(ptr, i32, {self.mask}, {self.type})")
        at = self.code.at(self.number, pointer, index)
        return self.code.value(
            f"call {self.type} {full}(ptr {at}, i32 {self.size}, {self.mask} {mask}, {self.type} zeroinitializer)"
        )

    def store_some(self, x: str, pointer: str, index: str, mask: str) -> None:
        """Write the lanes of the mask."""
        full = f"@llvm.masked.store.v{self.lanes}{_SUFFIX[self.number]}.p0"
        self.code.declare(f"declare void {full}({self.type}, ptr, i32, {self.mask})")
        at = self.code.at(self.number, pointer, index)
        self.code.do(f"call void {full}({self.type} {x}, ptr {at}, i32 {self.size}, {self.mask} {mask})")

    def over(self, n: str, step: Step) -> None:
        """step(i, load, store) for i in range(0, n, lanes), where the last turn reads and writes what is left of n.

        load(vectors, pointer, index) and store(vectors, x, pointer, index) do so for any vectors of as many lanes.
        """
        code = self.code
        complete = code.value(f"and i64 {n}, {-self.lanes}")
        code.loop(0, complete, self.lanes, lambda i: step(i, Vectors.load, Vectors.store))

        def last(i: str) -> None:
            mask = self.below(code.value(f"sub i64 {n}, {i}"))
            step(i, lambda v, p, at: v.load_some(p, at, mask), lambda v, x, p, at: v.store_some(x, p, at, mask))

        code.loop(complete, n, self.lanes, last)
