"""A graph as machine code: runs of fused kernels, each one function, and primitives' own kernels between them.

The function that a graph becomes is straight-line Python that calls segments, views and primitives one after the other; of
a graph that is one segment it is a call of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm, threads
from .. import failures, log, verify
from ..graph import Equation, Graph, Variable, uniform
from ..passes import plan
from ..passes.decompose import decomposed
from ..passes.explain import explained
from ..passes.fuse import Group, Partition, partition
from . import entry, fences
from .expressions import expressible
from .kernel import Kernel

_KEPT = 1 << 22
"""Bytes of buffers that are kept from call to call."""

_RARE = ", label %far"
"""What a branch to what is rarely computed (functions.py) has in it: registers are kept for the other way."""

_RELEASED = 1 << 17
"""Steps of work from which on the interpreter's lock is released."""


def available() -> bool:
    """Whether graphs can become machine code here."""
    return llvm.available() and llvm.arrays_are_read()


class Segment:
    """Groups of equations that one function computes.

    takes: the bases that it reads, as contiguous arrays. gives: what it computes for others.
    """

    def __init__(self, groups: Sequence[Group], parts: Partition, constants: dict[Variable, Any], wanted: set[Variable]) -> None:
        needed = set(wanted)
        for g in groups:
            for e in g.equations:
                for v in e.inputs:
                    if v is not None and (base := parts.accesses[v].base) not in g.made:
                        needed.add(base)
        self.kernels = [
            Kernel(f"kernel{k}", g, parts.accesses, [v for v in g.made if v in needed], constants) for k, g in enumerate(groups)
        ]  # fmt: skip
        made = {v for g in groups for v in g.made}
        taken = [b for k in self.kernels for b in k.takes()]
        self.takes = [b for b in dict.fromkeys(taken) if b not in made]
        self.gives = [v for k in self.kernels for v in k.gives() if v in wanted]
        self.work = max(k.work for k in self.kernels)
        self._plan()
        self.direct = self.work < threads.WORTH and self.room <= entry.ROOM and entry.offered()
        """Whether the code is called without Python's help: it takes a few microseconds, by one thread."""

    def _plan(self) -> None:
        buffers: dict[Any, plan.Needed] = {}
        given = set(self.gives)
        for i, k in enumerate(self.kernels):
            for v in k.gives():
                if v not in given:
                    last = max([j for j, other in enumerate(self.kernels) if v in other.takes()], default=i)
                    buffers[v] = plan.Needed(v.size * v.dtype.itemsize, i, last)
            for e, size in k.partials().items():
                buffers[e] = plan.Needed(size, i, i)
        found, self.room = plan.offsets(buffers.values())
        self.offsets = dict(zip(buffers, found))
        self.slots = {key: k for k, key in enumerate([*self.gives, *self.takes, *buffers])}

    def text(self) -> str:
        """The module of its function, `segment(pool, arrays...)`: results, operands and the block of buffers."""
        declared: dict[str, None] = {}
        functions: list[list[str]] = []
        for k in self.kernels:
            code = llvm.Code()
            code._declared = declared
            mine = [*k.takes(), *k.gives(), *k.partials()]
            functions.append(k.text(code, {key: self.slots[key] for key in mine}))
        code = llvm.Code()
        code._declared = declared
        code.value(f"alloca [{len(self.slots)} x ptr], align 16", "%frame")
        arrays = [*self.gives, *self.takes]
        pointers: dict[Any, str] = {}
        for i, v in enumerate(arrays):
            pointers[v] = code.value(f"load ptr, ptr {code.at('i8', f'%a{i}', llvm.DATA)}")
        if self.room:
            begin = code.value(f"load ptr, ptr {code.at('i8', '%buffers', llvm.DATA)}")
            number = code.value(f"ptrtoint ptr {begin} to i64")
            number = code.value(f"and i64 {code.add(number, plan.ALIGNED - 1)}, {-plan.ALIGNED}")
            begin = code.value(f"inttoptr i64 {number} to ptr")
            pointers.update((key, code.at("i8", begin, at)) for key, at in self.offsets.items())
        for key, slot in self.slots.items():
            code.do(f"store ptr {pointers[key]}, ptr {code.at('ptr', '%frame', slot)}")
        for kernel in self.kernels:
            kernel.call(code)
            kernel.finish(code, pointers.__getitem__)
        code.do("ret void")
        listed = ["ptr %pool", *(f"ptr %a{i}" for i in range(len(arrays)))] + (["ptr %buffers"] if self.room else [])
        functions.append([f"define void @segment({', '.join(listed)}) #0 {{", *code.lines, "}"])
        if self.direct:
            functions.append(entry.text(llvm.Code(), self.takes, self.gives, self.room))
        lines = [f"{line}, !prof !0" if _RARE in line else line for f in functions for line in f]
        weights = '!0 = !{!"branch_weights", i32 1, i32 100000}'
        return "\n".join([*declared, *lines, "attributes #0 = { nounwind }", weights])

    def call(self) -> Callable[..., None]:
        """Its machine code: called with the pool, what it gives, what it takes, and a block of buffers if there is `room` for
        any."""
        count = len(self.gives) + len(self.takes) + (self.room > 0)
        make = ctypes.CFUNCTYPE if self.work >= _RELEASED else ctypes.PYFUNCTYPE
        return make(None, ctypes.c_void_p, *[ctypes.py_object] * count)(llvm.assembled("segment", self.text()))

    def function(self) -> Callable[..., Any]:
        """segment(operands...): the tuple of what it gives."""
        if verify.asked():
            room = self.room + plan.ALIGNED if self.room else 0
            return fences.function(self.call(), self.takes, self.gives, room, self.work, _in_order)
        if self.direct:
            return entry.function(llvm.assembled("entry", self.text()), self.takes, self.gives)
        lines = [f"def segment({', '.join(f'x{i}' for i in range(len(self.takes)))}):"]
        lines += [f"    if x{i}.flags.num & 257 != 257: x{i} = in_order(x{i})" for i in range(len(self.takes))]
        scope: dict[str, Any] = {
            "empty": np.empty, "in_order": _in_order, "call": self.call(), "pool": threads.pool, "kept": [], "work": self.work,
            "uint8": np.dtype(np.uint8),
        }  # fmt: skip
        for i, v in enumerate(self.gives):
            scope[f"t{i}"] = v.dtype
            lines.append(f"    y{i} = empty({v.shape!r}, t{i})")
        given = ["pool(work)" if self.work >= threads.WORTH else "0"]
        given += [f"y{i}" for i in range(len(self.gives))] + [f"x{i}" for i in range(len(self.takes))]
        if self.room:
            lines.append("    try: b = kept.pop()")
            lines.append(f"    except IndexError: b = empty({self.room + plan.ALIGNED}, uint8)")
            given.append("b")
        lines.append(f"    call({', '.join(given)})")
        if 0 < self.room <= _KEPT:
            lines.append("    kept.append(b)")
        lines.append(f"    return ({''.join(f'y{i}, ' for i in range(len(self.gives)))})")
        exec(compile("\n".join(lines), "<retrograde segment>", "exec"), scope)  # noqa: S102 - our own source
        found: Callable[..., Any] = scope["segment"]
        return found


