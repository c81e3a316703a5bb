"""The machine code of graphs of small arrays, which stay in registers: one vector for each variable, and loops around them.

Where arrays have a few elements, loads, stores and loops over elements take longer than what is computed. Here an operation
on elements is one instruction on a vector of as many lanes as there are elements; what moves elements is a shuffle, found by
asking the operation itself where it puts numbered ones; loops and choices (nested.py) are loops and selections. Variables that
are too large for that, the sequences and results of loops, lie in memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backend.jit import llvm, pointwise, reductions
from ...backend.jit.functions import Unsupported
from ...backend.jit.lines import during
from ...core.bind import KERNEL_ERRORS
from ..graph import Equation, Graph, Variable
from ..passes.decompose import decomposed
from .expressions import expressible, expression

if TYPE_CHECKING:
    from ..loops.nested import Choice, Loop, While

MOST = 64
"""Elements of a variable in registers at most."""
_SIZE = 1 << 14
"""Lanes of all equations together at most: the code is straight, and LLVM takes 10 µs for each."""
_STACK = 1 << 18
"""Bytes that results of inner loops take on the stack at most."""
_RELEASED = 1 << 17
"""Steps of work from which on the interpreter's lock is released."""
_RARE = ", label %far"

_SUMS = frozenset({"cumsum", "einsum"})
"""What is linear in each operand beside the kinds that say so."""


class Unsuited(Exception):
    """A graph that is no such code: too large, or of operations that have none here."""


class _Place:
    """Where a variable is: in memory (`pointer`), in registers (`value`), or in both."""

    __slots__ = ("pointer", "value")

    def __init__(self, pointer: str | None = None, value: str | None = None) -> None:
        self.pointer, self.value = pointer, value


