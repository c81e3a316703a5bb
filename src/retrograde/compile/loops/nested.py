"""Operations that run graphs: `scan`, `while_loop` and `cond` as primitives, with derivatives and batching made of their graphs.

The derivative of a loop is a loop over the derivative of its body: forwards beside it in forward mode, backwards over what the
turns have kept in reverse mode. So all orders and combinations follow from three operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..._errors import GradError
from ...core.arrays import full
from ...core.aval import Aval
from ...core.batched import BatchedArray
from ...core.bind import recorded
from ...core.dual import DualArray
from ...core.level import Level
from ...core.primitive import PRIMITIVES, primitive
from ...core.value import Value, dtype_of, shape_of
from ...ops.manipulation import stack, unstack
from ...ops.rules import batch_size, materialise_batch, move_batch
from ...ops.samples import normal, sample
from ...ops.structural import copy, reshape
from ..graph import Equation, Graph, Variable
from ..trace.trace import Trace, Traced
from ..versions.call import Forward, Program, bare, traced

_ndarray = np.ndarray

# ------------------------------------------------------------------------------------------ derivatives of graphs


def _floating(v: Variable) -> bool:
    return v.dtype.kind not in "iub"


def _in_trace(name: str, graph: Graph, marked: Sequence[bool], level: Level, inside: Callable[..., Any]) -> Any:
    """The trace of a graph's operations on arrays that `inside` makes for the inputs that are marked; what these begin with, and
    what comes out."""
    with traced(Trace(name)) as trace, level.open():
        given: list[Traced] = []

        def begin(v: Variable) -> Traced:
            given.append(Traced(trace, Variable(v.shape, v.dtype)))
            return given[-1]

        plain = [begin(v) for v in graph.inputs] if inside is _dual else None
        arrays = []
        for k, (v, mark) in enumerate(zip(graph.inputs, marked)):
            x = plain[k] if plain is not None else None
            arrays.append(inside(begin, v, x, level.id) if mark else begin(v) if x is None else x)
        return trace, given, [bare(y) for y in graph.run(*arrays)]


def _dual(begin: Callable[[Variable], Traced], v: Variable, x: Any, level: int) -> DualArray:
    return DualArray(x, begin(v), level)


def pushed(graph: Graph, moving: Sequence[bool], also: Sequence[bool]) -> tuple[Graph, list[bool]]:
    """The graph of outputs and tangents, from inputs and after them tangents of those that move; and which outputs move. Those
    in `also` get a tangent in any case."""
    level = Level("jvp")
    trace, given, outs = _in_trace("jvp", graph, moving, level, _dual)
    primals, tangents, found = [], list[Any](), []
    for y, v, wanted in zip(outs, graph.outputs, also):
        own = type(y) is DualArray and y._level == level.id
        primals.append(bare(y.primal) if own else y)
        moves = own and y.tangent is not None
        found.append(moves)
        if moves:
            tangents.append(bare(y.tangent))
        elif wanted:
            tangents.append(_zeros(v))
    return _closed(trace, given, [*primals, *tangents]), found


def batched(graph: Graph, marked: Sequence[bool], size: int, also: Sequence[bool]) -> tuple[Graph, list[bool]]:
    """The graph of arrays with a batch in front, from inputs of which those that are marked have one; and which outputs have one
    by themselves. Those in `also` get one in any case."""
    level = Level("vmap")
    level.batch_size = size

    def inside(begin: Callable[[Variable], Traced], v: Variable, _x: Any, at: int) -> BatchedArray:
        return BatchedArray(begin(Variable((size, *v.shape), v.dtype)), 0, at)

    trace, given, outs = _in_trace("vmap", graph, marked, level, inside)
    results, found = [], []
    with traced(trace):
        for y, wanted in zip(outs, also):
            own = type(y) is BatchedArray and y._level == level.id
            found.append(own)
            if own:
                results.append(bare(move_batch(bare(y.content), y.dim)))
            else:
                results.append(bare(materialise_batch(y, None, size)) if wanted else y)
    return _closed(trace, given, results), found


def _closed(trace: Trace, given: Sequence[Traced], outputs: Sequence[Any]) -> Graph:
    return trace.graph(given, outputs)


def _zeros(v: Variable) -> np.ndarray:
    return np.broadcast_to(np.zeros((), v.dtype), v.shape)


def _reached(graph: Graph, wanted: Sequence[bool]) -> list[bool]:
    """Which outputs may depend differentiably on the inputs that are wanted."""
    live = {v for v, w in zip(graph.inputs, wanted) if w}
    for e in graph.equations:
        if e.prim.differentiable and e.prim.name != "stop_gradient" and not live.isdisjoint(e.inputs):
            live.update(v for v in e.outputs if _floating(v))
    return [v in live for v in graph.outputs]


_AGAIN = frozenset({"elementwise", "structural", "reduction"})


def _cheap(graph: Graph) -> bool:
    """Whether what a graph computes is rather computed again than kept: elements, and what is moved or added up of them."""
    return all(e.prim.kind in _AGAIN for e in graph.equations)


# ------------------------------------------------------------------------------------------ scan


class Running:
    """What an operation runs, and what is made of that once: code, derivatives."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def known(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made once for a key."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


