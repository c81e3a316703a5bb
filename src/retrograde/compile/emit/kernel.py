"""The machine code of a group of equations: loops over rows, and over the elements of a row once for each of its phases.

A phase computes what needs no more than the sums and extremes along the row that earlier phases have found. What a later phase
takes of an earlier one is computed again where that is cheap, and kept beside the row in the cache where it is not. Sums are
added in blocks that depend on the shape alone, each lane for itself and the blocks in double precision.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm, pointwise, reductions, threads
from ...backend.jit.vectors import LANES, SUMMED, Part, Vectors
from ...core.expression import Expr
from ..graph import Equation, Variable
from ..passes.fuse import Access, Group, Place, Reduced
from .expressions import expression

BLOCK = pointwise.BLOCK
_BLOCKS = 64
"""Units at most that the rows of a group with sums down the columns are divided into: each has a row of totals."""
_ROWS = 32
"""Rows whose columns are added up before their sums go on in double precision."""
_CHEAP = 6
"""Steps of work up to which a value is computed again in a later phase."""
_KEPT = 8
"""Values at most that are kept beside a row, on the stack: 256 KiB."""


class Kernel:
    """The code of one group.

    stored: its values that are written to memory. slots: where in the frame the address of each array stands, by base; those of
    the partial results of reductions by their equations. constants: the number of each base that is uniform.
    """

    def __init__(
        self, name: str, group: Group, accesses: dict[Variable, Access], stored: Iterable[Variable],
        constants: dict[Variable, Any],
    ) -> None:  # fmt: skip
        self.name, self.group, self.accesses, self.constants = name, group, accesses, constants
        made = {v for e in group.equations for v in e.outputs}
        self.stored = [v for v in stored if v in made and group.made[v] != "end"]
        self.width = group.width or group.size
        self.rows = group.size // self.width
        self.by = {e.outputs[0]: e for e in group.equations}
        self._phases()
        self.several = self.last > 0 or any(r.over == "rows" for r in group.reductions.values())
        self.columns = 1 if self.several else -(-self.width // BLOCK)
        self.together = max(1, BLOCK // self.width)
        if any(r.over == "columns" for r in group.reductions.values()):
            blocks = max(1, _BLOCKS // self.columns)
            self.together = max(self.together, _ROWS, -(-self.rows // blocks))
        self.blocks = -(-self.rows // self.together)
        self.units = self.blocks * self.columns
        self.lanes = self._lanes()
        self._plan()
        self.work = group.size * sum(self._cost(e) for e in group.equations)

    # ---------------------------------------------------------------------------------------- plans

    def _phases(self) -> None:
        self.phase: dict[Variable, int] = {}
        self.ends: dict[Equation, int] = {}  # the phase that each reduction is computed in
        for e in self.group.equations:
            bases = [self.accesses[v].base for v in e.inputs if v is not None]
            now = max([self.phase[b] for b in bases if b in self.phase], default=0)
            how = self.group.reductions.get(e)
            if how is not None:
                self.ends[e] = now
                now += self.group.made[e.outputs[0]] == "rows"
            self.phase[e.outputs[0]] = now
        self.last = max([*self.ends.values(), *(self.phase[v] for v in self.stored if self.group.made[v] == "all")], default=0)

    def _lanes(self) -> int:
        """Of the vectors: as many as a short row has elements, or a power of 2 where extremes are found by halves."""
        wide = {v.dtype for e in self.group.equations for v in (*e.inputs, *e.outputs) if v is not None}
        inner = {x.dtype for e in self.group.equations if e not in self.group.reductions for x in _nodes(expression(e))}
        lanes = LANES // 2 if any(d.itemsize == 8 for d in wide | inner) else LANES
        processor = llvm.processor()
        if processor is not None and processor.register == 64:
            lanes *= 2  # two registers: one's instructions fill the other's waiting
        extremes = any(r.how != "sum" for r in self.group.reductions.values())
        width = self.width
        return min(lanes, 1 << (width - 1).bit_length() if extremes else width)

    def _cost(self, e: Equation) -> int:
        found, by = expression(e), self.group.places.get((e, 1))
        if found is not None and found.name == "divide" and by is not None and by.kind in ("rows", "one"):
            return 2  # by products
        return 1 if found is None else sum(pointwise._COSTS.get(x.name, 1) for x in _nodes(found)) or 1

    def _plan(self) -> None:
        """For each phase what it computes: reductions, values that are stored, values that are kept for later ones."""
        roots: list[list[Variable]] = [[] for _ in range(self.last + 1)]
        for e, p in self.ends.items():
            roots[p].append(self.accesses[e.inputs[0]].base)  # type: ignore[index]
        for v in self.stored:
            if self.group.made[v] == "all":
                roots[self.phase[v]].append(v)
        later: set[Variable] = set()  # what a later phase than its own takes, were nothing kept
        for p, wanted in enumerate(roots):
            later.update(v for v in self._within(wanted, p, set()) if self.phase[v] < p)
        chosen: set[Variable] = set()
        for v in self.by:  # the first ones first: what is made of a kept value is cheap
            if v in later and len(chosen) < _KEPT and self._dear(v, chosen):
                chosen.add(v)
        self.again: set[Variable] = set()  # read by a later phase, from a buffer or where it is stored
        for p in range(self.last, -1, -1):
            read = [v for v in self._within(roots[p], p, chosen) if v in chosen and self.phase[v] < p and v not in self.again]
            self.again.update(read)
            for v in read:
                roots[self.phase[v]].append(v)
        self.kept = [v for v in self.by if v in self.again and v not in self.stored]  # in buffers beside the row

    def _within(self, roots: Sequence[Variable], p: int, again: set[Variable]) -> list[Variable]:
        """The group's values of all elements that a phase takes for its roots, the last ones first."""
        found: dict[Variable, None] = {}
        todo = list(roots)
        while todo:
            v = todo.pop()
            e = self.by.get(v)
            if e is None or v in found or self.group.made[v] != "all":
                continue
            found[v] = None
            if not (v in again and self.phase[v] < p):
                todo += [self.accesses[x].base for x in e.inputs if x is not None]
        order = {e.outputs[0]: k for k, e in enumerate(self.group.equations)}
        return sorted(found, key=order.__getitem__, reverse=True)

    def _dear(self, v: Variable, again: set[Variable]) -> bool:
        """Whether it is better kept than computed again. A truth is computed again with the comparison, and buffers beside a row
        are of floating-point numbers."""
        if v.dtype.kind in "biu":
            return False
        total, seen, todo = 0, set[Variable](), [v]
        while todo and total <= _CHEAP:
            x = todo.pop()
            if x in seen or self.group.made.get(x) not in ("all", None):
                continue
            seen.add(x)
            e = self.by.get(x)
            if e is None or (x in again and x is not v):
                total += x not in self.constants
            else:
                total += self._cost(e)
                todo += [self.accesses[y].base for y in e.inputs if y is not None]
        return total > _CHEAP

    # ---------------------------------------------------------------------------------------- what the frame holds

    def partials(self) -> dict[Equation, int]:
        """The bytes of the partial results of each reduction that ends with the kernel."""
        return {
            e: 8 * (self.blocks * self.width if r.over == "columns" else self.units * (self.rows if r.over == "rows" else 1))
            for e, r in self.group.reductions.items() if self.group.made[e.outputs[0]] == "end" and r.over != "rows"
        }  # fmt: skip

    def takes(self) -> list[Variable]:
        """The bases that it reads from memory."""
        bases = [self.accesses[v].base for e in self.group.equations for v in e.inputs if v is not None]
        return [b for b in dict.fromkeys(bases) if b not in self.group.made and b not in self.constants]

    def gives(self) -> list[Variable]:
        """What it writes."""
        return [*self.stored, *(e.outputs[0] for e in self.ends if self.group.made[e.outputs[0]] == "end")]

    # ---------------------------------------------------------------------------------------- the code

    def text(self, code: Any, slots: dict[Any, int]) -> list[str]:
        """The lines of the function `name(frame, first, last)`, that does some of the units."""
        self.code, self.slots = code, slots
        self.v = {"float": Vectors(code, self.lanes), "double": Vectors(code, self.lanes, "double")}
        self.double = self.v["double"]
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        self._pointers = {key: self._pointer(k) for key, k in slots.items()}
        self._allocate()
        self.numbers: dict[tuple[Variable, Place], int] = {}
        self.operands: list[tuple[Variable, Place]] = []
        self.programs = [self._program(p) for p in range(self.last + 1)]
        self.row_programs = [self._row_program(p) for p in range(max(self.phase.values(), default=0) + 1)]
        self._ones: dict[tuple[Variable, Place], str] = {}
        for base, at in self.numbers:
            if at.kind in ("one", "scale one"):
                self._ones[base, at._replace(kind="one")] = self._one(base)
        code.loop("%first", "%last", 1, self._unit)
        code.do("ret void")
        head = f"define internal void @{self.name}(ptr %frame, i64 %first, i64 %last) #0 {{"
        return [head, *code.lines, "}"]

    def _pointer(self, k: int) -> str:
        return str(self.code.value(f"load ptr, ptr {self.code.at('ptr', '%frame', k)}"))

    def _allocate(self) -> None:
        def room(v: Vectors, n: int) -> str:
            return str(self.code.value(f"alloca {v.type}, i64 {-(-n // self.lanes)}, align 64"))

        extent = self.width if self.columns == 1 else BLOCK
        self.buffers = {x: room(self.v[self._number(x.dtype)], extent) for x in self.kept}
        self.totals: dict[Equation, list[str]] = {}
        for e, r in self.group.reductions.items():
            x = self.v[self._number(e.outputs[0].dtype)]
            if r.over == "columns":
                self.totals[e] = [room(x, extent)]
            elif r.over == "all":
                self.totals[e] = [room(self.double, 1)] if r.how == "sum" else [room(x, 1), room(x, 1)]

    def _number(self, dtype: np.dtype) -> str:
        return "double" if pointwise._type_of(dtype) == "d" else "float"

    def _emitter(self, program: Any) -> pointwise._Emitter:
        e = pointwise._Emitter(self.code, program, self.lanes)
        e.scalars = [(e.single.constant(x), e.double.constant(x)) for x in program.constants]
        return e

    def _operand(self, base: Variable, at: Place) -> Expr:
        k = self.numbers.setdefault((base, at), len(self.numbers))
        if k == len(self.operands):
            self.operands.append((base, at))
        return Expr("operand", (k,), base.dtype)

    def _expr(self, v: Variable, at: Place, p: int, known: dict[Variable, Expr]) -> Expr:
        base = self.accesses[v].base
        if base in known:
            return known[base]
        return self._operand(base, at)

    def _program(self, p: int) -> tuple[Any, dict[Any, int]]:
        """The program of a phase, and the step of each of its results: reductions by equation, values by variable."""
        wanted: dict[Any, Variable] = {e: self.accesses[e.inputs[0]].base for e, at in self.ends.items() if at == p}  # type: ignore[index]
        wanted.update((v, v) for v in self.stored if self.group.made[v] == "all" and self.phase[v] == p)
        wanted.update((v, v) for v in self.kept if self.phase[v] == p)
        known: dict[Variable, Expr] = {}
        for v in reversed(self._within(list(wanted.values()), p, self.again)):
            e = self.by[v]
            if v in self.again and self.phase[v] < p:
                known[v] = self._operand(v, Place("kept" if v in self.buffers else "all"))
            else:
                known[v] = self._computed(e, p, known)
        outputs = {
            key: self._expr(v, self.group.places[key, 0], p, known) if isinstance(key, Equation) else known[v]
            for key, v in wanted.items()
        }  # fmt: skip
        program = pointwise._Program([*known.values(), *outputs.values()])
        return program, dict(zip(outputs, program.outputs[len(known) :]))

    def _computed(self, e: Equation, p: int, known: dict[Variable, Expr]) -> Expr:
        found = expression(e)
        assert found is not None
        given = [None if v is None else self._expr(v, self.group.places[e, i], p, known) for i, v in enumerate(e.inputs)]
        return self._multiplied(_substituted(found, given))

    def _multiplied(self, x: Expr) -> Expr:
        """An expression with products in place of divisions by what is the same for a whole row.

        x / s is (x a) (1 / (s a)), where a is a power of 2 for which the reciprocal neither overflows nor loses digits: off by
        1.5 units in the last place, and right for zeros, infinities, nan and subnormal numbers.
        """
        if self.width < 4 * self.lanes or x.name != "divide" or x.dtype.char not in "fd":
            return x
        top, s = x.args
        if not isinstance(top, Expr) or not isinstance(s, Expr) or s.name != "operand" or s.dtype != x.dtype:
            return x
        base, at = self.operands[s.args[0]]
        if at.kind not in ("rows", "one") and not (at.kind == "part" and not at.inner):
            return x
        scale, inverse = (self._operand(base, at._replace(kind=f"{what} {at.kind}")) for what in ("scale", "inverse"))
        return Expr("multiply", (Expr("multiply", (top, scale), x.dtype), inverse), x.dtype)

    def _row_program(self, p: int) -> tuple[Any, dict[Variable, int]]:
        """The program of what is one number for each row, of a phase."""
        known: dict[Variable, Expr] = {}
        for e in self.group.equations:
            v = e.outputs[0]
            if self.group.made[v] == "rows" and e not in self.group.reductions and self.phase[v] == p:
                known[v] = self._computed_of_row(e, known)
        program = pointwise._Program(list(known.values()))
        return program, dict(zip(known, program.outputs))

    def _computed_of_row(self, e: Equation, known: dict[Variable, Expr]) -> Expr:
        found = expression(e)
        assert found is not None
        given: list[Expr | None] = []
        for i, v in enumerate(e.inputs):
            base = None if v is None else self.accesses[v].base
            if base is None:
                given.append(None)
            elif base in known:
                given.append(known[base])
            else:
                at = self.group.places[e, i]
                given.append(self._operand(base, Place("rows") if at.kind == "all" else at))
        return _substituted(found, given)

    def _one(self, base: Variable) -> str:
        """The one number of a base, in every lane, as it is computed with."""
        kind = pointwise._type_of(base.dtype)
        e = self._emitter(pointwise._Program([]))
        if base in self.constants:
            x = self.constants[base]
            if kind == "?":
                return "<" + ", ".join([f"i1 {'true' if x else 'false'}"] * self.lanes) + ">"
            return e.stored[kind].constant(x) if kind in pointwise._INTEGERS else e.vectors(kind).constant(float(x))
        return self._spread(e, kind, self._pointers[base], "0")

    def _spread(self, e: pointwise._Emitter, kind: str, pointer: str, index: str) -> str:
        number = e.stored[kind].number
        raw = self.code.value(f"load {number}, ptr {self.code.at(number, pointer, index)}")
        return e.read(kind, self.code.spread(self.lanes, number, raw))

    # ---------------------------------------------------------------------------------------- units, rows

    def _unit(self, u: str) -> None:
        code = self.code
        self.chunk = "0"
        block, self.n = u, str(self.width)
        if self.columns > 1:
            block = code.value(f"sdiv i64 {u}, {self.columns}") if self.blocks > 1 else "0"
            column = u if self.blocks == 1 else code.value(f"srem i64 {u}, {self.columns}")
            self.chunk = code.mul(column, BLOCK)
            self.n = str(BLOCK)
            if self.width % BLOCK:
                self.n = code.least(code.value(f"sub i64 {self.width}, {self.chunk}"), BLOCK)
        for e, places in self.totals.items():
            self._begin(e, places, block)
        if self.rows == 1:
            self._block_of_rows("0", "1")
        else:
            first = code.mul(block, self.together)
            last = code.add(first, self.together)
            if self.rows % self.together:
                last = code.least(last, self.rows)
            if any(r.over == "columns" for r in self.group.reductions.values()):
                code.loop(first, last, _ROWS, lambda r: self._block_of_rows(r, code.least(code.add(r, _ROWS), last)))
            else:
                self._block_of_rows(first, last)
        for e, places in self.totals.items():
            self._end(e, places, u)

    def _partial(self, e: Equation, block: str) -> str:
        start = self.code.add(self.code.mul(block, self.width), self.chunk)
        return str(self.code.at("double", self._pointers[e], start))

    def _begin(self, e: Equation, places: Sequence[str], block: str) -> None:
        r, v = self.group.reductions[e], self.v[self._number(e.outputs[0].dtype)]
        if r.over == "columns":
            self.partial = getattr(self, "partial", {})
            self.partial[e] = self._partial(e, block)
            first = self.double.constant(reductions._FIRST[r.how])
            self._span(self.n, lambda i, part: part.store(self.double, first, self.partial[e], i))
        elif r.how == "sum":
            self.double.store(self.double.constant(0.0), places[0])
        else:
            v.store(v.constant(reductions._FIRST[r.how]), places[0])
            v.store(v.constant(-0.0), places[1])

    def _end(self, e: Equation, places: Sequence[str], u: str) -> None:
        r, code = self.group.reductions[e], self.code
        if r.over == "columns":
            return
        if r.how == "sum":
            found = self.double.sum(self.double.load(places[0], align=64))
        else:
            v = self.v[self._number(e.outputs[0].dtype)]
            found = reductions._of_lanes(v, r.how, v.load(places[0]), v.load(places[1]))
            if v.number == "float":
                found = code.value(f"fpext float {found} to double")
        code.do(f"store double {found}, ptr {code.at('double', self._pointers[e], u)}")

    def _block_of_rows(self, first: str, last: str) -> None:
        code = self.code
        columns = [e for e, r in self.group.reductions.items() if r.over == "columns"]
        for e in columns:
            v, buffer = self.v[self._number(e.outputs[0].dtype)], self.totals[e][0]
            first_of = reductions._FIRST[self.group.reductions[e].how]
            self._span(self.n, lambda i, part, v=v, buffer=buffer, x=first_of: v.store(v.constant(x), buffer, i))
        if self.rows == 1:
            self._row("0")
        else:
            code.loop(first, last, 1, self._row)
        for e in columns:
            self._span(self.n, functools.partial(self._flush, e))

    def _flush(self, e: Equation, i: str, part: Part) -> None:
        """Put what some rows give for the columns from i on to what the unit has found."""
        v, how = self.v[self._number(e.outputs[0].dtype)], self.group.reductions[e].how
        more = v.widened(v.load(self.totals[e][0], i))
        found = _joined(self.double, how, more, part.load(self.double, self.partial[e], i))
        part.store(self.double, found, self.partial[e], i)

    def _row(self, r: str) -> None:
        code = self.code
        self.r = r
        begin = self.chunk
        if r != "0":
            begin = code.mul(r, self.width)
            if self.chunk != "0":
                begin = code.add(begin, self.chunk)
        self.at_row: dict[tuple[Variable, Place], tuple[str, str]] = {}  # the pointer that goes with the row, or the value
        self.row_values: dict[Variable, str] = {}
        self.inverses: dict[tuple[Variable, Place], tuple[str, str]] = {}
        plain = self._emitter(pointwise._Program([]))
        for base, at in self.numbers:
            if at.kind == "one" or " " in at.kind:
                continue
            kind = pointwise._type_of(base.dtype)
            number = plain.stored[kind].number
            if at.kind == "all":
                self.at_row[base, at] = "pointer", code.at(number, self._pointers[base], begin)
            elif at.kind == "kept":
                self.at_row[base, at] = "kept", self.buffers[base]
            elif at.kind == "rows" and base not in self.group.made:
                self.at_row[base, at] = "value", self._spread(plain, kind, self._pointers[base], r)
            elif at.kind == "part":
                offset = self._offset(at.outer, r)
                if at.inner:
                    offset = code.add(offset, self.chunk) if self.chunk != "0" else offset
                    self.at_row[base, at] = "pointer", code.at(number, self._pointers[base], offset)
                else:
                    self.at_row[base, at] = "value", self._spread(plain, kind, self._pointers[base], offset)
        for p in range(max(self.last + 1, len(self.row_programs))):
            if p < len(self.row_programs):
                self._of_row(p)
            if p <= self.last:
                self._phase(p, begin)
        for v in self.stored:
            if self.group.made[v] == "rows":
                kind = pointwise._type_of(v.dtype)
                words = plain.stored[kind]
                one = code.value(f"extractelement {words.type} {plain.written(kind, self.row_values[v])}, i64 0")
                code.do(f"store {words.number} {one}, ptr {code.at(words.number, self._pointers[v], r)}")

    def _offset(self, outer: Sequence[tuple[int, int]], r: str) -> str:
        """Where row r of an operand begins."""
        code, total, left = self.code, "0", r
        for k in range(len(outer) - 1, -1, -1):
            n, stride = outer[k]
            here = left
            if k:
                here, left = code.value(f"srem i64 {left}, {n}"), code.value(f"sdiv i64 {left}, {n}")
            if stride:
                total = code.add(total, code.mul(here, stride))
        return total

    def _given(self, program: Any, i: str | None, part: Part | None, e: pointwise._Emitter) -> dict[int, str]:
        """The operands of a program, for the elements from i on."""
        found = {}
        for k in program.operands:
            base, at = self.operands[k]
            kind = pointwise._type_of(base.dtype)
            if " " in at.kind:
                what, _, where = at.kind.partition(" ")
                found[k] = self._inverse(base, at._replace(kind=where), e.vectors(kind))[what == "inverse"]
            elif (base, at) in self._ones:
                found[k] = self._ones[base, at]
            elif base in self.row_values:
                found[k] = self.row_values[base]
            else:
                what, x = self.at_row[base, at]
                if what == "value":
                    found[k] = x
                elif what == "kept":
                    assert i is not None
                    found[k] = e.vectors(kind).load(x, i)
                else:
                    assert i is not None
                    assert part is not None
                    found[k] = e.read(kind, part.load(e.stored[kind], x, i))
        return found

    def _inverse(self, base: Variable, at: Place, v: Vectors) -> tuple[str, str]:
        """The factors that stand for the division by a row's number: found before the loop over the row."""
        known = self.inverses.get((base, at))
        if known is None:
            if (base, at) in self._ones:
                s = self._ones[base, at]
            else:
                s = self.row_values[base] if base in self.row_values else self.at_row[base, at][1]
            size, far = v.call("fabs", s), 2.0 ** (64 if v.number == "float" else 512)
            scale = v.choose("fcmp ogt", size, far, 1 / far, v.choose("fcmp olt", size, 1 / far, far, 1.0))
            known = self.inverses[base, at] = scale, v.divide(1.0, v.multiply(s, scale))
        return known

    def _of_row(self, p: int) -> None:
        program, steps = self.row_programs[p]
        if steps:
            e = self._emitter(program)
            values = e.computed(self._given(program, None, None, e))
            self.row_values.update((v, values[step]) for v, step in steps.items())

    # ---------------------------------------------------------------------------------------- phases

    def _span(
        self, n: str, body: Callable[..., Sequence[str] | None], carried: Sequence[tuple[str, str]] = ()
    ) -> Sequence[str]:  # fmt: skip
        """body(i, part, *values) for the vectors of n elements; returns what is carried."""
        code, lanes = self.code, self.lanes
        values: Sequence[str] = [x for _, x in carried]
        types = [t for t, _ in carried]
        if not n.isdigit():
            complete = code.value(f"and i64 {n}, {-lanes}")
            values = code.loop(0, complete, lanes, lambda i, *now: body(i, Part(), *now), carried=list(zip(types, values)))
            if self.width % lanes:
                v = self.v["float"]
                values = code.loop(
                    complete, n, lanes, lambda i, *now: body(i, Part(v.below(code.value(f"sub i64 {n}, {i}"))), *now),
                    carried=list(zip(types, values)),
                )  # fmt: skip
            return values
        count = int(n)
        whole = count - count % lanes
        if whole == lanes:
            values = body("0", Part(), *values) or ()
        elif whole:
            values = code.loop(0, whole, lanes, lambda i, *now: body(i, Part(), *now), carried=list(zip(types, values)))
        if count > whole:
            values = body(str(whole), Part(mask(count - whole, lanes)), *values) or ()
        return values

    def _phase(self, p: int, begin: str) -> None:
        program, steps = self.programs[p]
        if not steps:
            return
        code, e = self.code, self._emitter(program)
        for k in program.operands:
            base, at = self.operands[k]
            if " " in at.kind:
                where = at._replace(kind=at.kind.partition(" ")[2])
                self._inverse(base, where, e.vectors(pointwise._type_of(base.dtype)))
        ends = [x for x in steps if isinstance(x, Equation)]
        lines = [x for x in ends if self.group.reductions[x].over != "columns"]
        targets = {
            v: code.at(e.stored[pointwise._type_of(v.dtype)].number, self._pointers[v], begin)
            for v in steps if not isinstance(v, Equation) and v not in self.buffers
        }  # fmt: skip
        sums = any(self.group.reductions[x].how == "sum" for x in lines)
        blocked = sums and (not self.n.isdigit() or int(self.n) > SUMMED)

        def step(start: str, i: str, part: Part, *now: str) -> list[str]:
            at = i if start == "0" else code.add(start, i)
            values = e.computed(self._given(program, at, part, e))
            following: list[str] = []
            rest = iter(now)
            for key, k in steps.items():
                kind = program.type(k)
                if not isinstance(key, Equation):
                    if key in self.buffers:
                        e.vectors(kind).store(values[k], self.buffers[key], at)
                    else:
                        part.store(e.stored[kind], e.written(kind, values[k]), targets[key], at)
                    continue
                r, v = self.group.reductions[key], e.vectors(kind)
                if r.over == "columns":
                    buffer = self.totals[key][0]
                    v.store(_joined(v, r.how, values[k], v.load(buffer, at)), buffer, at)
                elif r.how == "sum":
                    following.append(v.add(next(rest), part.keep(v, values[k])))
                else:
                    here = values[k] if part.mask is None else v.select(part.mask, values[k], reductions._FIRST[r.how])
                    following += reductions._taken(v, r.how, here, next(rest), next(rest))
            return following

        first: list[tuple[str, str]] = []
        for x in lines:
            r, v = self.group.reductions[x], e.vectors(program.type(steps[x]))
            if r.how == "sum":
                w = self.double if blocked else v
                first.append((w.type, w.constant(0.0)))
            else:
                first += [(v.type, v.constant(reductions._FIRST[r.how])), (v.type, v.constant(-0.0))]
        if not blocked:
            found = list(self._span(self.n, lambda i, part, *now: step("0", i, part, *now), first))
        else:

            def chunk(start: str, *before: str) -> list[str]:
                whole = (int(self.n) if self.n.isdigit() else self.width) % SUMMED == 0
                here = str(SUMMED) if whole else code.least(code.value(f"sub i64 {self.n}, {start}"), SUMMED)
                inner: list[tuple[str, str]] = []
                k = 0
                for x in lines:
                    v = e.vectors(program.type(steps[x]))
                    if self.group.reductions[x].how == "sum":
                        inner.append((v.type, v.constant(0.0)))
                        k += 1
                    else:
                        inner += [(v.type, before[k]), (v.type, before[k + 1])]
                        k += 2
                got = list(self._span(here, lambda i, part, *now: step(start, i, part, *now), inner))
                k = 0
                for x in lines:
                    v = e.vectors(program.type(steps[x]))
                    if self.group.reductions[x].how == "sum":
                        got[k] = self.double.add(before[k], v.widened(got[k]))
                        k += 1
                    else:
                        k += 2
                return got

            found = code.loop(0, self.n, SUMMED, chunk, carried=first)
        for x in lines:
            r = self.group.reductions[x]
            self._line(x, r, e, program.type(steps[x]), [found.pop(0) for _ in range(1 if r.how == "sum" else 2)], blocked)

    def _line(self, x: Equation, r: Reduced, e: pointwise._Emitter, kind: str, found: Sequence[str], blocked: bool) -> None:
        """What becomes of the reduction of a row's elements."""
        code, v = self.code, e.vectors(kind)
        if r.over == "all":
            places = self.totals[x]
            if r.how == "sum":
                more = found[0] if blocked else v.widened(found[0])
                self.double.store(self.double.add(self.double.load(places[0]), more), places[0])
            else:
                before = v.load(places[0])
                v.store(v.choose(reductions._CONDITIONS[r.how], found[0], before, found[0], before), places[0])
                v.store(v.add(v.load(places[1]), found[1]), places[1])
            return
        if r.how != "sum":
            one = reductions._of_lanes(v, r.how, *found)
        elif blocked:
            one = self.double.sum(found[0])
            if v.number == "float":
                one = code.value(f"fptrunc double {one} to float")
        else:
            one = v.sum(found[0])
        value = code.spread(self.lanes, v.number, one)
        if r.mean:
            value = v.divide(value, float(r.of))
        value = e.rounded(kind, value)
        out = x.outputs[0]
        self.row_values[out] = value
        if self.group.made[out] == "end":  # of a wide row, which is not gone over again
            words = e.stored[kind]
            raw = code.value(f"extractelement {words.type} {e.written(kind, value)}, i64 0")
            code.do(f"store {words.number} {raw}, ptr {code.at(words.number, self._pointers[out], self.r)}")

    # ---------------------------------------------------------------------------------------- the end

    def finish(self, code: Any, pointers: Callable[[Any], str]) -> None:
        """Put partial results together, after all units."""
        for e in self.partials():
            self._finish(code, self.group.reductions[e], e.outputs[0], pointers(e), pointers(e.outputs[0]))

    def _finish(self, code: Any, r: Reduced, out: Variable, partial: str, target: str) -> None:
        columns = r.over == "columns"
        width, count = (self.width, self.blocks) if columns else (1, self.units)
        lanes = min(width, LANES // 2)
        emitter = pointwise._Emitter(code, pointwise._Program([]), lanes)
        v, kind = emitter.double, pointwise._type_of(out.dtype)
        first = [0.0] if r.how == "sum" else [reductions._FIRST[r.how], -0.0]

        def some(j: str, part: Part) -> None:
            def turn(u: str, *now: str) -> list[str]:
                here = part.load(v, partial, code.add(code.mul(u, width), j) if columns else u)
                return [v.add(now[0], here)] if r.how == "sum" else reductions._taken(v, r.how, here, *now)

            found = code.loop(0, count, 1, turn, carried=[(v.type, v.constant(x)) for x in first])
            value = found[0] if len(found) == 1 else v.add(*found)
            if r.mean:
                value = v.divide(value, float(r.of))
            value = emitter.converted(value, "d", kind)
            part.store(emitter.stored[kind], emitter.written(kind, value), target, j)

        whole = width - width % lanes
        code.loop(0, whole, lanes, lambda j: some(j, Part()))
        if width > whole:
            some(str(whole), Part(mask(width - whole, lanes)))

    def call(self, code: Any) -> None:
        """Do all units, by the pool's threads where there is a pool."""
        shared_out(code, self.name, self.units, self.work)


_TILES = 32
"""Tiles that a kernel is shared out in, about."""


def shared_out(code: Any, name: str, units: int, work: int) -> None:
    """Call the function `name(frame, first, last)` for all units, from each thread of the pool where that is worth it."""
    if units == 1 or work < threads.WORTH:
        code.do(f"call void @{name}(ptr %frame, i64 0, i64 {units})")
        return
    grain = max(threads.TILE * units // work + 1, units // _TILES)
    alone = code.value("icmp eq ptr %pool, null")
    code.when(alone, lambda: code.do(f"call void @{name}(ptr %frame, i64 0, i64 {units})"))

    def share() -> None:
        run = code.value(f"load ptr, ptr {code.at('i8', '%pool', threads.RUN)}")
        code.do(f"call void {run}(ptr %pool, ptr @{name}, ptr %frame, i64 {units}, i64 {grain})")

    code.when(code.value(f"xor i1 {alone}, true"), share)


def _joined(v: Vectors, how: str, here: str, before: str) -> str:
    """A sum or an extreme with one element more; nan stays."""
    if how == "sum":
        return v.add(before, here)
    return v.choose("fcmp uno", here, here, here, v.choose(reductions._CONDITIONS[how], here, before, here, before))


def mask(n: int, lanes: int) -> str:
    """The constant of the first n lanes."""
    return "<" + ", ".join(f"i1 {'true' if k < n else 'false'}" for k in range(lanes)) + ">"


def _nodes(x: Any) -> list[Expr]:
    """All nodes of an expression."""
    found: dict[int, Expr] = {}
    todo = [x]
    while todo:
        node = todo.pop()
        if isinstance(node, Expr) and id(node) not in found:
            found[id(node)] = node
            todo += node.args
    return list(found.values())


def _substituted(x: Expr, operands: Sequence[Expr | None]) -> Expr:
    """An expression of other operands."""
    known: dict[int, Any] = {}

    def of(node: Any) -> Any:
        if not isinstance(node, Expr):
            return node
        if node.name == "operand":
            return operands[node.args[0]]
        if id(node) not in known:
            known[id(node)] = Expr(node.name, tuple([of(y) for y in node.args]), node.dtype)
        return known[id(node)]

    found: Expr = of(x)
    return found