class _Writer:
    """Writes graphs into the code of one function."""

    def __init__(self, code: llvm.Code) -> None:
        self.code = code
        self.rooms: list[str] = []
        """The lines that take memory on the stack: once, where the function begins."""
        self.taken = self.lanes = self.work = 0
        self._emitters: dict[int, pointwise._Emitter] = {}

    # ---------------------------------------------------------------------------------------- variables

    def _kind(self, v: Variable) -> str:
        try:
            return pointwise._type_of(v.dtype)
        except Unsupported as problem:
            raise Unsuited(str(problem)) from None

    def _emitter(self, lanes: int) -> pointwise._Emitter:
        if lanes not in self._emitters:
            self._emitters[lanes] = pointwise._Emitter(self.code, pointwise._Program([]), lanes)
        return self._emitters[lanes]

    def _type(self, v: Variable) -> str:
        """The type of the vector that a variable is computed with."""
        e, kind = self._emitter(v.size), self._kind(v)
        return f"<{v.size} x i1>" if kind == "?" else e.numbers(kind).type

    def _number(self, v: Variable) -> str:
        kind = self._kind(v)
        return "i1" if kind == "?" else self._emitter(1).numbers(kind).number

    def _fits(self, v: Variable) -> None:
        if not 0 < v.size <= MOST:
            raise Unsuited(f"a variable of {v.size} elements")

    def value(self, v: Variable, place: _Place) -> str:
        """A variable in registers."""
        if place.value is None:
            self._fits(v)
            assert place.pointer is not None
            e, kind = self._emitter(v.size), self._kind(v)
            return e.read(kind, e.stored[kind].load(place.pointer, align=v.dtype.itemsize))
        return place.value

    def write(self, v: Variable, place: _Place, pointer: str) -> None:
        """Write a variable to memory."""
        if place.value is not None:
            e, kind = self._emitter(v.size), self._kind(v)
            e.stored[kind].store(e.written(kind, place.value), pointer, align=v.dtype.itemsize)
        elif v.size:
            self.code.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
            size = v.size * v.dtype.itemsize
            self.code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {pointer}, ptr {place.pointer}, i64 {size}, i1 false)")

    def _room(self, size: int) -> str:
        self.taken += size + 64
        if self.taken > _STACK:
            raise Unsuited(f"results of inner loops of {self.taken} bytes")
        name = f"%room{self.code.fresh()}"
        self.rooms.append(f"  {name} = alloca [{max(size, 1)} x i8], align 64")
        return name

    def _pointer(self, v: Variable, place: _Place) -> str:
        """A variable in memory."""
        if place.pointer is None:
            pointer = self._room(v.size * v.dtype.itemsize)
            self.write(v, place, pointer)
            return pointer
        return place.pointer

    def _constant(self, v: Variable, array: np.ndarray) -> _Place:
        self._fits(v)
        kind, flat = self._kind(v), np.asarray(array).ravel().tolist()
        if kind == "?":
            return _Place(value="<" + ", ".join(f"i1 {'true' if x else 'false'}" for x in flat) + ">")
        one = self._emitter(1).numbers(kind)
        return _Place(value="<" + ", ".join(one.constant(float(x) if kind in "fdeE" else x)[1:-1] for x in flat) + ">")

    def _pick(self, v: Variable, x: str, lanes: Sequence[int]) -> str:
        """Some elements of a variable, by their numbers."""
        if list(lanes) == list(range(v.size)):
            return x
        number, chosen = self._number(v), ", ".join(f"i32 {k}" for k in lanes)
        kind = f"<{v.size} x {number}>"
        return self.code.value(f"shufflevector {kind} {x}, {kind} poison, <{len(lanes)} x i32> <{chosen}>")

    # ---------------------------------------------------------------------------------------- graphs

    def graph(self, graph: Graph, places: dict[Variable, _Place]) -> list[_Place]:
        """Write the equations of a graph whose inputs have places; those of its outputs."""
        for v, array in graph.constants.items():
            places[v] = self._constant(v, array)
        for e in graph.equations:
            self._equation(e, places)
        return [places[v] for v in graph.outputs]

    def _equation(self, e: Equation, places: dict[Variable, _Place]) -> None:
        if e.prim.kind == "control":
            given = [places[v] for v in e.inputs if v is not None]
            found = _CONTROL[e.prim.name](self, e, given)
            places.update(zip(e.outputs, found))
            return
        for v in (*e.inputs, *e.outputs):
            if v is not None:
                self._fits(v)
        self.lanes += sum(v.size for v in e.outputs)
        if self.lanes > _SIZE:
            raise Unsuited(f"{self.lanes} elements in straight code")
        values = [None if v is None else self.value(v, places[v]) for v in e.inputs]
        for v, x in zip(e.inputs, values):
            if v is not None and x is not None:
                places[v].value = x
        try:
            results = self._computed(e, values)
        except Unsupported as problem:
            raise Unsuited(str(problem)) from None
        places.update((v, _Place(value=x)) for v, x in zip(e.outputs, results))

    def _computed(self, e: Equation, values: list[str | None]) -> list[str]:
        if e.prim.kind == "elementwise":
            return [self._elementwise(e, values)]
        if e.prim.kind == "structural":
            return self._moved(e, values)
        if e.prim.kind == "reduction" and len(e.outputs) == 1:
            return [self._reduced(e, values)]
        if (e.prim.kind in ("bilinear", "linear") or e.prim.name in _SUMS) and len(e.outputs) == 1:
            return [self._summed(e, values)]
        raise Unsuited(f"the operation {e.prim.name}")

    def _elementwise(self, e: Equation, values: list[str | None]) -> str:
        found, out = expression(e), e.outputs[0]
        if found is None:
            raise Unsuited(f"the operation {e.prim.name}")
        program = pointwise._Program([found])
        emitter = pointwise._Emitter(self.code, program, out.size)
        emitter.scalars = [(emitter.single.constant(x), emitter.double.constant(x)) for x in program.constants]
        given = {}
        for k in program.operands:
            v, x = e.inputs[k], values[k]
            assert v is not None
            assert x is not None
            at = np.broadcast_to(np.arange(v.size).reshape(v.shape), out.shape).ravel().tolist()
            given[k] = self._pick(v, x, at)
        self.work += out.size * program.cost
        return emitter.computed(given)[program.outputs[0]]

    def _moved(self, e: Equation, values: list[str | None]) -> list[str]:
        """What moves and repeats elements: the operation is asked where it puts which."""
        inputs = [v for v in e.inputs if v is not None]
        if any(v.dtype != e.outputs[0].dtype for v in (*inputs, *e.outputs)):
            raise Unsuited(f"the operation {e.prim.name} between dtypes")
        first, second = (self._asked(e, begin) for begin in (1, 1 << 20))
        owner = [(v, x, k) for v, x in zip(e.inputs, values) if v is not None for k in range(v.size)]
        found = []
        for out, at, other in zip(e.outputs, first, second):
            moved = other - at == (1 << 20) - 1
            if not np.all(moved | ((other == at) & (at == 0))):
                raise Unsuited(f"the operation {e.prim.name}, which does more than to move elements")
            picked = [owner[int(n) - 1] if m else None for n, m in zip(at.ravel(), moved.ravel())]
            found.append(self._gathered(out, picked))
        return found

    def _asked(self, e: Equation, begin: int) -> list[np.ndarray]:
        """The results of an operation on numbered elements."""
        arrays, n = [], begin
        for v in e.inputs:
            arrays.append(None if v is None else np.arange(n, n + v.size, dtype=np.float64).reshape(v.shape))
            n += 0 if v is None else v.size
        return self._run(e, arrays)

    def _run(self, e: Equation, arrays: Sequence[Any]) -> list[np.ndarray]:
        try:
            out = e.prim.op(*arrays, **e.params)
        except KERNEL_ERRORS as problem:
            raise Unsuited(f"the operation {e.prim.name}: {problem}") from None
        found = [np.asarray(y) for y in (out if e.prim.multi else (out,))]
        if any(y.shape != v.shape for y, v in zip(found, e.outputs)):
            raise Unsuited(f"the operation {e.prim.name}")
        return found

    def _gathered(self, out: Variable, picked: Sequence[Any]) -> str:
        """A vector of elements of others, or of zeros: of each the variable, its vector and the number."""
        sources = {id(p[1]) for p in picked if p is not None}
        if len(sources) == 1 and None not in picked:
            v, x, _ = picked[0]
            return self._pick(v, x, [p[2] for p in picked])
        number, n = self._number(out), len(picked)
        made = self._constant(Variable((n,), out.dtype), np.zeros(n, out.dtype)).value
        for k, p in enumerate(picked):
            if p is not None:
                v, x, at = p
                one = self.code.value(f"extractelement <{v.size} x {number}> {x}, i64 {at}")
                made = self.code.value(f"insertelement <{n} x {number}> {made}, {number} {one}, i64 {k}")
        assert made is not None
        return made

    def _reduced(self, e: Equation, values: list[str | None]) -> str:
        v, x, out = e.inputs[0], values[0], e.outputs[0]
        assert v is not None
        assert x is not None
        how = {"mean": "sum"}.get(e.prim.name, e.prim.name)
        kind = self._kind(v)
        allowed = {"sum": "fdeEil", "amax": "fd", "amin": "fd", "any": "?", "all": "?"}
        if kind not in allowed.get(how, "") or v.dtype != out.dtype or set(e.params) - {"axis", "keepdims", "ties"}:
            raise Unsuited(f"the operation {e.prim.name}")
        axes = tuple(a % v.ndim for a in e.params["axis"])
        rest = [a for a in range(v.ndim) if a not in axes]
        groups = np.arange(v.size).reshape(v.shape).transpose(*rest, *axes).reshape(out.size, -1)
        terms = [self._pick(v, x, column) for column in groups.T.tolist()]
        emitter = self._emitter(out.size)

        def join(a: str, b: str) -> str:
            if how in ("any", "all"):
                return self.code.value(f"{'or' if how == 'any' else 'and'} <{out.size} x i1> {a}, {b}")
            numbers = emitter.numbers(kind)
            if how == "sum":
                return numbers.add(a, b)
            larger = numbers.choose(reductions._CONDITIONS["max" if how == "amax" else "min"], a, b, a, b)
            return numbers.choose("fcmp uno", a, a, a, larger)

        self.work += v.size
        while len(terms) > 1:
            terms = [join(*terms[k : k + 2]) if k + 1 < len(terms) else terms[k] for k in range(0, len(terms), 2)]
        found = terms[0]
        if e.prim.name == "mean":
            found = emitter.vectors(kind).divide(found, float(groups.shape[1]))
        return emitter.rounded(kind, found)

    def _summed(self, e: Equation, values: list[str | None]) -> str:
        """A linear or bilinear operation whose results are sums of elements, or of products of two: it is asked which."""
        out = e.outputs[0]
        inputs = [v for v in e.inputs if v is not None]
        kind = self._kind(out)
        if kind not in "fd" or len(inputs) != len(e.inputs) or any(v.dtype != out.dtype for v in inputs):
            raise Unsuited(f"the operation {e.prim.name}")
        if len(inputs) > 2 or (e.prim.kind == "linear" and len(inputs) != 1):
            raise Unsuited(f"the operation {e.prim.name}")
        terms = self._terms(e, inputs)
        x = [y for y in values if y is not None]
        numbers, total = self._emitter(out.size).vectors(kind), None
        for k in range(max(map(len, terms))):
            picks = [t[k] if k < len(t) else None for t in terms]
            factors = [
                self._gathered(out, [None if p is None else (v, x[i], p[i]) for p in picks]) for i, v in enumerate(inputs)
            ]  # fmt: skip
            self.work += out.size
            if len(factors) == 1:
                total = factors[0] if total is None else numbers.add(total, factors[0])
            else:
                total = numbers.multiply(*factors) if total is None else numbers.call("fma", *factors, total)
        assert total is not None
        return total

    def _terms(self, e: Equation, inputs: Sequence[Variable]) -> list[list[tuple[int, ...]]]:
        """For each element of the result the elements that are added up, or the pairs whose products are."""
        first, out = inputs[0], e.outputs[0]
        found: list[list[tuple[int, ...]]] = [[] for _ in range(out.size)]
        for i in range(first.size):
            unit = np.zeros(first.size)
            unit[i] = 1
            if len(inputs) == 1:
                (y,) = self._run(e, [unit.reshape(first.shape)])
                hit = y.ravel()
                if not np.all((hit == 0) | (hit == 1)):
                    raise Unsuited(f"the operation {e.prim.name}")
                for o in np.flatnonzero(hit):
                    found[o].append((i,))
                continue
            second = inputs[1]
            numbered = [np.arange(n, n + second.size, dtype=np.float64).reshape(second.shape) for n in (1, 1 << 20)]
            at, other = (self._run(e, [unit.reshape(first.shape), x])[0] for x in numbered)
            moved = (other - at == (1 << 20) - 1).ravel()
            if not np.all(moved | ((at == 0) & (other == 0)).ravel()):
                raise Unsuited(f"the operation {e.prim.name}")
            for o in np.flatnonzero(moved):
                found[o].append((i, int(at.ravel()[o]) - 1))
        if not any(found):
            raise Unsuited(f"the operation {e.prim.name}")
        return found

    # ---------------------------------------------------------------------------------------- loops and choices

    def _scan(self, e: Equation, given: list[_Place], outs: Sequence[str] | None = None) -> list[_Place]:
        """A scan; the pointers of its stacked results may be given."""
        loop: Loop = e.params["loop"]
        code, graph = self.code, small(loop.graph)
        first = loop.consts + loop.carries
        places: dict[Variable, _Place] = {}
        for v, place in zip(graph.inputs[: loop.consts], given):
            places[v] = _Place(place.pointer, self.value(v, place) if v.size <= MOST and v.size else None)
        rows = [
            (v, self._pointer(whole, place))
            for v, whole, place in zip(graph.inputs[first:], e.inputs[first:], given[first:]) if whole is not None
        ]  # fmt: skip
        stacked = list(outs or [self._room(v.size * v.dtype.itemsize) for v in e.outputs[loop.carries :]])
        before, turn = _invariant(graph, loop.consts)
        self.graph(Graph(graph.inputs, graph.constants, before, ()), places)
        work = self.work
        carried = graph.inputs[loop.consts : first]
        begin = [self.value(v, place) for v, place in zip(carried, given[loop.consts : first])]

        def body(i: str, *now: str) -> list[str]:
            at = code.value(f"sub i64 {loop.length - 1}, {i}") if loop.reverse else i
            inside = {v: _Place(p.pointer, p.value) for v, p in places.items()}
            inside.update((v, _Place(value=x)) for v, x in zip(carried, now))
            for v, pointer in rows:
                inside[v] = _Place(self._row(v, pointer, at))
                if 0 < v.size <= MOST:
                    inside[v].value = self.value(v, inside[v])
            results = self.graph(Graph(graph.inputs, {}, turn, graph.outputs), inside)
            for v, place, pointer in zip(graph.outputs[loop.carries :], results[loop.carries :], stacked):
                self.write(v, place, self._row(v, pointer, at))
            return [self.value(v, place) for v, place in zip(graph.outputs, results[: loop.carries])]

        found = code.loop(0, loop.length, 1, body, carried=[(self._type(v), x) for v, x in zip(carried, begin)])
        self.work = work + (self.work - work) * loop.length
        return [*(_Place(value=x) for x in found), *(_Place(pointer) for pointer in stacked)]

    def _row(self, v: Variable, pointer: str, at: str) -> str:
        size = v.size * v.dtype.itemsize
        return str(self.code.at("i8", pointer, self.code.mul(at, size) if size != 1 else at))

    def _while(self, e: Equation, given: list[_Place], outs: Sequence[str] | None = None) -> list[_Place]:
        loop: While = e.params["loop"]
        code, (a, b) = self.code, loop.consts
        condition, body = small(loop.condition), small(loop.body)
        consts = [
            _Place(p.pointer, self.value(v, p) if 0 < v.size <= MOST else None) for v, p in zip(e.inputs[: a + b], given) if v
        ]  # fmt: skip
        carried = body.inputs[b:]
        begin = [self.value(v, p) for v, p in zip(carried, given[a + b :])]

        def going(*values: str) -> str:
            now = [_Place(value=x) for x in values]
            (truth,) = self.graph(condition, dict(zip(condition.inputs, [*_copies(consts[:a]), *now])))
            return code.value(f"extractelement <1 x i1> {self.value(condition.outputs[0], truth)}, i64 0")

        def turn(*values: str) -> list[str]:
            results = self.graph(body, dict(zip(body.inputs, [*_copies(consts[a:]), *(_Place(value=x) for x in values)])))
            return [self.value(v, p) for v, p in zip(body.outputs, results)]

        values = during(code, going, turn, [(self._type(v), x) for v, x in zip(carried, begin)])
        self.work += _RELEASED  # nobody knows how long it takes
        return [_Place(value=x) for x in values]

    def _cond(self, e: Equation, given: list[_Place], outs: Sequence[str] | None = None) -> list[_Place]:
        """Both functions, and a selection: they are small and have no effect, and both come to an end."""
        choice: Choice = e.params["choice"]
        if any(map(_endless, (choice.then, choice.otherwise))):
            raise Unsuited("a loop of unknown length in a branch that is not taken")
        assert e.inputs[0] is not None
        truth = self.code.value(f"extractelement <1 x i1> {self.value(e.inputs[0], given[0])}, i64 0")
        found = []
        for graph in map(small, (choice.then, choice.otherwise)):
            places = dict(zip(graph.inputs, _copies(given[1:])))
            found.append([self.value(v, p) for v, p in zip(graph.outputs, self.graph(graph, places))])
        chosen = []
        for v, x, y in zip(e.outputs, *found):
            chosen.append(self.code.value(f"select i1 {truth}, {self._type(v)} {x}, {self._type(v)} {y}"))
        return [_Place(value=x) for x in chosen]