class Loop(Running):
    """What a scan does: `graph`, whose inputs are the constants, what is carried and one element of each sequence, and whose
    outputs what is carried on and one element of each result; so many times (`length`), over the sequences from the end where
    `reverse`. keeps: whether what the backward pass needs of a turn is kept, or else computed again from what is carried."""

    def __init__(
        self, graph: Graph, consts: int, carries: int, length: int, reverse: bool = False, pull: Pullback | None = None,
        name: str = "scan",
    ) -> None:  # fmt: skip
        self.graph, self.consts, self.carries, self.length, self.reverse = graph, consts, carries, length, reverse
        self.pull, self.name = pull, name
        super().__init__()

    def __repr__(self) -> str:
        return f"{self.length} times{' from the end' if self.reverse else ''}"

    def graphs(self) -> Iterable[tuple[str, Graph]]:
        """The graphs that it runs, by what they are: for texts."""
        return [("body", self.graph)]

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """What is said of the inputs of the graph, of constants, what is carried, and sequences."""
        return list(xs[: self.consts]), list(xs[self.consts : self.consts + self.carries]), list(xs[self.consts + self.carries :])

    def closed(self, marked: Sequence[bool], step: Callable[[list[bool]], Sequence[bool]]) -> list[bool]:
        """The marks of the inputs when what is carried is marked where an output is, which `step` says for marked inputs."""
        found = list(marked)
        while True:
            outs = step(found)
            new = [a or b for a, b in zip(found[self.consts : self.consts + self.carries], outs)]
            if new == found[self.consts : self.consts + self.carries]:
                return found
            found[self.consts : self.consts + self.carries] = new

    def pullback(self, wanted: Sequence[bool]) -> Pullback:
        """The reverse mode for operands that want a gradient."""
        marks = [w and _floating(v) for w, v in zip(wanted, self.graph.inputs)]
        marks = self.closed(marks, lambda now: _reached(self.graph, now)[: self.carries])
        found: Pullback = self.known(("pullback", *marks), lambda: Pullback(self, marks))
        return found


