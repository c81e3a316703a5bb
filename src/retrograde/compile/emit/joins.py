"""The machine code of arrays put side by side (`concatenate`, `stack`), as a part of a segment.

A call of NumPy between two segments costs several times what it takes by itself, since the way there has left the cache: 50 µs
for what is 10 in a loop. And what comes after it is another segment, whose operands have to be arrays of their own.
"""

from __future__ import annotations

import math
from typing import Any

from ..graph import Equation, Variable
from ..passes.fuse import Access
from .kernel import shared_out


class JoinKernel:
    """The code of an equation that `joins` (passes/fuse.py) takes; to a segment what a `Kernel` is (kernel.py).

    A unit of work is a row: what each part has beside what the others have.
    """

    def __init__(self, name: str, equation: Equation, accesses: dict[Variable, Access]) -> None:
        self.name, self.equation = name, equation
        self.bases = [accesses[v].base if accesses[v].plain else v for v in equation.inputs if v is not None]
        (out,) = equation.outputs
        self.units = math.prod(out.shape[: equation.params["axis"] % out.ndim])
        self.work = out.size

    def partials(self) -> dict[Any, int]:
        """It keeps nothing."""
        return {}

    def takes(self) -> list[Variable]:
        """The bases that it reads from memory."""
        return list(dict.fromkeys(self.bases))

    def gives(self) -> list[Variable]:
        """What it writes."""
        return list(self.equation.outputs)

    def described(self) -> str:
        """It in a line."""
        return f"{self.name}: {len(self.bases)} arrays side by side, in {self.units} rows"

    def text(self, code: Any, slots: dict[Any, int], known: dict[str, list[str]]) -> list[str]:
        """The lines of the function `name(frame, first, last)`, that does some of the rows, and before them the table that it
        reads."""
        (out,) = self.gives()
        item = out.dtype.itemsize
        code.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        target = code.value(f"load ptr, ptr {code.at('ptr', '%frame', slots[out])}")
        row = out.size * item // self.units
        parts = [v.size * item // self.units for v in self.bases]

        def part(source: str, size: int, u: str, at: str) -> None:
            places = code.at("i8", target, at), code.at("i8", source, code.mul(u, size))
            pointers = ", ".join(f"ptr align {item} {x}" for x in places)
            code.do(f"call void @llvm.memcpy.p0.p0.i64({pointers}, i64 {size}, i1 false)")

        if len(set(parts)) == 1:  # a loop, of which the text is as long for many as for few
            table = f"@{self.name}.parts"
            numbers = ", ".join(f"i64 {slots[v]}" for v in self.bases)
            made = [f"{table} = internal constant [{len(parts)} x i64] [{numbers}]"]

            def one(u: str, k: str) -> None:
                slot = code.value(f"load i64, ptr {code.at('i64', table, k)}")
                source = code.value(f"load ptr, ptr {code.at('ptr', '%frame', slot)}")
                part(source, parts[0], u, code.add(code.mul(u, row), code.mul(k, parts[0])))

            code.loop("%first", "%last", 1, lambda u: code.loop(0, len(parts), 1, lambda k: one(u, k)) and None)
        else:
            sources = [code.value(f"load ptr, ptr {code.at('ptr', '%frame', slots[v])}") for v in self.bases]
            begins = [sum(parts[:k]) for k in range(len(parts))]
            made = []

            def each(u: str) -> None:
                for source, size, begin in zip(sources, parts, begins):
                    part(source, size, u, code.add(code.mul(u, row), begin))

            code.loop("%first", "%last", 1, each)
        code.do("ret void")
        return [*made, f"define internal void @{self.name}(ptr %frame, i64 %first, i64 %last) #0 {{", *code.lines, "}"]

    def finish(self, code: Any, pointers: Any) -> None:
        """Nothing is left to be done."""

    def call(self, code: Any) -> None:
        """Do all rows, by the pool's threads where there is a pool."""
        shared_out(code, self.name, self.units, self.work)
