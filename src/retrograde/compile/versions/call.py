"""A compiled graph among tensors that want gradients and arrays of transforms: an operation of its own, with derivatives of every
order that are compiled as well.

A `Program` is a graph with its code. On values of a tape it becomes a `Forward`: a program that gives, besides the outputs, the
residuals that the backward pass needs, and one backward program for each choice of cotangents and operands that is asked for.
Residuals count as outputs with a history, and backward programs are called on values like any other: so derivatives of
derivatives need nothing of their own. Arrays of vmap and forward mode run a program traced for their kind.
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._state import WATCHED, grad_mode, refresh, state
from ..._tree import TreeDef, unflatten
from ...core import bind
from ...core import level as levels
from ...core import value as values
from ...core.batched import BatchedArray
from ...core.dual import DualArray
from ...core.level import Level
from ...core.node import FREED, Accumulate, Node, Slot, producer, tick
from ...core.record import Primitive
from ...core.value import LevelArray, Value, dtype_of, level_of, make, shape_of
from ...tape import autograd, engine
from ...tape.function import Custom
from .. import pipeline
from ..emit import history
from ..graph import Equation, Graph, Variable
from ..guards.effects import harmless
from ..trace.sizes import Measured, numpy_of_sizes
from ..trace.trace import ACTIVE, LOCK, SESSIONS, TRACING, Trace, Traced
from .foresight import Foresight, Joint, Key

_ndarray = np.ndarray


class Program:
    """A graph that is called with arrays, values or arrays of transforms.

    name: how messages and nodes call it. graph: it, or a function that makes it, where it may not be asked for. code: what runs
    the graph, if that is there already.
    """

    def __init__(
        self, name: str, graph: Graph | Callable[[], Graph], code: Callable[..., Sequence[Any]] | None = None
    ) -> None:  # fmt: skip
        self.name, self._graph, self._code = name, graph, code
        self._forwards: dict[tuple[int, ...], Forward] = {}
        self._transformed: dict[Any, tuple[Program, Callable[[list[Any], int], list[Any]]]] = {}

    @property
    def graph(self) -> Graph:
        if not isinstance(self._graph, Graph):
            self._graph = self._graph()
        return self._graph

    def __call__(self, operands: Sequence[Any]) -> list[Any]:
        """The outputs for operands of any kind, at the highest level among them."""
        if not any(type(x) is not _ndarray for x in operands):
            return list(self.run(operands))
        if ACTIVE:
            operands = [elements(x) for x in operands]
            if all(type(x) is _ndarray for x in operands):
                return list(self.run(operands))
        top = max(map(level_of, operands), default=0)
        if any(isinstance(x, Value) and x._level == top for x in operands):
            return self._taped(operands, top)
        if top:
            return self._under(operands, top)
        return self.graph.run(*operands)  # another library's arrays, and those of another trace, which then goes on with them

    def run(self, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
        """The outputs for NumPy's arrays."""
        if self._code is None:
            self._code = pipeline.compiled(self.graph)
        return self._code(*arrays)

    def _taped(self, operands: Sequence[Any], top: int) -> list[Any]:
        """One tape off: what is below is computed with, and recorded where an operand wants a gradient."""
        if top:
            levels.check_open(top)
        arrays, edges = [], list[Any]()
        for x in operands:
            own = isinstance(x, Value) and x._level == top
            arrays.append(x._a if own else values.content(x) if isinstance(x, Value) else x)
            edges.append(x._node if own else None)
        cls = values.result_class(operands)
        wanted = tuple([i for i, edge in enumerate(edges) if edge is not None and edge.dtype.kind not in "iub"])
        if not wanted or levels.mode_at(top) == 0:
            return [make(cls, y, None, top) for y in self(arrays)]
        return self.forward(wanted).called(arrays, edges, operands, cls, top)

    def forward(self, wanted: tuple[int, ...]) -> Forward:
        """The program to be recorded where these operands want a gradient."""
        found = self._forwards.get(wanted)
        if found is None:
            with traced(Trace(self.name)) as trace:
                given = [Traced(trace, v) for v in self.graph.inputs]
                tensors = [make(values.core_class, x) for x in given]
                for i in wanted:
                    autograd.leaf(tensors[i])
                edges = [x._node for x in tensors]
                at: dict[Variable, Any] = dict(zip(self.graph.inputs, tensors)) | dict(self.graph.constants)
                for e in self.graph.equations:
                    out = e.prim.op(*(None if v is None else at[v] for v in e.inputs), **e.params)
                    at.update(zip(e.outputs, out if e.prim.multi else (out,)))
                outputs = [at[v] for v in self.graph.outputs]
                have = {x._a.variable: x._node for x in at.values() if isinstance(x, Value) and type(x._a) is Traced}
                found = Forward(self.name, trace, given, edges, outputs, have)
            self._forwards[wanted] = found
        return found

    def _under(self, operands: Sequence[Any], top: int) -> list[Any]:
        """One transform off: the same graph, traced under one of its kind."""
        levels.check_open(top)
        kinds = tuple([
            None if level_of(x) != top else x.dim if type(x) is BatchedArray else x.tangent is not None for x in operands
        ])  # fmt: skip
        batched = any(type(x) is BatchedArray and x._level == top for x in operands)
        sizes = tuple([
            shape_of(x.content)[x.dim] for x in operands if type(x) is BatchedArray and x._level == top
        ])[:1]  # fmt: skip
        key = batched, kinds, sizes
        if key not in self._transformed:
            self._transformed[key] = self._traced_under(operands, top, batched, sizes)
        program, rebuilt = self._transformed[key]
        parts: list[Any] = []
        for x in operands:
            parts += _parts(x) if level_of(x) == top else [values.content(x) if isinstance(x, Value) else x]
        return rebuilt(program(parts), top)

    def _traced_under(self, operands: Sequence[Any], top: int, batched: bool, sizes: tuple[int, ...]) -> Any:
        with traced(Trace(self.name)) as trace, Level("vmap" if batched else "jvp").open() as level:
            level.batch_size = next(iter(sizes), None)
            given: list[Any] = []

            def begin(x: Any) -> Any:
                given.append(_like(trace, x))
                return given[-1]

            def entered(x: Any) -> Any:
                if level_of(x) != top or isinstance(x, Value):
                    return begin(x)
                inside = [begin(part) for part in _parts(x)]
                return _whole(x, inside, level.id)

            outs = self.graph.run(*[entered(x) for x in operands])
            kinds, parts = [], []
            for y in outs:
                y = y._a if isinstance(y, Value) else y
                own = isinstance(y, LevelArray)
                kinds.append(y.dim if type(y) is BatchedArray else own)
                parts.append([bare(p) for p in _parts(y)] if own else [bare(y)])
            graph = trace.graph(given, [p for ps in parts for p in ps])
        counts = list(map(len, parts))

        def rebuilt(found: list[Any], at: int) -> list[Any]:
            rest = iter(found)
            made = []
            for kind, count in zip(kinds, counts):
                inside = [next(rest) for _ in range(count)]
                if kind is False:
                    made += inside
                else:
                    made.append(DualArray(inside[0], inside[1], at) if kind is True else BatchedArray(inside[0], kind, at))
            return made

        return Program(self.name, graph), rebuilt