def _in_order(x: np.ndarray) -> np.ndarray:
    """An array in C's order, aligned."""
    return np.require(x, requirements=["C", "A"])


class Emitted:
    """A graph's function, and its texts."""

    def __init__(self, graph: Graph) -> None:
        graph = decomposed(graph, expressible)
        self.names = graph.names()
        self.parts = parts = partition(graph, expressible)
        self.graph = graph
        constants = {v: a.flat[0].item() for v, a in graph.constants.items() if uniform(a)}
        blocks: list[list[Any]] = []
        for step in parts.steps:
            if isinstance(step, Group) and blocks and isinstance(blocks[-1][0], Group):
                blocks[-1].append(step)
            else:
                blocks.append([step])
        block_of = {v: k for k, block in enumerate(blocks) for g in block if isinstance(g, Group) for v in g.made}
        outside = self._wanted()  # what more than one block or Python takes
        for number, block in enumerate(blocks):
            for g in block:
                if isinstance(g, Group):
                    bases = {parts.accesses[v].base for e in g.equations for v in e.inputs if v is not None}
                    outside.update(b for b in bases if block_of.get(b) != number)
        self.pieces: list[Segment | Equation] = []
        for block in blocks:
            if isinstance(block[0], Group):
                segment = Segment(block, parts, constants, outside)
                if segment.gives:
                    self.pieces.append(segment)
            else:
                self.pieces.append(block[0])

    def text(self) -> str:
        """What is run, for reading: kernels with their equations, primitives that are called, and the code of the kernels."""
        name = self.names
        lines: list[str] = []
        for number, piece in enumerate(self.pieces):
            if isinstance(piece, Equation):
                lines.append(f"call {piece.prim.name} -> {', '.join(name[v] for v in piece.outputs)}")
                continue
            takes, gives = (", ".join(name[v] for v in some) for some in (piece.takes, piece.gives))
            lines.append(f"segment {number}: ({takes}) -> {gives}")
            for k in piece.kernels:
                phases = f", {k.last + 1} phases" if k.last else ""
                lines.append(f"  {k.name}: {k.rows} rows of {k.width}{phases}, {k.units} units of work")
                for e in k.group.equations:
                    given = ", ".join("none" if v is None else name[v] for v in e.inputs)
                    lines.append(f"    {name[e.outputs[0]]}: {e.outputs[0]!r} = {e.prim.name}({given})")
            lines += ["", piece.text(), ""]
        return "\n".join(lines)

    def _wanted(self) -> set[Variable]:
        """What Python sees: operands of primitives that are called, and outputs, with what they are views of."""
        found: set[Variable] = set()
        todo = [*self.graph.outputs, *(v for e in self.parts.steps if isinstance(e, Equation) for v in e.inputs if v is not None)]
        while todo:
            v = todo.pop()
            if v not in found:
                found.add(v)
                if v in self.parts.views:
                    todo += [x for x in self.parts.views[v].inputs if x is not None]
        return found

    def _roots(self, v: Variable) -> set[Variable]:
        """The bases whose memory a variable's array may lie in."""
        found: set[Variable] = set()
        todo = [self.parts.accesses[v].base]
        while todo:
            base = todo.pop()
            k = self.parts.home.get(base)
            e = None if k is None else self.parts.steps[k]
            if isinstance(e, Equation) and e.prim.kind == "structural":
                todo += [self.parts.accesses[x].base for x in e.inputs if x is not None]
            else:
                found.add(base)
        return found

    def function(self) -> Callable[..., Sequence[Any]]:
        """Of the inputs' arrays, the outputs' arrays."""
        graph, name = self.graph, self.names
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Segment):
            s = self.pieces[0]
            if s.takes == list(graph.inputs) and tuple(s.gives) == graph.outputs:
                return s.function()
        scope: dict[str, Any] = {"__name__": __name__}
        scope.update((name[v], a) for v, a in graph.constants.items())
        body: list[tuple[str, list[Variable], list[Variable]]] = []  # the line, what it takes, what it gives
        called: dict[int, Equation] = {}
        have = {*graph.inputs, *graph.constants}

        def view(v: Variable) -> None:
            if v in have:
                return
            e = self.parts.views[v]
            for x in e.inputs:
                assert x is not None
                view(x)
            call(e)

        def call(e: Equation) -> None:
            k = len(body)
            scope[f"op{k}"] = e.prim.op
            scope.update((f"p{k}_{key}", x) for key, x in e.params.items())
            given = ["None" if v is None else name[v] for v in e.inputs] + [f"{key}=p{k}_{key}" for key in e.params]
            targets = "".join(f"{name[v]}, " for v in e.outputs) if e.prim.multi else name[e.outputs[0]]
            called[k] = e
            body.append((f"{targets} = op{k}({', '.join(given)})", [v for v in e.inputs if v is not None], list(e.outputs)))
            have.update(e.outputs)

        for piece in self.pieces:
            if isinstance(piece, Segment):
                k = len(body)
                scope[f"s{k}"] = piece.function()
                targets = "".join(f"{name[v]}, " for v in piece.gives)
                body.append((f"{targets} = s{k}({', '.join(name[v] for v in piece.takes)})", piece.takes, piece.gives))
                have.update(piece.gives)
            else:
                for v in piece.inputs:
                    if v is not None:
                        view(v)
                call(piece)
        for v in graph.outputs:
            view(v)
        last: dict[Variable, int] = {}
        for i, (_, takes, gives) in enumerate(body):
            last.update((v, i) for v in (*takes, *gives))
        stay = {*graph.outputs, *graph.constants}
        lines = [f"def run({', '.join(name[v] for v in graph.inputs)}):"]
        equations: dict[int, Equation] = {}
        for i, (line, takes, gives) in enumerate(body):
            if i in called:
                equations[len(lines)] = called[i]
            lines.append(f"    {line}")
            gone = [name[v] for v in dict.fromkeys((*takes, *gives)) if last[v] == i and v not in stay]
            if gone:
                lines.append(f"    {' = '.join(gone)} = None")
        results, given = [], {*graph.inputs, *graph.constants}
        for v in graph.outputs:  # each has memory of its own
            roots = self._roots(v)
            copied = f"{name[v]}.copy()"
            if not roots.isdisjoint(given):
                sure = roots == {self.parts.accesses[v].base}
                results.append(copied if sure else f"({name[v]} if {name[v]}.flags.owndata else {copied})")
            else:
                results.append(name[v])
            given |= roots
        lines.append(f"    return ({''.join(f'{x}, ' for x in results)})")
        return failures.function(lines, scope, equations)


def emitted(graph: Graph) -> Callable[..., Sequence[Any]]:
    """The function of a graph."""
    found = Emitted(graph)
    log.tell("fusion", lambda: f"\n{explained(found.graph, found.parts, expressible)}")
    return found.function()
