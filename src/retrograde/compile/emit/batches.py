"""The machine code of a `products` equation (passes/batches.py): a function of known sizes for each pair of matrices.

A unit of work is one of them. A second operand whose rows are no whole vectors, or lie as columns, is laid out anew on the stack.
"""

from __future__ import annotations

import math
from typing import Any

from ...backend.jit import llvm
from ..graph import Equation, Variable
from ..passes.batches import Batch, Lying
from ..passes.fuse import Access
from . import products
from .kernel import shared_out


class BatchKernel:
    """The code of one `products` equation; to a segment what a `Kernel` is (kernel.py)."""

    def __init__(self, name: str, equation: Equation, accesses: dict[Variable, Access]) -> None:
        self.name, self.equation = name, equation
        self.batch: Batch = equation.params["batch"]
        self.bases = [accesses[v].base if accesses[v].plain else v for v in equation.inputs if v is not None]
        b, kind = self.batch, "float" if equation.outputs[0].dtype.char == "f" else "double"
        self.form = products.Form(kind, b.m, b.k, b.n, (b.x.row, b.x.column), (b.y.row, b.y.column), across=b.out.row)
        self.units = math.prod(b.lead)
        self.work = self.units * self.form.work

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
        f = self.form
        return f"{self.name}: {self.units} products of {f.m} x {f.k} and {f.k} x {f.n}"

    def text(self, code: Any, slots: dict[Any, int], known: dict[str, list[str]]) -> list[str]:
        """The lines of the function `name(frame, first, last)`, that does some of the units. known: the functions of products, by
        name, which those of other equations may take, too."""
        f, b = self.form, self.batch
        if f.name not in known:
            inner = llvm.Code()
            inner._declared = code._declared
            known[f.name] = products.text(f, inner)
        if f.packed and f.pack_name not in known:
            known[f.pack_name] = products.pack(f, llvm.Code())
        arrays = [code.value(f"load ptr, ptr {code.at('ptr', '%frame', slots[v])}") for v in (*self.bases, *self.gives())]
        laid = code.value(f"alloca [{f.packed} x i8], align 64") if f.packed else ""

        def place(array: str, lying: Lying, which: list[str]) -> str:
            at = str(lying.begin)
            for i, stride in zip(which, lying.lead):
                if stride:
                    at = code.add(at, code.mul(i, stride))
            return str(code.at(f.number, array, at))

        def unit(u: str) -> None:
            which, rest = list[str](), u
            for size in reversed(b.lead):
                which.insert(0, code.value(f"srem i64 {rest}, {size}"))
                rest = code.value(f"sdiv i64 {rest}, {size}")
            x, y, out = (place(a, lying, which) for a, lying in zip(arrays, (b.x, b.y, b.out)))
            if f.packed:
                code.do(f"call void @{f.pack_name}(ptr {laid}, ptr {y})")
                y = laid
            code.do(f"call void @{f.name}(ptr {out}, ptr {x}, ptr {y})")

        code.loop("%first", "%last", 1, unit)
        code.do("ret void")
        return [f"define internal void @{self.name}(ptr %frame, i64 %first, i64 %last) #0 {{", *code.lines, "}"]

    def finish(self, code: Any, pointers: Any) -> None:
        """Nothing is left to be done."""

    def call(self, code: Any) -> None:
        """Do all units, by the pool's threads where there is a pool."""
        shared_out(code, self.name, self.units, self.work)