def _like(trace: Trace, x: Any) -> Traced:
    """An array of the trace that looks as another."""
    return Traced(trace, Variable(shape_of(x), dtype_of(x)))


def _parts(x: Any) -> list[Any]:
    """What is under an array of a transform, one level down."""
    if type(x) is BatchedArray:
        return [x.content]
    return [x.primal] if x.tangent is None else [x.primal, x.tangent]


def _whole(like: Any, parts: list[Any], level: int) -> Any:
    if type(like) is BatchedArray:
        return BatchedArray(parts[0], like.dim, level)
    return DualArray(parts[0], parts[1] if len(parts) > 1 else None, level)


def bare(x: Any) -> Any:
    return x._a if isinstance(x, Value) else x


def elements(x: Any) -> Any:
    """An array that a deferred call has not computed yet, computed; any other as it is."""
    return x.trace.elements(x) if type(x) is Traced and not x.trace.leaves else x


def alike(x: Any, y: Any, close: Callable[[np.ndarray, np.ndarray], bool]) -> bool:
    """Whether two arrays of any levels, or values, hold the same for `close`, tangents included."""
    if tuple(shape_of(x)) != tuple(shape_of(y)) or dtype_of(x) != dtype_of(y):
        return False
    mine, others = dict(_under(x)), dict(_under(y))
    zero = (), np.zeros((), dtype_of(x))
    for tangents in mine.keys() | others.keys():  # a tangent that is not there is zero
        (at, a), (to, b) = mine.get(tangents, zero), others.get(tangents, zero)
        every = sorted({*at, *to})
        if not close(*np.broadcast_arrays(_spread(a, at, every), _spread(b, to, every))):
            return False
    return True


