"""A graph as machine code: runs of fused kernels, each one function, and primitives' own kernels between them.

The function that a graph becomes is straight-line Python that calls segments, views and primitives one after the other; of
a graph that is one segment it is a call of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend.jit import llvm
from .. import failures
from ..graph import Equation, Graph, Variable, uniform
from ..passes import plan
from ..passes.again import again
from ..passes.batches import PRODUCTS, batched
from ..passes.decompose import decomposed
from ..passes.explain import explained
from ..passes.fuse import Group, Partition, joins, partition
from ..passes.linear import spared
from ..passes.tiles import TILES, tiled, transposes_within, vectors_apart
from . import registers
from .batches import BatchKernel
from .expressions import expressible
from .joins import JoinKernel
from .kernel import Kernel
from .program import Program, Routine
from .program import available as available
from .tiles import Product, TilesKernel

_RARE = ", label %far"
"""What a branch to what is rarely computed (functions.py) has in it: registers are kept for the other way."""


def _has_code(step: Any) -> bool:
    """Whether a step is a part of a segment, or one by itself; else it is a primitive that Python calls, but for `joins` beside
    such steps."""
    return isinstance(step, Group) or step.prim in (TILES, PRODUCTS)


def _fits(step: Any) -> bool:
    """Whether a step may be a part of a segment."""
    return _has_code(step) or joins(step)


class Segment:
    """Groups of equations, `tiles` and `products` equations, and arrays put side by side, that one function computes.

    takes: the bases that it reads, as contiguous arrays. gives: what it computes for others.
    """

    def __init__(
        self, steps: Sequence[Group | Equation], parts: Partition, constants: dict[Variable, Any], wanted: set[Variable],
    ) -> None:  # fmt: skip
        needed = set(wanted)
        for step in steps:
            for e in step.equations if isinstance(step, Group) else [step]:
                for v in e.inputs:
                    if v is not None and not (isinstance(step, Group) and parts.accesses[v].base in step.made):
                        needed.add(parts.accesses[v].base)
        self.kernels: list[Kernel | TilesKernel | BatchKernel | JoinKernel] = []
        for k, step in enumerate(steps):
            if isinstance(step, Group):
                stored = [v for v in step.made if v in needed]
                self.kernels.append(Kernel(f"kernel{k}", step, parts.accesses, stored, constants))
            else:
                made_by = TilesKernel if step.prim is TILES else BatchKernel if step.prim is PRODUCTS else JoinKernel
                self.kernels.append(made_by(f"kernel{k}", step, parts.accesses))
        made = {v for step in steps for v in (step.made if isinstance(step, Group) else step.outputs)}
        taken = [b for k in self.kernels for b in k.takes()]
        self.takes = [b for b in dict.fromkeys(taken) if b not in made]
        self.gives = [v for k in self.kernels for v in k.gives() if v in wanted]
        self.work = max(k.work for k in self.kernels)
        self._plan()

    def _plan(self) -> None:
        buffers: dict[Any, plan.Needed] = {}
        given = set(self.gives)
        last = {v: i for i, k in enumerate(self.kernels) for v in k.takes()}
        for i, k in enumerate(self.kernels):
            for v in k.gives():
                if v not in given:
                    buffers[v] = plan.Needed(v.size * v.dtype.itemsize, i, last.get(v, i))
            for e, size in k.partials().items():
                buffers[e] = plan.Needed(size, i, i)
        found, self.room = plan.offsets(buffers.values())
        self.offsets = dict(zip(buffers, found))
        self.slots = {key: k for k, key in enumerate([*self.gives, *self.takes, *buffers])}

    def text(self) -> str:
        """The module of its function, `segment(pool, arrays, buffers)`: where the numbers of results and operands stand, and the
        block of buffers."""
        declared: dict[str, None] = {}
        functions: list[list[str]] = []
        products: dict[str, list[str]] = {}
        for k in self.kernels:
            code = llvm.Code()
            code._declared = declared
            mine = {key: self.slots[key] for key in (*k.takes(), *k.gives(), *k.partials())}
            functions.append(k.text(code, mine) if isinstance(k, Kernel) else k.text(code, mine, products))
        functions += products.values()
        code = llvm.Code()
        code._declared = declared
        code.value(f"alloca [{len(self.slots)} x ptr], align 16", "%frame")
        arrays = [*self.gives, *self.takes]
        pointers: dict[Any, str] = {}
        for i, v in enumerate(arrays):
            pointers[v] = code.value(f"load ptr, ptr {code.at('ptr', '%arrays', i)}")
        if self.room:
            number = code.value("ptrtoint ptr %buffers to i64")
            number = code.value(f"and i64 {code.add(number, plan.ALIGNED - 1)}, {-plan.ALIGNED}")
            begin = code.value(f"inttoptr i64 {number} to ptr")
            pointers.update((key, code.at("i8", begin, at)) for key, at in self.offsets.items())
        for key, slot in self.slots.items():
            code.do(f"store ptr {pointers[key]}, ptr {code.at('ptr', '%frame', slot)}")
        for kernel in self.kernels:
            kernel.call(code)
            kernel.finish(code, pointers.__getitem__)
        code.do("ret void")
        functions.append(["define void @segment(ptr %pool, ptr %arrays, ptr %buffers) #0 {", *code.lines, "}"])
        lines = [f"{line}, !prof !0" if _RARE in line else line for f in functions for line in f]
        weights = '!0 = !{!"branch_weights", i32 1, i32 100000}'
        return "\n".join([*declared, *lines, "attributes #0 = { nounwind }", weights])

    def routine(self) -> Routine:
        """Its machine code, for a program."""
        text = self.text()
        return Routine(self.takes, self.gives, self.room, self.work, llvm.key(text), text)


class Emitted:
    """A graph's function, and its texts."""

    def __init__(self, graph: Graph) -> None:
        graph = vectors_apart(transposes_within(batched(decomposed(graph, expressible))))
        graph = again(tiled(spared(graph), expressible), expressible)
        self.names = graph.names()
        self.parts = parts = partition(graph, expressible)
        self.graph = graph
        constants = {v: a.flat[0].item() for v, a in graph.constants.items() if uniform(a)}
        blocks: list[list[Any]] = []
        for step in parts.steps:
            if blocks and _fits(blocks[-1][0]) and _fits(step) and not self._views_taken(step):
                blocks[-1].append(step)
            else:
                blocks.append([step])
        blocks = [b for block in blocks for b in ([block] if any(map(_has_code, block)) else [[step] for step in block])]
        self.called = {block[0] for block in blocks if not any(map(_has_code, block))}
        """The equations that are no part of a segment."""
        block_of: dict[Variable, int] = {}
        for k, block in enumerate(blocks):
            for step in block:
                if step not in self.called:
                    block_of.update((v, k) for v in (step.made if isinstance(step, Group) else step.outputs))
        outside = self._wanted()  # what more than one block or Python takes
        for number, block in enumerate(blocks):
            for step in block:
                if step not in self.called:
                    equations = step.equations if isinstance(step, Group) else [step]
                    bases = {parts.accesses[v].base for e in equations for v in e.inputs if v is not None}
                    outside.update(b for b in bases if block_of.get(b) != number)
        self.pieces: list[Segment | Equation] = []
        for block in blocks:
            if block[0] not in self.called:
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
                if piece.prim.kind == "control" and (source := registers.source(piece)) is not None:
                    lines += ["", source, ""]
                continue
            takes, gives = (", ".join(name[v] for v in some) for some in (piece.takes, piece.gives))
            lines.append(f"segment {number}: ({takes}) -> {gives}")
            for k in piece.kernels:
                if isinstance(k, Kernel):
                    lines += [f"  {line}" for line in _described(k, name)]
                    continue
                if isinstance(k, (BatchKernel, JoinKernel)):
                    lines.append(f"  {k.described()}")
                    continue
                inner = k.tiles.graph.names()
                lines.append(f"  {k.name}: {k.tiles.count} tiles, {k.units} units of work, {k.room} bytes for a tile")
                takes, gives = (", ".join(name[v] for v in some if v) for some in (k.equation.inputs, k.equation.outputs))
                lines.append(f"    ({takes}) -> {gives}; of a tile:")
                for step in k.steps:
                    if isinstance(step, Product):
                        e, f = step.equation, step.form
                        given = ", ".join(inner[v] for v in e.inputs if v is not None)
                        kept = "added to " if f.add else ""
                        lines.append(f"    {kept}{inner[step.out]}: {step.out!r} = {e.prim.name}({given}), {f.m} x {f.k} x {f.n}")
                    else:
                        lines += [f"    {line}" for line in _described(step, inner)]
            lines += ["", piece.text(), ""]
        return "\n".join(lines)

    def _views_taken(self, step: Any) -> bool:
        """Whether an equation with its own code takes a view whose elements lie in another order, which Python lays out first."""
        if isinstance(step, Group):
            return False
        return any(v is not None and not self.parts.accesses[v].plain for v in step.inputs)

    def _wanted(self) -> set[Variable]:
        """What Python sees: operands of primitives that are called, and outputs, with what they are views of."""
        found: set[Variable] = set()
        todo = list(self.graph.outputs)
        for e in self.parts.steps:
            if isinstance(e, Equation) and (e in self.called or self._views_taken(e)):
                todo += [v for v in e.inputs if v is not None]
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

    def program(self) -> Program:
        """What gives, of the inputs' arrays, the outputs' arrays."""
        graph, name = self.graph, self.names
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Segment):
            s = self.pieces[0]
            if s.takes == list(graph.inputs) and tuple(s.gives) == graph.outputs:
                return Program(None, {}, {}, {0: s.routine()})
        calls: dict[int, Equation] = {}
        routines: dict[int, Routine] = {}
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
            calls[k] = e
            given = ["None" if v is None else name[v] for v in e.inputs] + [f"{key}=p{k}_{key}" for key in e.params]
            targets = "".join(f"{name[v]}, " for v in e.outputs) if e.prim.multi else name[e.outputs[0]]
            called[k] = e
            body.append((f"{targets} = op{k}({', '.join(given)})", [v for v in e.inputs if v is not None], list(e.outputs)))
            have.update(e.outputs)

        for piece in self.pieces:
            if isinstance(piece, Segment):
                for base in piece.takes:
                    view(base)
                k = len(body)
                routines[k] = piece.routine()
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
            gone = [name[v] for v in dict.fromkeys((*takes, *gives)) if last[v] == i and v not in stay]
            lines.append(f"    {line}; {' = '.join(gone)} = None" if gone else f"    {line}")
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
        used = {v for _, takes, _ in body for v in takes} | set(graph.outputs)
        return Program(failures.code(lines), {name[v]: a for v, a in graph.constants.items() if v in used}, calls, routines)


def program(graph: Graph) -> Program:
    """What a graph becomes."""
    return Emitted(graph).program()


def explanation(graph: Graph) -> str:
    """What of a graph is computed together, and why groups end where they do."""
    found = Emitted(graph)
    return explained(found.graph, found.parts, expressible)


def _described(k: Kernel, name: dict[Variable, str]) -> list[str]:
    """A kernel with its equations, for reading."""
    phases = f", {k.last + 1} phases" if k.last else ""
    lines = [f"{k.name}: {k.rows} rows of {k.width}{phases}, {k.units} units of work"]
    for e in k.group.equations:
        given = ", ".join("none" if v is None else name[v] for v in e.inputs)
        lines.append(f"  {name[e.outputs[0]]}: {e.outputs[0]!r} = {e.prim.name}({given})")
    return lines


def emitted(graph: Graph) -> Callable[..., Sequence[Any]]:
    """The function of a graph."""
    return program(graph).function()
