"""The machine code of a `tiles` equation (passes/tiles.py): for a few rows after the other, kernels and products that take turns.

What they give each other lies on the stack, where the caches are. A unit of work is some tiles, one after the other, with sums
of their own of what is added up; the units' sums are added in an order that depends on shapes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...backend.jit import llvm, pointwise
from ...backend.jit.vectors import Part, Vectors
from ..graph import Equation, Variable, uniform
from ..passes import plan
from ..passes.fuse import Access, Group, partition
from ..passes.tiles import STACK, Tiles, matrices
from . import products
from .expressions import expressible
from .kernel import Kernel, mask, shared_out

_SHARES = 16
"""Units at most where something is added up."""
_SUMS = 1 << 18
"""Bytes of all units' sums from which on there are fewer units, and how many at least."""
_LEAST_SHARES = 4


class Product(NamedTuple):
    """A product in a tile. pack: the key of the second operand's place laid out anew, if it is. once: whether that is done
    before the first tile, for all of them."""

    form: products.Form
    equation: Equation
    out: Variable
    x: Variable
    y: Variable
    pack: Any
    once: bool


class TilesKernel:
    """The code of one `tiles` equation; to a segment what a `Kernel` is (kernel.py)."""

    def __init__(self, name: str, equation: Equation, accesses: dict[Variable, Access]) -> None:
        self.name, self.equation = name, equation
        self.tiles: Tiles = equation.params["tiles"]
        graph = self.tiles.graph
        self.bases = [accesses[v].base if accesses[v].plain else v for v in equation.inputs if v is not None]
        self.parts = parts = partition(graph, expressible)
        self.of_end = {v: k for k, (v, end) in enumerate(zip(graph.outputs, self.tiles.ends)) if end}
        constants = {v: a.flat[0].item() for v, a in graph.constants.items() if uniform(a)}
        needed = set(graph.outputs)
        for step in parts.steps:
            for e in [step] if isinstance(step, Equation) else step.equations:
                for v in e.inputs:
                    if v is not None and not (isinstance(step, Group) and parts.accesses[v].base in step.made):
                        needed.add(parts.accesses[v].base)
        self.steps: list[Kernel | Product] = []
        for k, step in enumerate(parts.steps):
            if isinstance(step, Group):
                self.steps.append(Kernel(f"{name}_{k}", step, parts.accesses, [v for v in step.made if v in needed], constants))
            else:
                self.steps.append(self._product(step))
        self._plan()
        self.work = self.tiles.count * sum(s.work if isinstance(s, Kernel) else s.form.work for s in self.steps)

    def _product(self, e: Equation) -> Product:
        sizes = matrices(e)
        assert sizes is not None
        (m, k, n), first, second = sizes
        given, strides = [], []
        for v, transposed in zip(e.inputs, (first, second)):
            assert v is not None
            access: Access | None = self.parts.accesses[v]
            if len(v.shape) > 2:
                access = self.parts.accesses[v].reshaped((v.size // v.shape[-1], v.shape[-1]))
            assert access is not None
            given.append(access.base)
            strides.append((access.strides[1], access.strides[0]) if transposed else (access.strides[0], access.strides[1]))
        kind = "float" if e.outputs[0].dtype.char == "f" else "double"
        form = products.Form(kind, m, k, n, strides[0], strides[1], add=e.outputs[0] in self.of_end)
        once = given[1] in self.tiles.graph.inputs and not self._piece(given[1])
        pack = ("pack", given[1], form.y, form.n, form.k) if form.packed else None
        return Product(form, e, e.outputs[0], given[0], given[1], (self, pack) if pack and once else pack, once)

    def _piece(self, v: Variable) -> bool:
        graph = self.tiles.graph
        return v in graph.inputs and self.tiles.sliced[graph.inputs.index(v)]

    def _plan(self) -> None:
        """What lies where: the room of a tile, and the sums of the units."""
        graph = self.tiles.graph
        outside = {*graph.outputs} - {v for v in self.of_end if not isinstance(self._giver(v), Product)}
        buffers: dict[Any, plan.Needed] = {}
        for i, step in enumerate(self.steps):
            gives = step.gives() if isinstance(step, Kernel) else [step.out]
            for v in gives:
                if v not in outside:
                    last = max([j for j, other in enumerate(self.steps) if v in _taken(other)], default=i)
                    buffers[v] = plan.Needed(v.size * v.dtype.itemsize, i, last)
            if isinstance(step, Kernel):
                for e, size in step.partials().items():
                    buffers[e] = plan.Needed(size, i, i)
            elif step.pack is not None and not step.once:
                before = buffers.get(step.pack)
                buffers[step.pack] = plan.Needed(step.form.packed, i if before is None else before.first, i)
        found, self.room = plan.offsets(buffers.values())
        self.offsets = dict(zip(buffers, found))
        self.wide = self.room > STACK
        """Whether a tile's room is a part of the segment's memory, one for each unit: it is too large for the stack."""
        keys = [*graph.inputs, *graph.outputs, *buffers]
        self.slots = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        self.sums = {v: (self, "sum", k) for v, k in self.of_end.items()}
        total = sum(self._bytes(v) for v in self.sums)
        shares = min(self.tiles.count, _SHARES) if self.sums else self.tiles.count
        while shares > _LEAST_SHARES and shares * total > _SUMS:
            shares = max(_LEAST_SHARES, shares // 2)
        self.units = shares

    def _giver(self, v: Variable) -> Kernel | Product:
        return self.steps[self.parts.home[v]]

    def _bytes(self, v: Variable) -> int:
        """Of a unit's sum: single numbers for products, double ones for what kernels have added up."""
        size = v.dtype.itemsize if isinstance(self._giver(v), Product) else 8
        return -(-v.size * size // plan.ALIGNED) * plan.ALIGNED

    # ---------------------------------------------------------------------------------------- what the frame holds

    def partials(self) -> dict[Any, int]:
        """The bytes of what else the segment keeps for it: the units' sums, and small matrices laid out anew."""
        found: dict[Any, int] = {key: self.units * self._bytes(v) for v, key in self.sums.items()}
        for step in self.steps:
            if isinstance(step, Product) and step.pack is not None and step.once:
                found[step.pack] = step.form.packed
        if self.wide:
            found[self, "room"] = self.units * self.room
        return found

    def takes(self) -> list[Variable]:
        """The bases that it reads from memory."""
        return list(dict.fromkeys(self.bases))

    def gives(self) -> list[Variable]:
        """What it writes."""
        return list(self.equation.outputs)

    # ---------------------------------------------------------------------------------------- the code

    def text(self, code: Any, slots: dict[Any, int], known: dict[str, list[str]]) -> list[str]:
        """The lines of the function `name(frame, first, last)`, that does some of the units, and of its kernels. known: the
        functions of products, by name, which those of other equations may take, too."""
        graph = self.tiles.graph
        self.outer = slots
        lines: list[str] = []
        for step in self.steps:
            inner = llvm.Code()
            inner._declared = code._declared
            if isinstance(step, Kernel):
                mine = [*step.takes(), *step.gives(), *step.partials()]
                lines += step.text(inner, {key: self.slots[key] for key in mine})
                continue
            if step.form.name not in known:
                known[step.form.name] = products.text(step.form, inner)
            if step.pack is not None and step.form.pack_name not in known:
                known[step.form.pack_name] = products.pack(step.form, llvm.Code())
        given = {key: code.value(f"load ptr, ptr {code.at('ptr', '%frame', k)}") for key, k in slots.items()}
        here = code.value(f"alloca [{len(self.slots)} x ptr], align 16")
        room = "" if self.wide else code.value(f"alloca [{max(self.room, 1)} x i8], align {plan.ALIGNED}")
        at: dict[Any, str] = {}
        for v, base, piece in zip(graph.inputs, self.bases, self.tiles.sliced):
            if not piece:
                at[v] = given[base]
                code.do(f"store ptr {at[v]}, ptr {code.at('ptr', here, self.slots[v])}")
        for step in self.steps:
            if isinstance(step, Product) and step.once and step.pack is not None:
                at[step.pack] = given[step.pack]

        def unit(u: str) -> None:
            begin = code.at("i8", given[self, "room"], code.mul(u, self.room)) if self.wide else room
            for key, offset in self.offsets.items():
                at[key] = code.at("i8", begin, offset)
                code.do(f"store ptr {at[key]}, ptr {code.at('ptr', here, self.slots[key])}")
            for v, key in self.sums.items():
                sums = code.at("i8", given[key], code.mul(u, self._bytes(v)))
                self._clear(code, sums, self._bytes(v))
                at[key] = sums
            first, last = (
                code.value(f"sdiv i64 {code.mul(k, self.tiles.count)}, {self.units}") for k in (u, code.add(u, 1))
            )  # fmt: skip
            code.loop(first, last, 1, tile)

        def tile(t: str) -> None:
            pieces = [(v, base) for v, base, piece in zip(graph.inputs, self.bases, self.tiles.sliced) if piece]
            pieces += [(v, out) for v, out in zip(graph.outputs, self.equation.outputs) if v not in self.of_end]
            now, laid = dict(at), set[Any]()
            for v, base in pieces:
                now[v] = code.at("i8", given[base], code.mul(t, v.size * v.dtype.itemsize))
                code.do(f"store ptr {now[v]}, ptr {code.at('ptr', here, self.slots[v])}")
            for step in self.steps:
                if isinstance(step, Kernel):
                    code.do(f"call void @{step.name}(ptr {here}, i64 0, i64 {step.units})")
                    step.finish(code, now.__getitem__)
                    for v in step.gives():
                        if v in self.of_end:
                            self._add(code, v, now[v], now[self.sums[v]])
                    continue
                y = now[step.y]
                if step.pack is not None:
                    if not step.once and step.pack not in laid:
                        laid.add(step.pack)
                        code.do(f"call void @{step.form.pack_name}(ptr {now[step.pack]}, ptr {y})")
                    y = now[step.pack]
                out = now[self.sums[step.out]] if step.out in self.of_end else now[step.out]
                code.do(f"call void @{step.form.name}(ptr {out}, ptr {now[step.x]}, ptr {y})")

        code.loop("%first", "%last", 1, unit)
        code.do("ret void")
        return [*lines, f"define internal void @{self.name}(ptr %frame, i64 %first, i64 %last) #0 {{", *code.lines, "}"]

    @staticmethod
    def _clear(code: Any, pointer: str, size: int) -> None:
        v = Vectors(code, plan.ALIGNED // 8, "double")
        code.loop(0, size // 8, v.lanes, lambda i: v.store(v.constant(0.0), pointer, i))

    @staticmethod
    def _add(code: Any, v: Variable, pointer: str, sums: str) -> None:
        """Add what a kernel has added up of a tile to the unit's sum."""
        def some(i: str, part: Part, lanes: int) -> None:
            number, double = Vectors(code, lanes, "float" if v.dtype.char == "f" else "double"), Vectors(code, lanes, "double")
            more = number.widened(part.load(number, pointer, i))
            part.store(double, double.add(part.load(double, sums, i), more), sums, i)

        _each(code, v.size, 8, some)

    def finish(self, code: Any, pointers: Callable[[Any], str]) -> None:
        """Add the units' sums up."""
        for v, key in self.sums.items():
            out, kind = self.equation.outputs[self.of_end[v]], "float" if v.dtype.char == "f" else "double"
            wide = "double" if not isinstance(self._giver(v), Product) else kind
            stride = self._bytes(v) // (8 if wide == "double" else 4)
            source, target = pointers(key), pointers(out)

            def some(
                i: str, part: Part, lanes: int, wide: str = wide, kind: str = kind, stride: int = stride, source: str = source,
                target: str = target,
            ) -> None:  # fmt: skip
                w, to = Vectors(code, lanes, wide), Vectors(code, lanes, kind)
                found = [part.load(w, source, code.add(i, u * stride)) for u in range(self.units)]
                while len(found) > 1:
                    found = [w.add(*found[k : k + 2]) if k + 1 < len(found) else found[k] for k in range(0, len(found), 2)]
                part.store(to, to.narrowed(found[0]) if wide == "double" else found[0], target, i)

            _each(code, v.size, pointwise.LANES // 2, some)

    def call(self, code: Any) -> None:
        """Lay out what all tiles take so, and do all units, by the pool's threads where there is a pool."""
        done = set()
        for step in self.steps:
            if isinstance(step, Product) and step.once and step.pack is not None and step.pack not in done:
                done.add(step.pack)
                base = self.bases[self.tiles.graph.inputs.index(step.y)]
                out, y = (code.value(f"load ptr, ptr {code.at('ptr', '%frame', self.outer[key])}") for key in (step.pack, base))
                code.do(f"call void @{step.form.pack_name}(ptr {out}, ptr {y})")
        shared_out(code, self.name, self.units, self.work)


def _taken(step: Kernel | Product) -> list[Variable]:
    return step.takes() if isinstance(step, Kernel) else [step.x, step.y]


def _each(code: Any, size: int, lanes: int, some: Callable[[str, Part, int], None]) -> None:
    """some(i, part, lanes) for all vectors of so many numbers."""
    lanes = min(lanes, size)
    whole = size - size % lanes
    code.loop(0, whole, lanes, lambda i: some(i, Part(), lanes))
    if size > whole:
        some(str(whole), Part(mask(size - whole, lanes)), lanes)