class Pullback:
    """The reverse mode of a loop, for inputs of its graph that want a gradient.

    loop: the same loop with results more: of each turn what the backward pass begins with and is no operand.
    """

    def __init__(self, loop: Loop, wanted: Sequence[bool]) -> None:
        self.wanted, self._of = list(wanted), loop
        self._asked = [i for i, w in enumerate(wanted) if w]
        self._forward: Forward = Program(loop.name, loop.graph).forward(tuple(self._asked))
        program = self._forward.program.graph
        outputs = program.outputs[: len(loop.graph.outputs)]
        self._roots = self._forward.roots[: len(outputs)]
        consts, carried, sequences = loop.parts(program.inputs)
        given = {*consts, *sequences}
        again = _cheap(loop.graph)
        begin = list(program.inputs) if again else list(dict.fromkeys([*self._forward.residuals, *carried]))
        kept: list[Variable] = []
        while True:
            roots = [r for r in (*self._roots, *map(self._forward.have.get, kept)) if r is not None]
            used = self._forward.backward(roots, self._asked, begin)[0].uses()
            more = [v for v in begin if v in used and v not in given and v not in kept]
            if not more:
                break
            kept += more
        self._begin = [v for v in begin if v in given or v in kept]
        self._roots += [self._forward.have.get(v) for v in kept]
        self._kept = {v: len(outputs) + k for k, v in enumerate(kept)}
        extended = Graph(program.inputs, program.constants, program.equations, (*outputs, *kept))
        self.loop = Loop(extended, loop.consts, loop.carries, loop.length, loop.reverse, self, loop.name)

    def __call__(self, needs: Sequence[bool], g: Sequence[Any], out: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents of the operands that need one, from those of the outputs of `loop`."""
        loop = self.loop
        present = tuple([j for j in range(loop.carries, len(g)) if g[j] is not None and self._roots[j] is not None])
        asked = tuple([i for i in self._asked if needs[i] or loop.consts <= i < loop.consts + loop.carries])
        backward: _Backward = loop.known((present, asked), lambda: _Backward(self, present, asked))
        given = [operands[i] for i in backward.consts]
        for i in asked:
            j = i - loop.consts
            if i < loop.consts or (j < loop.carries and g[j] is None):
                v = loop.graph.inputs[i]
                like = next(x for x in (*g, *operands) if x is not None)
                given.append(full(v.shape, 0, v.dtype, like))
            elif j < loop.carries:
                given.append(g[j])
        given += [out[j] if kind == "out" else operands[j] for kind, j in backward.sequences]
        given += [g[j] for j in present]
        found = apply(backward.loop, given)
        results: list[Any] = [None] * len(operands)
        for i, k in backward.places.items():
            if needs[i]:
                results[i] = found[k]
        return tuple(results)

    def backward(self, present: Sequence[int], asked: Sequence[int]) -> tuple[Graph, list[int | None], list[int]]:
        """The graph of the gradients of inputs of a turn, from the variables that it begins with and cotangents of some outputs,
        which are the last: which of its outputs is which gradient, and the outputs."""
        loop = self.loop
        carried = [i - loop.consts for i in asked if loop.consts <= i < loop.consts + loop.carries]
        ends = [j for j in (*carried, *present) if self._roots[j] is not None]
        graph, places = self._forward.backward([self._roots[j] for j in ends], asked, self._begin)
        return graph, places, ends

    def source(self, v: Variable) -> tuple[str, int]:
        """Where a variable that a backward graph begins with is found: among the "const" or the "sequence" operands, or "out"."""
        loop = self.loop
        if v in self._kept:
            return "out", self._kept[v]
        i = loop.graph.inputs.index(v)
        return ("const" if i < loop.consts else "sequence"), i


class _Backward:
    """The backward loop for some cotangents and operands.

    consts, sequences: where what it is given is found. places: which of its outputs is the cotangent of which operand.
    """

    def __init__(self, pull: Pullback, present: Sequence[int], asked: Sequence[int]) -> None:
        of = pull.loop
        graph, places, ends = pull.backward(present, asked)
        first = len(graph.inputs) - len(ends)
        begin, seeds = graph.inputs[:first], dict(zip(ends, graph.inputs[first:]))
        used = graph.uses()
        sources = [(v, *pull.source(v)) for v in begin if v in used]
        self.consts = [i for _, kind, i in sources if kind == "const"]
        self.sequences = [(kind, i) for _, kind, i in sources if kind != "const"]
        constants, equations = dict(graph.constants), list(graph.equations)
        found = {i: None if at is None else graph.outputs[at] for i, at in zip(asked, places)}

        def gradient(i: int) -> Variable:
            v = found[i]
            if v is None:
                v = Variable(of.graph.inputs[i].shape, of.graph.inputs[i].dtype)
                constants[v] = _zeros(v)
            return v

        carried: list[Variable] = []
        on: list[Variable] = []
        results: list[Variable] = []
        self.places: dict[int, int] = {}
        count = sum(i < of.consts + of.carries for i in asked)
        for i in asked:
            like = of.graph.inputs[i]
            if i < of.consts:  # added up
                total, new = Variable(like.shape, like.dtype), Variable(like.shape, like.dtype)
                equations.append(Equation(PRIMITIVES["add"], [total, gradient(i)], {}, [new]))
                carried.append(total)
                on.append(new)
                self.places[i] = len(carried) - 1
            elif i < of.consts + of.carries:
                carried.append(seeds.get(i - of.consts) or Variable(like.shape, like.dtype))
                on.append(gradient(i))
                self.places[i] = len(carried) - 1
            else:
                self.places[i] = count + len(results)
                results.append(gradient(i))
        inputs = [
            *(v for v, kind, _ in sources if kind == "const"), *carried, *(v for v, kind, _ in sources if kind != "const"),
            *(seeds[j] for j in present),
        ]  # fmt: skip
        body = Graph(inputs, constants, equations, [*on, *results]).replaced(equations)
        self.loop = Loop(body, len(self.consts), len(carried), of.length, not of.reverse, name=f"{of.name}, backwards")


def apply(loop: Loop, operands: Sequence[Any]) -> Sequence[Any]:
    """The results of a loop; where they are recorded, with what the backward pass needs beside them."""
    wanted = [isinstance(x, Value) and x._node is not None for x in operands]
    if loop.pull is None and any(wanted) and recorded(*operands):
        found: Sequence[Any] = scan(*operands, loop=loop.pullback(wanted).loop)
        return found[: len(loop.graph.outputs)]
    return tuple(scan(*operands, loop=loop))


def _scan_kernel(xp: Any, *operands: Any, loop: Loop) -> tuple[Any, ...]:
    consts, carried, sequences = loop.parts(operands)
    if not loop.length:
        return (*map(copy, carried), *(full((0, *v.shape), 0, v.dtype, operands[0]) for v in loop.graph.outputs[loop.carries :]))
    elements = [unstack(x, axis=0) for x in sequences]
    found: list[Any] = [None] * loop.length
    order = range(loop.length)
    for t in reversed(order) if loop.reverse else order:
        outs = loop.graph.run(*consts, *carried, *(x[t] for x in elements))
        carried, found[t] = outs[: loop.carries], outs[loop.carries :]
    results = [stack(*column, axis=0) for column in zip(*found)]
    return (*map(copy, carried), *results)


def _scan_numpy(*operands: Any, loop: Loop) -> tuple[np.ndarray, ...]:
    from ..emit import loops

    code = loop.known("code", lambda: loops.scanning(loop))
    found: tuple[np.ndarray, ...] = code(*operands)
    return found


def _infer_scan(avals: Sequence[Any], params: dict[str, Any]) -> tuple[Aval, ...]:
    loop: Loop = params["loop"]
    if len(avals) != len(loop.graph.inputs):
        raise ValueError(f"scan: the body has {len(loop.graph.inputs)} inputs, and {len(avals)} are given")
    first = loop.consts + loop.carries
    for i, (a, v) in enumerate(zip(avals, loop.graph.inputs)):
        shape = v.shape if i < first else (loop.length, *v.shape)
        if tuple(a.shape) != shape or a.dtype != v.dtype:
            raise ValueError(f"scan: operand {i} is {a.dtype}{list(a.shape)}, and the body is for {v.dtype}{list(shape)}")
    return tuple([
        Aval(v.shape if j < loop.carries else (loop.length, *v.shape), v.dtype) for j, v in enumerate(loop.graph.outputs)
    ])  # fmt: skip


def _scan_vjp(needs: Any, g: Any, out: Any, *operands: Any, loop: Loop) -> tuple[Any, ...]:
    pull = loop.pull
    if pull is None or any(need and not w for need, w in zip(needs, pull.wanted)):
        pull = loop.pullback(needs)
        out = apply(pull.loop, operands)
        g = (*g, *(None,) * (len(out) - len(g)))
    return pull(needs, g, out, operands)


def _scan_jvp(tangents: Sequence[Any], out: Any, *operands: Any, loop: Loop) -> Any:
    graph = loop.graph
    given = [t is not None and _floating(v) for t, v in zip(tangents, graph.inputs)]
    none = [False] * len(graph.outputs)

    def made() -> tuple[Loop, list[bool], list[bool]]:
        moving = loop.closed(given, lambda now: pushed(graph, now, none)[1][: loop.carries])
        consts, carried, _ = loop.parts(moving)
        inner, found = pushed(graph, moving, [*carried, *none[loop.carries :]])
        found[: loop.carries] = carried
        mc, mk = sum(consts), sum(carried)
        c, k = loop.consts, loop.carries
        ins, outs, n = inner.inputs, inner.outputs, len(graph.inputs)
        inputs = [
            *ins[:c], *ins[n : n + mc], *ins[c : c + k], *ins[n + mc : n + mc + mk], *ins[c + k : n], *ins[n + mc + mk :]
        ]  # fmt: skip
        m = len(graph.outputs)
        results = [*outs[:k], *outs[m : m + mk], *outs[m + mk :]]
        body = Graph(inputs, inner.constants, inner.equations, results)
        return Loop(body, c + mc, k + mk, loop.length, loop.reverse, name=loop.name), moving, found

    pushed_loop, moving, found = loop.known(("jvp", *given), made)
    like = next(t for t in tangents if t is not None)
    moved = [
        t if t is not None else full(tuple(shape_of(x)), 0, dtype_of(x), like)
        for x, t, m in zip(operands, tangents, moving) if m
    ]  # fmt: skip
    cs, ks, xs = loop.parts(list(operands))
    mc, mk, _ = (sum(part) for part in loop.parts(moving))
    outs = iter(apply(pushed_loop, [*cs, *moved[:mc], *ks, *moved[mc : mc + mk], *xs, *moved[mc + mk :]])[loop.carries :])
    return tuple([next(outs) if moves else None for moves in found])


def _scan_batch(op: Any, arrays: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> Any:
    loop: Loop = params["loop"]
    size, graph = batch_size(arrays, dims), loop.graph
    given = [d is not None for d in dims]
    none = [False] * len(graph.outputs)

    def made() -> tuple[Loop, list[bool], list[bool]]:
        marked = loop.closed(given, lambda now: batched(graph, now, size, none)[1][: loop.carries])
        carried = loop.parts(marked)[1]
        inner, found = batched(graph, marked, size, [*carried, *none[loop.carries :]])
        found[: loop.carries] = carried
        return Loop(inner, loop.consts, loop.carries, loop.length, loop.reverse, name=loop.name), marked, found

    batched_loop, marked, found = loop.known(("vmap", size, *given), made)
    first = loop.consts + loop.carries
    operands = []
    for i, (x, d, m) in enumerate(zip(arrays, dims, marked)):
        if d is not None:
            operands.append(move_batch(x, d, 0 if i < first else 1))
        else:
            operands.append(materialise_batch(x, None, size) if m else x)
    outs = apply(batched_loop, operands)
    return tuple(outs), tuple([None if not b else 0 if j < loop.carries else 1 for j, b in enumerate(found)])


def _loop_samples() -> Any:
    """A turn of a damped oscillation with a constant, a sequence and a result; the same from the end."""
    from ...ops.elementwise import multiply, sin

    v = [Variable((2,), np.dtype(np.float64)) for _ in range(6)]
    k, c, x, a, b, y = v
    equations = [
        Equation(multiply.prim, [k, c], {}, [a]), Equation(PRIMITIVES["add"], [a, x], {}, [b]),
        Equation(sin.prim, [b], {}, [y]),
    ]  # fmt: skip
    graph = Graph([k, c, x], {}, equations, [b, y])
    for reverse in (False, True):
        yield sample(normal(2), normal(2, seed=1), normal(3, 2), loop=Loop(graph, 1, 1, 3, reverse))


# The last of what is carried, and of each result of a turn the stack.
scan = primitive(
    "scan", kernel=_scan_kernel, numpy=_scan_numpy, vjp=_scan_vjp, jvp=_scan_jvp, batch=_scan_batch, infer=_infer_scan,
    multi=True, kind="control", samples=_loop_samples,
)  # fmt: skip


# ------------------------------------------------------------------------------------------ cond


class Choice(Running):
    """What a choice does: two graphs of the same inputs and outputs; `then` runs where the truth holds."""

    def __init__(self, then: Graph, otherwise: Graph) -> None:
        self.then, self.otherwise = then, otherwise
        super().__init__()

    def __repr__(self) -> str:
        return "one of two"

    def graphs(self) -> Iterable[tuple[str, Graph]]:
        """The graphs that it runs, by what they are: for texts."""
        return [("then", self.then), ("otherwise", self.otherwise)]

    def pulled(self, present: Sequence[int], asked: Sequence[int]) -> Choice:
        """The choice of the gradients of operands, from the operands and cotangents of outputs."""
        return Choice(_pulled(self.then, present, asked), _pulled(self.otherwise, present, asked))


def _pulled(graph: Graph, present: Sequence[int], asked: Sequence[int]) -> Graph:
    """The gradients of some inputs, from all inputs and cotangents of some outputs."""
    forward = Program("cond", graph).forward(tuple(asked))
    ends = [j for j in present if forward.roots[j] is not None]
    found, places = forward.backward([forward.roots[j] for j in ends], asked, graph.inputs)
    seeds = dict(zip(ends, found.inputs[len(graph.inputs) :]))
    constants, outputs = dict(found.constants), list[Variable]()
    for i, at in zip(asked, places):
        v = Variable(graph.inputs[i].shape, graph.inputs[i].dtype) if at is None else found.outputs[at]
        if at is None:
            constants[v] = _zeros(v)
        outputs.append(v)
    inputs = [seeds.get(j) or Variable(graph.outputs[j].shape, graph.outputs[j].dtype) for j in present]
    return Graph([*graph.inputs, *inputs], constants, found.equations, outputs).replaced(found.equations)


def _cond_kernel(xp: Any, pred: Any, *operands: Any, choice: Choice) -> tuple[Any, ...]:
    return tuple([copy(y) for y in (choice.then if bool(pred) else choice.otherwise).run(*operands)])


def _cond_numpy(pred: np.ndarray, *operands: Any, choice: Choice) -> tuple[np.ndarray, ...]:
    from ..emit import loops

    if pred:
        code = choice.known(True, lambda: loops.of_graph(choice.then))
    else:
        code = choice.known(False, lambda: loops.of_graph(choice.otherwise))
    return tuple(code(*operands))


def _infer_cond(avals: Sequence[Any], params: dict[str, Any]) -> tuple[Aval, ...]:
    choice: Choice = params["choice"]
    if tuple(avals[0].shape) or np.dtype(avals[0].dtype).kind != "b":
        raise ValueError(f"cond: wanted one truth, got {avals[0].dtype}{list(avals[0].shape)}")
    for graph in (choice.then, choice.otherwise):
        _matching("cond", graph, avals[1:])
    return tuple([Aval(v.shape, v.dtype) for v in choice.then.outputs])


def _matching(name: str, graph: Graph, avals: Sequence[Any]) -> None:
    for i, (a, v) in enumerate(zip(avals, graph.inputs, strict=True)):
        if tuple(a.shape) != v.shape or a.dtype != v.dtype:
            raise ValueError(f"{name}: operand {i} is {a.dtype}{list(a.shape)}, and the function is for {v!r}")


def _cond_vjp(needs: Any, g: Any, _out: Any, pred: Any, *operands: Any, choice: Choice) -> tuple[Any, ...]:
    present = tuple([j for j, x in enumerate(g) if x is not None])
    asked = tuple([i for i, v in enumerate(choice.then.inputs) if needs[i + 1] and _floating(v)])
    pulled = choice.known(("vjp", present, asked), lambda: choice.pulled(present, asked))
    found = cond(pred, *operands, *(g[j] for j in present), choice=pulled) if asked else ()
    results: list[Any] = [None] * (len(operands) + 1)
    for i, x in zip(asked, found):
        results[i + 1] = x
    return tuple(results)


def _cond_jvp(tangents: Sequence[Any], out: Any, pred: Any, *operands: Any, choice: Choice) -> Any:
    moving = [t is not None and _floating(v) for t, v in zip(tangents[1:], choice.then.inputs)]

    def made() -> tuple[Choice, list[bool]]:
        none = [False] * len(choice.then.outputs)
        found = [a or b for a, b in zip(*(pushed(graph, moving, none)[1] for graph in (choice.then, choice.otherwise)))]
        graphs = []
        for graph in (choice.then, choice.otherwise):
            inner = pushed(graph, moving, found)[0]
            graphs.append(inner.replaced(inner.equations, inner.outputs[len(graph.outputs) :]))
        return Choice(*graphs), found

    inner, found = choice.known(("jvp", *moving), made)
    outs = iter(cond(pred, *operands, *(t for t, m in zip(tangents[1:], moving) if m), choice=inner) if any(found) else ())
    return tuple([next(outs) if moves else None for moves in found])


def _cond_batch(op: Any, arrays: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> Any:
    choice: Choice = params["choice"]
    size, marked = batch_size(arrays, dims), [d is not None for d in dims[1:]]
    every = dims[0] is not None  # another choice for each entry: both are computed

    def made() -> tuple[Choice, list[bool]]:
        none = [False] * len(choice.then.outputs)
        found = [a or b for a, b in zip(*(batched(g, marked, size, none)[1] for g in (choice.then, choice.otherwise)))]
        if every:
            found = [True] * len(found)
        return Choice(*(batched(g, marked, size, found)[0] for g in (choice.then, choice.otherwise))), found

    inner, found = choice.known(("vmap", size, every, *marked), made)
    operands = [move_batch(x, d) for x, d in zip(arrays[1:], dims[1:])]
    if not every:
        return op(arrays[0], *operands, choice=inner), tuple([0 if b else None for b in found])
    pred, where = move_batch(arrays[0], dims[0]), PRIMITIVES["where"].op
    outs = []
    for x, y in zip(inner.then.run(*operands), inner.otherwise.run(*operands)):
        truth = reshape(pred, shape=(size, *(1,) * (len(shape_of(x)) - 1)))
        outs.append(where(truth, x, y))
    return tuple(outs), (0,) * len(outs)


def _choice_samples() -> Any:
    from ...ops.elementwise import multiply, sin

    x, k, a = (Variable((2,), np.dtype(np.float64)) for _ in range(3))
    y, n, b = x, k, Variable((2,), np.dtype(np.float64))
    then = Graph([x, k], {}, [Equation(multiply.prim, [x, k], {}, [a])], [a])
    otherwise = Graph([y, n], {}, [Equation(sin.prim, [y], {}, [b])], [b])
    for truth in (True, False):
        yield sample(np.asarray(truth), normal(2), normal(2, seed=1), choice=Choice(then, otherwise))


# What one of two graphs gives for the operands.
cond = primitive(
    "cond", kernel=_cond_kernel, numpy=_cond_numpy, vjp=_cond_vjp, jvp=_cond_jvp, batch=_cond_batch, infer=_infer_cond,
    multi=True, kind="control", samples=_choice_samples,
)  # fmt: skip


# ------------------------------------------------------------------------------------------ while_loop


class While(Running):
    """What a loop of unknown length does: `condition`, a graph of its constants and what is carried that gives a truth, and
    `body`, one of other constants and what is carried that gives what is carried on. consts: how many constants each has."""

    def __init__(self, condition: Graph, body: Graph, consts: tuple[int, int]) -> None:
        self.condition, self.body, self.consts = condition, body, consts
        super().__init__()

    def __repr__(self) -> str:
        return "while it holds"

    def graphs(self) -> Iterable[tuple[str, Graph]]:
        """The graphs that it runs, by what they are: for texts."""
        return [("condition", self.condition), ("body", self.body)]

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """What is said of the operands: the condition's constants, the body's, and what is carried."""
        a, b = self.consts
        return list(xs[:a]), list(xs[a : a + b]), list(xs[a + b :])


def _while_kernel(xp: Any, *operands: Any, loop: While) -> tuple[Any, ...]:
    first, consts, carried = loop.parts(operands)
    while bool(loop.condition.run(*first, *carried)[0]):
        carried = loop.body.run(*consts, *carried)
    return tuple(map(copy, carried))


def _while_numpy(*operands: Any, loop: While) -> tuple[np.ndarray, ...]:
    from ..emit import loops

    code = loop.known("code", lambda: loops.repeating(loop))
    found: tuple[np.ndarray, ...] = code(*operands)
    return found


def _infer_while(avals: Sequence[Any], params: dict[str, Any]) -> tuple[Aval, ...]:
    loop: While = params["loop"]
    first, consts, carried = loop.parts(avals)
    _matching("while_loop", loop.condition, [*first, *carried])
    _matching("while_loop", loop.body, [*consts, *carried])
    return tuple([Aval(tuple(a.shape), a.dtype) for a in carried])


def _while_vjp(needs: Any, g: Any, _out: Any, *operands: Any, loop: While) -> Any:
    raise GradError(
        "while_loop: reverse mode has to go back over the turns, and how many there are is not known; use scan, of as many "
        "turns as there may be at most, with cond or where() for those that are to change nothing, or forward mode (jvp)"
    )


def _while_jvp(tangents: Sequence[Any], out: Any, *operands: Any, loop: While) -> Any:
    first, consts, carried = loop.parts([t is not None and _floating_of(x) for t, x in zip(tangents, operands)])

    def made() -> tuple[While, list[bool]]:
        moving = list(carried)
        while True:
            found = pushed(loop.body, [*consts, *moving], [False] * len(moving))[1]
            new = [a or b for a, b in zip(moving, found)]
            if new == moving:
                break
            moving = new
        inner = pushed(loop.body, [*consts, *moving], moving)[0]
        b, n, mc = len(consts), len(loop.body.inputs), sum(consts)
        ins = inner.inputs
        body = Graph([*ins[:b], *ins[n : n + mc], *ins[b:n], *ins[n + mc :]], inner.constants, inner.equations, inner.outputs)
        more = [Variable(v.shape, v.dtype) for v, m in zip(loop.condition.inputs[len(first) :], moving) if m]
        condition = Graph(
            [*loop.condition.inputs, *more], loop.condition.constants, loop.condition.equations, loop.condition.outputs
        )  # fmt: skip
        return While(condition, body, (len(first), b + mc)), moving

    inner, moving = loop.known(("jvp", *consts, *carried), made)
    like = next(t for t in tangents if t is not None)
    fs, cs, ks = loop.parts(list(operands))
    _, ct, kt = loop.parts(list(tangents))
    given = [t for t, m in zip(ct, consts) if m]
    moved = [
        t if t is not None else full(tuple(shape_of(x)), 0, dtype_of(x), like) for x, t, m in zip(ks, kt, moving) if m
    ]  # fmt: skip
    outs = iter(while_loop(*fs, *cs, *given, *ks, *moved, loop=inner)[len(ks) :])
    return tuple([next(outs) if m else None for m in moving])


def _floating_of(x: Any) -> bool:
    return dtype_of(x).kind not in "iub"


def _while_batch(op: Any, arrays: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> Any:
    loop: While = params["loop"]
    size = batch_size(arrays, dims)
    first, consts, carried = loop.parts([d is not None for d in dims])

    def made() -> tuple[While, list[bool]]:
        marked = list(carried)
        none = [False] * len(marked)
        while True:
            each = batched(loop.condition, [*first, *marked], size, [False])[1][0]
            new = [True] * len(marked) if each else marked
            found = batched(loop.body, [*consts, *new], size, none)[1]
            new = [a or b for a, b in zip(new, found)]
            if new == marked:
                break
            marked = new
        body = batched(loop.body, [*consts, *marked], size, marked)[0]
        condition = batched(loop.condition, [*first, *marked], size, [False])[0]
        if not each:
            return While(condition, body, loop.consts), marked
        return _stopping(condition, body, loop.consts, size), marked

    inner, marked = loop.known(("vmap", size, *first, *consts, *carried), made)
    fs, cs, ks = loop.parts([move_batch(x, d) for x, d in zip(arrays, dims)])
    _, _, kd = loop.parts(list(dims))
    ks = [materialise_batch(x, None, size) if m and d is None else x for x, d, m in zip(ks, kd, marked)]
    if len(inner.condition.inputs) != len(loop.condition.inputs) or inner.consts != loop.consts:
        cs = [*fs, *cs]
    return op(*fs, *cs, *ks, loop=inner), tuple([0 if m else None for m in marked])


def _stopping(condition: Graph, body: Graph, consts: tuple[int, int], size: int) -> While:
    """The loop of a batch that goes on as long as one entry does, and changes those only for which the condition holds."""
    a, b = consts
    (truths,) = condition.outputs
    whole = Variable((), truths.dtype)
    going = condition.replaced(
        [*condition.equations, Equation(PRIMITIVES["any"], [truths], {"axis": (0,), "keepdims": False}, [whole])], [whole]
    )  # fmt: skip
    # The condition once more inside the body: of the same variables for what is carried.
    place = dict(zip(condition.inputs[a:], body.inputs[b:]))
    inner = _renamed(condition, place)
    equations, outputs = [*inner.equations, *body.equations], []
    for old, new in zip(body.inputs[b:], body.outputs):
        shaped = Variable((size, *(1,) * (new.ndim - 1)), truths.dtype)
        equations.append(Equation(reshape.prim, [inner.outputs[0]], {"shape": shaped.shape}, [shaped]))
        chosen = Variable(new.shape, new.dtype)
        equations.append(Equation(PRIMITIVES["where"], [shaped, new, old], {}, [chosen]))
        outputs.append(chosen)
    inputs = [*inner.inputs[:a], *body.inputs]
    return While(going, Graph(inputs, inner.constants | body.constants, equations, outputs).replaced(equations), (a, a + b))


def _renamed(graph: Graph, place: dict[Variable, Variable]) -> Graph:
    """The graph with variables of its own but for those that have a place."""
    new = dict(place)
    for v in (*graph.inputs, *graph.constants, *(v for e in graph.equations for v in e.outputs)):
        new.setdefault(v, Variable(v.shape, v.dtype))
    equations = [
        Equation(e.prim, [None if v is None else new[v] for v in e.inputs], e.params, [new[v] for v in e.outputs], e.at)
        for e in graph.equations
    ]  # fmt: skip
    return Graph(
        [new[v] for v in graph.inputs], {new[v]: x for v, x in graph.constants.items()}, equations,
        [new[v] for v in graph.outputs],
    )  # fmt: skip


# What is carried when the condition no longer holds.
while_loop = primitive(
    "while_loop", kernel=_while_kernel, numpy=_while_numpy, vjp=_while_vjp, jvp=_while_jvp, batch=_while_batch,
    infer=_infer_while, multi=True, kind="control", samples=tuple,
)  # fmt: skip