_CONTROL: dict[str, Callable[..., list[_Place]]] = {"scan": _Writer._scan, "while_loop": _Writer._while, "cond": _Writer._cond}


def _endless(graph: Graph) -> bool:
    """Whether a graph has a loop in it that only its condition ends."""
    inner = [g for e in graph.equations for p in e.params.values() if hasattr(p, "graphs") for _, g in p.graphs()]
    return any(e.prim.name == "while_loop" for e in graph.equations) or any(map(_endless, inner))


def _copies(places: Iterable[_Place]) -> list[_Place]:
    return [_Place(p.pointer, p.value) for p in places]


def _invariant(graph: Graph, consts: int) -> tuple[list[Equation], list[Equation]]:
    """The equations that depend on constants only, and the others."""
    known = {*graph.inputs[:consts], *graph.constants}
    before, turn = [], []
    for e in graph.equations:
        if e.prim.kind != "control" and all(v is None or v in known for v in e.inputs):
            before.append(e)
            known.update(e.outputs)
        else:
            turn.append(e)
    return before, turn


def small(graph: Graph) -> Graph:
    """A graph as it is written: after the passes, with composite operations taken apart."""
    from ..pipeline import optimised

    if any(v.size > MOST for e in graph.equations if e.prim.kind != "control" for v in e.outputs):
        raise Unsuited("variables of more elements")
    return decomposed(optimised(graph), expressible)