def _under(x: Any) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], np.ndarray]]]:
    """The arrays of which a value or an array of transforms consists: the levels of which each is a tangent, those of which it
    has an axis, and the array with these axes first."""
    while isinstance(x, Value):
        x = x._a
    if type(x) is BatchedArray:
        for tangents, (axes, array) in _under(x.content):
            yield tangents, ((x._level, *axes), np.moveaxis(array, len(axes) + x.dim, 0))
    elif type(x) is DualArray:
        yield from _under(x.primal)
        if x.tangent is not None:
            for tangents, found in _under(x.tangent):
                yield (x._level, *tangents), found
    else:
        yield (), ((), np.asarray(elements(x)))


def _spread(array: np.ndarray, axes: tuple[int, ...], every: Sequence[int]) -> np.ndarray:
    """An array with an axis of each of some levels, of length 1 where it has none, in their order."""
    there = sorted(range(len(axes)), key=axes.__getitem__)
    array = array.transpose(*there, *range(len(axes), array.ndim))
    return array[(*(slice(None) if level in axes else None for level in every), ...)]


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """A context at no level, in which no hooks see what is saved: they are for what the program saves, and a trace is none."""
    before = state.saved_hooks
    with levels.exactly(()):
        state.saved_hooks = ()
        refresh()
        try:
            yield
        finally:
            state.saved_hooks = before
            refresh()


class traced:
    """Context manager: what is computed with arrays of the trace is written into it, at no level and with nobody looking."""

    def __init__(self, trace: Trace, create_graph: bool = True) -> None:
        self.trace, self._create_graph = trace, create_graph

    def __enter__(self) -> Trace:
        LOCK.acquire()
        self._outer = getattr(TRACING, "now", None)
        self._alone = contextlib.ExitStack()
        self._alone.enter_context(alone())
        if self.trace.sizes:
            self._alone.enter_context(numpy_of_sizes())
        self._mode = grad_mode(self._create_graph)
        self._mode.__enter__()
        ACTIVE.append(self.trace)
        TRACING.now, self.trace.open, self.trace.session = self.trace, True, next(SESSIONS)
        return self.trace

    def __exit__(self, *exception: Any) -> None:
        TRACING.now, self.trace.open = self._outer, False
        ACTIVE.remove(self.trace)
        self._mode.__exit__(*exception)
        self._alone.__exit__(*exception)
        LOCK.release()