def text(graph: Graph) -> tuple[str, int]:
    """The module of `loop(results..., operands...)` for a graph of one loop, of NumPy's arrays, and the work of a call."""
    code = llvm.Code()
    writer = _Writer(code)
    (e,) = graph.equations
    count = len(graph.outputs)
    arrays = [*graph.outputs, *graph.inputs]
    pointers = [code.value(f"load ptr, ptr {code.at('i8', f'%a{i}', llvm.DATA)}") for i in range(len(arrays))]
    places = dict(zip(graph.inputs, map(_Place, pointers[count:])))
    loop: Any = e.params.get("loop")
    stacked = pointers[loop.carries : count] if e.prim.name == "scan" else None
    given = [places[v] for v in e.inputs if v is not None]
    found = _CONTROL[e.prim.name](writer, e, given, stacked)
    for v, place, pointer in zip(graph.outputs, found, pointers):
        if place.pointer is not pointer:
            writer.write(v, place, pointer)
    code.do("ret void")
    head = f"define void @loop({', '.join(f'ptr %a{i}' for i in range(len(arrays)))}) #0 {{"
    lines = [head, code.lines[0], *writer.rooms, *code.lines[1:], "}"]
    lines = [f"{line}, !prof !0" if _RARE in line else line for line in lines]
    weights = '!0 = !{!"branch_weights", i32 1, i32 100000}'
    return "\n".join([*code._declared, *lines, "attributes #0 = { nounwind }", weights]), writer.work