class Forward:
    """What a trace has recorded, as an operation.

    inputs: the traced arrays that it began with; edges: those of them that were leaves (None elsewhere); outputs: what it gave;
    have: the edges along which gradients of variables leave, as far as nodes do not say it; None where a variable may have been
    computed without history, which it would get were it computed again. constants: those of the trace that it knows no more.
    """

    def __init__(
        self, name: str, trace: Trace, inputs: Sequence[Traced], edges: Sequence[Any], outputs: Sequence[Any],
        have: dict[Variable, Any] | None, constants: dict[Variable, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.name, self._trace, self._edges = name, trace, list(edges)
        self._again = have is not None
        self.have = (have or {}) | {x.variable: edge for x, edge in zip(inputs, edges)}
        self._constants = constants or {}
        graph = self._graph(inputs, [bare(y) for y in outputs])
        self._inputs, self._count = graph.inputs, len(outputs)
        self.roots: list[Any] = [
            y._node if isinstance(y, Value) and type(producer(y._node)) in (Node, Accumulate) else None for y in outputs
        ]
        for node in _nodes(self.roots):
            self.have |= {v: edge for v, edge in _saved_edges(node) if edge is not None}
        self._pulls: dict[Any, tuple[Program, list[int | None]]] = {}
        self._measured: tuple[Measured, tuple[int, ...]] | None = None
        self._shared: dict[Any, list[tuple[Any, Graph, list[int | None]]]] = {}
        """Backward graphs of sizes that vary, with what has to hold of these."""
        self.complete = True
        """Whether all that backward programs begin with is known, and along which edges the gradients of it leave: what a user's
        function has put aside may be something else."""
        self.residuals, copied = self._needed(graph)
        """The variables that backward programs begin with."""
        given = {v: i for i, v in enumerate(self._inputs)}
        out = {v: i for i, v in reversed(list(enumerate(graph.outputs)))}
        extra = [v for v in self.residuals if (v not in given or v in copied) and v not in out]
        self.roots += [self.have.get(v) for v in extra]
        self.complete &= all(v in self.have or v.dtype.kind in "iub" for v in self.residuals)
        where = {v: ("output", len(outputs) + i) for i, v in enumerate(extra)}
        where |= {v: ("output", i) for v, i in out.items()} | {
            v: ("operand", i) for v, i in given.items() if v not in copied
        }  # fmt: skip
        self._where = [where[v] for v in self.residuals]
        """Where each of them is found in a call: among its operands or its outputs."""
        self._picked = tuple([i if kind == "operand" else len(self._inputs) + i for kind, i in self._where])
        """The same in one row of the operands and, behind them, the outputs."""
        self.program = Program(name, Graph(graph.inputs, graph.constants, graph.equations, (*graph.outputs, *extra)))
        self._call = _Call(name, self, 0)
        """What stands in the nodes of calls at the everyday tape."""
        self._every = tuple([i for i, edge in enumerate(self._edges) if edge is not None])
        self._foresight: Foresight | None = Foresight(len(graph.equations), len(self._inputs), self._joint)

    def _graph(self, inputs: Sequence[Traced], outputs: Sequence[Any]) -> Graph:
        graph = self._trace.graph(inputs, outputs)
        return Graph(graph.inputs, self._constants | graph.constants, graph.equations, graph.outputs)

    def at(self, measured: Measured, sizes: tuple[int, ...]) -> Forward:
        """The same for some sizes, of a trace in which they vary."""
        made = copy.copy(self)
        made._measured, made._pulls, made._call, made._foresight = (measured, sizes), {}, _Call(self.name, made, 0), None
        made.program = made._program(self.name, self.program.graph)
        return made

    def whole(self) -> None:
        """Make the graphs of the function and of all of its derivatives."""
        every = tuple([i for i, root in enumerate(self.roots[: self._count]) if root is not None])
        for program in (self.program, self._pull(every, self._every)[0]):
            program.graph  # noqa: B018 - it is made then

    def _program(self, name: str, graph: Graph) -> Program:
        if self._measured is None:
            return Program(name, graph)
        measured, sizes = self._measured
        made = functools.cache(lambda: measured.graph(graph, sizes))
        return Program(name, made, pipeline.Growing(made, measured.room))

    # ------------------------------------------------------------------------------------------ a call

    def called(self, arrays: list[Any], edges: list[Any], operands: Any, cls: type[Value], level: int) -> list[Value]:
        """The outputs for what is below a tape, as values of it, recorded."""
        plain = level == 0 and all(type(x) is _ndarray for x in arrays)
        outs, joint = self._outputs(arrays) if plain else (self.program(arrays), None)
        described = tuple([
            (y.shape, y.dtype) if type(y) is _ndarray else (tuple(shape_of(y)), dtype_of(y)) for y in outs[: len(self.roots)]
        ])  # fmt: skip
        node = self._node(outs, joint, arrays, tuple(edges), described, level)
        made = [
            make(cls, y, None if root is None else Slot(node, i, *node.outs[i]), level)
            for i, (y, root) in enumerate(zip(outs[: self._count], self.roots))
        ]
        if levels.mode_at(level) == WATCHED:
            bind.watched(node, cls, operands, tuple(made))
        return made

    def recorder(
        self, count: int, given: Sequence[int], captured: Sequence[Value], results: Sequence[tuple[int, type[Value]]],
        tree: TreeDef,
    ) -> Callable[..., Any]:  # fmt: skip
        """A function of so many arguments, tensors at level 0 over NumPy's arrays, that does what `called` does for those at some
        places, and tensors from outside after them; it gives a container of results, of each its output and its class.

        It is written out: in loops it would take half as long again, which is a microsecond."""
        scope: dict[str, Any] = {
            "outputs": self._outputs, "run": self.program.run, "Node": Node, "Slot": Slot, "tick": tick, "step": _step,
            "call": self._call, "none": _NONE,
            "outs": tuple([(v.shape, v.dtype) for v in self.program.graph.outputs]), "unflatten": unflatten, "tree": tree,
            "new": object.__new__, "foresight": self._foresight,
        }  # fmt: skip
        scope |= {f"c{k}": x for k, x in enumerate(captured)} | {f"class{k}": cls for k, (_, cls) in enumerate(results)}
        holders = [*[f"x{i}" for i in given], *[f"c{k}" for k in range(len(captured))]]
        arrays = [f"a{k}" for k in range(len(holders))]
        row = [*arrays, *(f"found[{k}]" for k in range(len(self.roots)))]
        lines = [
            f"def record({', '.join(f'x{i}' for i in range(count))}):",
            *[f"{a} = {x}._a" for a, x in zip(arrays, holders)],
            *_found(", ".join(arrays), self._foresight is not None),
            "node = Node()",
            "node.prim, node.params, node.outs, node.step = call, none, outs, step",
            f"node.edges = ({''.join(f'{x}._node, ' for x in holders)})",
            f"node.saved = ({''.join(f'{row[i]}, ' for i in self._picked)})",
            "if joint is not None:",
            "    node.ready = joint, found",
            "node.seq = tick()",
        ]
        for k, (at, _) in enumerate(results):
            edge = "None"
            if self.roots[at] is not None:
                edge = f"s{k}"
                lines += [
                    f"s{k} = new(Slot)", f"s{k}.node, s{k}.index = node, {at}", f"s{k}.shape, s{k}.dtype = shape{at}, dtype{at}"
                ]
                scope |= {f"shape{at}": scope["outs"][at][0], f"dtype{at}": scope["outs"][at][1]}
            lines += [f"y{k} = new(class{k})", f"y{k}._a, y{k}._node, y{k}._level = found[{at}], {edge}, 0"]
        made = ", ".join(f"y{k}" for k in range(len(results)))
        lines.append(f"return {made if tree.kind is None else f'unflatten(tree, [{made}])'}")
        exec(compile("\n    ".join(lines), "<retrograde call>", "exec"), scope)  # noqa: S102 - our own source
        record: Callable[..., Any] = scope["record"]
        if self._foresight is None:
            return record
        given_out = [(at, cls, self.roots[at] is not None) for at, cls in results]
        what = history.Recorded(
            given, captured, self._picked, self._call, _NONE, scope["outs"], _step, given_out, tree, record
        )  # fmt: skip
        return history.record(what, self._foresight, Joint) or record

    def _outputs(self, arrays: list[Any]) -> tuple[Sequence[Any], Joint | None]:
        """The outputs for NumPy's arrays, and what has computed gradients, too, if it has: they stand behind the outputs."""
        foresight = self._foresight
        if foresight is not None:
            ready = foresight.compute(arrays)
            if ready is not None:
                return ready[1], ready[0]
        return self.program.run(arrays), None

    def _node(
        self, outs: Sequence[Any], joint: Joint | None, arrays: Sequence[Any], edges: tuple[Any, ...], described: Any, level: int
    ) -> Node:  # fmt: skip
        """The node of a call."""
        node = Node()
        node.prim = _Call(self.name, self, level) if level else self._call
        node.params, node.edges, node.outs = _NONE, edges, described
        row = *arrays, *outs
        node.saved = tuple([row[i] for i in self._picked])
        if joint is not None:
            node.ready = joint, outs
        node.step, node.seq = _step, tick()
        return node

    def pulled(
        self, node: Node, saved: Sequence[Any], g: Sequence[Any], needs: Sequence[Any], create_graph: bool
    ) -> list[Any]:  # fmt: skip
        """The cotangents of the operands that are needed, from those of the outputs; with `create_graph` with their history."""
        present = tuple([i for i, part in enumerate(g) if part is not None and self.roots[i] is not None])
        asked = self._every if needs is node.edges else tuple([
            i for i, need in enumerate(needs) if need is not None and self._edges[i] is not None
        ])  # fmt: skip
        level = node.prim.level
        wrap = any(isinstance(part, Value) for part in g)
        foresight, ready = self._foresight, node.__dict__.pop("ready", None)
        if foresight is not None and len(present) == 1 and not (wrap or level) and _is_one(g[present[0]]):
            key = Key(present[0], asked)
            foresight.asked(key)
            if ready is not None and ready[0].key == key:
                return _placed(ready[0].places, ready[1], len(needs))
        if create_graph:
            lifted = []
            for (kind, i), array in zip(self._where, saved):
                edge = node.edges[i] if kind == "operand" else None if self.roots[i] is None else Slot(node, i, *node.outs[i])
                lifted.append(make(values.core_class, array, edge, level))
            saved = lifted
        program, places = self._pull(present, asked)
        found = program([*saved, *[g[i] for i in present]])
        if wrap:
            found = [values.as_value(values.core_class, y) for y in found]
        return _placed([(i, at) for i, at in zip(asked, places) if at is not None], found, len(needs))

    # ------------------------------------------------------------------------------------------ backward programs

    def _joint(self, key: Key) -> tuple[Graph, list[tuple[int, int]]] | None:
        """See `Foresight`."""
        graph, places = self._backward((key.output,), key.operands, None)
        whole, seed = self.program.graph, graph.inputs[0]
        have = {v for e in whole.equations for v in e.outputs}
        equations = [*whole.equations, *(e for e in graph.equations if have.isdisjoint(e.outputs))]
        constants = whole.constants | graph.constants | {seed: np.ones(seed.shape, seed.dtype)}
        found = {i: graph.outputs[at] for i, at in zip(key.operands, places) if at is not None}
        fits = all(v.shape == self._edges[i].shape and v.dtype == self._edges[i].dtype for i, v in found.items())
        if not fits or not {*whole.inputs, *constants}.isdisjoint(found.values()):  # what is no result would be given away
            return None
        joint = Graph(whole.inputs, constants, equations, (*whole.outputs, *found.values()))
        return joint, list(zip(found, range(len(whole.outputs), len(joint.outputs))))

    def _pull(self, present: tuple[int, ...], asked: tuple[int, ...]) -> tuple[Program, list[int | None]]:
        """The program for cotangents of some outputs and the gradients of some operands, and which of its outputs each is."""
        key = present, asked
        if key not in self._pulls:
            graph, places = self._of_sizes(present, asked)
            self._pulls[key] = self._program(f"{self.name}, backwards", graph), places
        return self._pulls[key]

    def _of_sizes(self, present: tuple[int, ...], asked: tuple[int, ...]) -> tuple[Graph, list[int | None]]:
        """The graph for cotangents of some outputs and gradients of some operands; one that other sizes have, where it holds."""
        if self._measured is None:
            return self._backward(present, asked, self.residuals)
        measured, sizes = self._measured
        known = self._shared.setdefault((present, asked), [])
        for conditions, graph, places in known:
            if measured.hold(sizes, conditions):
                return graph, places
        with LOCK:
            self._trace.measure(sizes)
            before, self._trace.conditions = self._trace.conditions, {}
            try:
                graph, places = self._backward(present, asked, self.residuals)
                known.append((list(self._trace.conditions.values()), graph, places))
            finally:
                self._trace.conditions = before
        return graph, places

    def _backward(
        self, present: Sequence[int], asked: Sequence[int], residuals: Sequence[Variable] | None
    ) -> tuple[Graph, list[int | None]]:  # fmt: skip
        return self.backward([self.roots[i] for i in present], asked, residuals)

    def backward(
        self, roots: Sequence[Any], asked: Sequence[int], residuals: Sequence[Variable] | None
    ) -> tuple[Graph, list[int | None]]:  # fmt: skip
        """The graph of the gradients of some operands from cotangents along some edges, and which of its outputs each is; its
        inputs are the residuals and the cotangents, or (None) the cotangents and all operands."""
        trace, wanted = self._trace, [self._edges[i] for i in asked]
        hooks = [edge.hooks for edge in wanted]
        with traced(trace, create_graph=False):
            seeds = [Traced(trace, Variable(edge.shape, edge.dtype)) for edge in roots]
            try:
                for edge in wanted:
                    edge.hooks = None  # they are called by the pass that the program runs
                found = engine.run(
                    roots, seeds, cls=values.core_class, inputs=wanted, retain_graph=True, accumulate=False
                ) if roots and wanted else [None] * len(wanted)
            finally:
                for edge, before in zip(wanted, hooks):
                    edge.hooks = before
            given = [bare(x) for x in found if x is not None]
            graph = self._graph(seeds, given)
        places = iter(range(len(given)))
        where = [None if x is None else next(places) for x in found]
        return _from(graph, [*(residuals or ()), *graph.inputs], self._inputs if residuals is None else ()), where

    def _needed(self, graph: Graph) -> tuple[list[Variable], set[Variable]]:
        """The residuals: what nodes have saved, which is enough for derivatives of every order, without what is computed from
        the rest by a few operations on elements; and whatever else a backward program begins with. And those of them that are
        copies of operands: nobody has saved these, and they may be written."""
        saved = dict.fromkeys(v for node in _nodes(self.roots) for v in _variables(node.saved))
        every = [i for i, root in enumerate(self.roots) if root is not None]
        asked = [i for i, edge in enumerate(self._edges) if edge is not None]
        backward, _ = self._backward(every, asked, None)
        made = graph.producers()
        inputs = set(self._inputs)
        order = {v: i for i, v in enumerate((*self._inputs, *(v for e in graph.equations for v in e.outputs)))}
        kept = {v for v in saved if v in order}
        theirs = inputs & kept
        for v in sorted(kept, key=order.__getitem__, reverse=True) if self._again else ():
            known = {*kept, *graph.constants} - {v}
            if _computed_again(v, made, known) is not None:
                kept.remove(v)
                continue
            if self._trace.sizes or v.size < _LARGE:
                continue
            small = {w for w in order if w.size * _SMALLER <= v.size and (w in self.have or w.dtype.kind in "iub")}
            found = _computed_again(v, made, known | small)
            if found is not None:  # from numbers of rows, say, which are kept instead
                kept.remove(v)
                kept |= found & small
        needed = _from(backward, sorted(kept, key=order.__getitem__), self._inputs)
        given = {*kept, *inputs, *backward.inputs, *needed.constants, *(v for e in needed.equations for v in e.outputs)}
        self.complete = given.issuperset(needed.uses())
        beyond = [v for v in needed.uses() if v in inputs and v not in kept]
        return sorted({*kept, *beyond}, key=order.__getitem__), inputs.intersection(kept).difference(theirs)


def _found(arrays: str, ahead: bool) -> list[str]:
    """The lines of a recorder that do what `Forward._outputs` does. ahead: whether gradients may be computed, too."""
    lines = [f"found, joint = outputs([{arrays}])"]
    if ahead:
        lines = [
            "joint = foresight.joint if foresight.pulled else None",
            "if joint is None:",
            f"    {lines[0]}",
            "else:",
            "    foresight.pulled = False",
            "    try:",
            f"        found = joint.run({arrays})",
            "    except Exception:",
            "        foresight.failed()",
            f"        found, joint = run([{arrays}]), None",
        ]
    return lines


def _placed(places: Sequence[tuple[int, int]], found: Sequence[Any], count: int) -> list[Any]:
    """The gradients of operands, None for those that have none."""
    results: list[Any] = [None] * count
    for i, at in places:
        results[i] = found[at]
    return results


def _is_one(g: Any) -> bool:
    """Whether a cotangent is a number, and 1."""
    return type(g) is _ndarray and g.size == 1 and g.dtype.kind == "f" and g.item() == 1.0


_NONE: dict[str, Any] = {}

MOST = 16
"""Equations that are computed again, at most, in place of one residual."""


_LARGE, _SMALLER = 1 << 12, 64
"""Elements of a residual from which on others are kept instead, and how many times smaller each of these is."""


def _computed_again(v: Variable, made: dict[Variable, Equation], known: set[Variable]) -> set[Variable] | None:
    """The known variables from which one follows by a few cheap equations; None where there are none such."""
    todo, seen, taken = [v], set[Variable](), set[Variable]()
    while todo:
        w = todo.pop()
        if w in known:
            taken.add(w)
        elif w not in seen:
            e = made.get(w)
            if e is None or not _cheap(e) or len(seen) == MOST:
                return None
            seen.add(w)
            todo += [x for x in e.inputs if x is not None]
    return taken


def _cheap(e: Equation) -> bool:
    """Whether an equation is computed again rather than kept: elements of the same number, a view, or an outer product."""
    if e.prim.multi or e.prim.name in ("copy", "draw"):
        return False
    if e.prim.name in ("matmul", "project") and e.inputs[0] is not None and e.inputs[0].ndim == 2:
        return e.inputs[0].shape[1] == 1
    return e.prim.kind == "elementwise" or e.prim.name in ("reshape", "transpose", "broadcast_to")


def _from(graph: Graph, begin: Sequence[Variable], also: Sequence[Variable] = ()) -> Graph:
    """The part of a graph that leads from some variables, which become its inputs, to its outputs."""
    given = [*begin, *(v for v in also if v not in set(begin))]
    have, wanted, left = set(given), set(graph.outputs) - set(given), list[Equation]()
    for e in reversed(graph.equations):
        if not wanted.isdisjoint(e.outputs):
            left.append(e)
            wanted.update(v for v in e.inputs if v is not None and v not in have)
    return Graph(given, graph.constants, left[::-1], graph.outputs).replaced(left[::-1])


def opaque(edges: Sequence[Any]) -> bool:
    """Whether the history behind some edges holds user's functions that do more than compute, or what hooks have packed."""
    return any((custom(node) and not _computes(node)) or node.packed is not None for node in _nodes(edges))


def hooked(edges: Sequence[Any]) -> bool:
    """Whether hooks were put on something in the history behind some edges, but for where it begins, that do more than compute
    another gradient."""
    for node in _nodes(edges):
        hooks = node.hooks
        if hooks is None:
            continue
        more = hooks.retain or hooks.pre or hooks.post or hooks.accumulated
        if more or not all(harmless(f) for fs in hooks.tensor.values() for f in fs.values()):
            return True
    return False


def custom(node: Node) -> bool:
    """Whether an operation is a user's function."""
    return not isinstance(node.prim, Primitive)


def has_custom(edges: Sequence[Any]) -> bool:
    """Whether the history behind some edges holds user's functions."""
    return any(map(custom, _nodes(edges)))


def _computes(node: Node) -> bool:
    """Whether the backward of a user's function, a class with a context, does nothing but compute."""
    backward = getattr(node.prim, "backward", None)
    if not isinstance(backward, functools.partial) or getattr(node, "ctx", None) is None or not backward.args:
        return False
    cls = backward.args[0]
    return isinstance(cls, type) and all(harmless(getattr(cls, name)) for name in ("backward", "vjp") if hasattr(cls, name))


def _nodes(roots: Sequence[Any]) -> Iterator[Node]:
    stack, seen = [producer(edge) for edge in roots if edge is not None], set[int]()
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack += [producer(edge) for edge in node.edges if edge is not None]


def end_of(edge: Any) -> Any:
    """The operation at the end of a history of which a pass has released something; None for one that can be pulled back."""
    end = producer(edge)
    return end if isinstance(end, Node) and any(node.saved is FREED for node in _nodes([edge])) else None


def used_up(end: Node, of_now: Callable[[Any], Any] = lambda shape: shape) -> Node:
    """An operation like one whose history has been released: a value that it gave still says what it comes from. of_now: what
    shapes of its results are, where sizes vary."""
    node = Node()
    node.prim, node.params, node.edges, node.saved = end.prim, end.params, (None,) * len(end.edges), FREED
    node.seq, node.step = tick(), None
    if end.prim.multi if isinstance(end.prim, Primitive) else False:
        node.outs = tuple([(of_now(shape), dtype) for shape, dtype in end.outs])
    else:
        node.shape, node.dtype = of_now(end.shape), end.dtype
    return node


def _saved_edges(node: Node) -> Iterator[tuple[Variable, Any]]:
    """The variables that an operation has saved, with the edges along which their gradients leave."""
    if node.saved is FREED:  # a pass inside has released them: a pull says so
        return
    if custom(node):
        context = getattr(node, "ctx", None)
        kept = () if context is None else context._restored() or ()
        yield from ((v, x._node) for x in kept if isinstance(x, Value) for v in _variables(x._a))
        return
    for x, edge in zip(node.saved, (*node.edges, node)):
        if type(x) is tuple:
            slots = [Slot(node, i, *node.outs[i]) for i in range(len(x))]
            yield from ((v, slot) for y, slot in zip(x, slots) for v in _variables(y) if slot.dtype.kind not in "iub")
        else:
            yield from ((v, edge) for v in _variables(x))


def _variables(saved: Any) -> Iterator[Variable]:
    """The variables among what a node has saved."""
    for x in saved if type(saved) is tuple else (saved,):
        if type(x) is tuple:
            yield from _variables(x)
        elif isinstance(x, Value):
            yield from _variables(x._a)
        elif type(x) is Traced:
            yield x.variable


class _Call(Custom):
    """What stands in the node of a call."""

    __slots__ = ("forward", "level")

    multi = True

    def __init__(self, name: str, forward: Forward, level: int) -> None:
        self.name, self.forward, self.level = name, forward, level

    @property
    def ends(self) -> Sequence[Any]:
        """The edge behind each output as the function itself has recorded it, None where there is none."""
        return self.forward.roots

    def pull(self, node: Node, saved: Any, g: Any, needs: Sequence[Any]) -> list[Any]:
        create_graph = any(isinstance(part, Value) for part in g) and levels.mode_at(self.level) != 0
        return self.forward.pulled(node, [_array(x, self.level) for x in saved], g, needs, create_graph)


def _step(node: Node, g: Any, grads: dict[Any, Any] | None, fit: Any, add: Any) -> Any:
    """`step` of a call's node (core/specialise.py): the pass keeps no history, whatever the mode still is."""
    found = {} if grads is None else grads
    for edge, r in zip(node.edges, node.prim.forward.pulled(node, node.saved, g, node.edges, False)):
        if r is not None and edge is not None:
            if r.shape != edge.shape or r.dtype is not edge.dtype:
                r = fit(r, edge)
            add(found, edge, r)
    return None if grads is not None else found.popitem() if len(found) == 1 else found


def _array(x: Any, level: int) -> Any:
    """What a node at a level has saved, as it was below the level."""
    return x._a if isinstance(x, Value) and x._level == level else x