def _written(e: Equation) -> tuple[str, int] | None:
    """The module of a loop with operands of its own, and the work of a call; None where there is none."""
    inputs = [Variable(v.shape, v.dtype) for v in e.inputs if v is not None]
    try:
        return text(Graph(inputs, {}, [e.on(inputs)], e.outputs))
    except (Unsuited, Unsupported):
        return None


def source(e: Equation) -> str | None:
    """The code of a loop as text; None where it is none as a whole."""
    found = None if e.prim.name == "cond" else _written(e)
    return None if found is None else found[0]


def compiled(e: Equation) -> Callable[..., tuple[np.ndarray, ...]] | None:
    """The function of a loop's operands as machine code; None where there is none."""
    found = _written(e)
    if found is None:
        return None
    module, work = found
    address = llvm.assembled("loop", module)
    make = ctypes.CFUNCTYPE if work >= _RELEASED else ctypes.PYFUNCTYPE
    count = len(e.outputs) + len(e.inputs)
    scope: dict[str, Any] = {
        "call": make(None, *[ctypes.py_object] * count)(address), "empty": np.empty, "in_order": in_order,
    }  # fmt: skip
    given = [f"x{i}" for i in range(len(e.inputs))]
    lines = [f"def run({', '.join(given)}):"]
    lines += [f"    if {x}.flags.num & 257 != 257: {x} = in_order({x})" for x in given]
    for i, v in enumerate(e.outputs):
        scope[f"t{i}"] = v.dtype
        lines.append(f"    y{i} = empty({v.shape!r}, t{i})")
    made = [f"y{i}" for i in range(len(e.outputs))]
    lines += [f"    call({', '.join([*made, *given])})", f"    return ({''.join(f'{y}, ' for y in made)})"]
    exec(compile("\n".join(lines), "<retrograde loop>", "exec"), scope)  # noqa: S102 - our own source
    run: Callable[..., tuple[np.ndarray, ...]] = scope["run"]
    return run


def in_order(x: np.ndarray) -> np.ndarray:
    """An array in C's order, aligned."""
    return np.require(x, requirements=["C", "A"])
