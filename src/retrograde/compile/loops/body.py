"""The graph of a function that is a part of another graph: the body of a loop, the branches of a choice.

The function runs once, at a level of its own, on arrays that have no elements (`BodyArray`). An operation that takes one of
them is written into the body's graph; one that does not happens outside, before the loop. What the graph takes of the outside,
arrays and values of any level, it has as further inputs. So loops are made of graphs whatever tapes and transforms are open
around them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._errors import UnsupportedError
from ..._state import OFF, open_tapes, state
from ..._tree import TreeDef, flatten, unflatten
from ...backend import register_backend
from ...backend.canonical import canonical
from ...core import value as values
from ...core.arrays import LevelBackend
from ...core.aval import Aval
from ...core.level import Level
from ...core.primitive import PRIMITIVES
from ...core.value import LevelArray, Value, dtype_of, make, shape_of
from ..graph import Equation, Graph, Variable
from ..trace.trace import TRACING, Traced, user_line


class BodyArray(LevelArray):
    """An array of a body: a variable of its graph."""

    __slots__ = ("body", "variable")

    def __init__(self, body: Body, variable: Variable) -> None:
        self.body, self.variable, self._level = body, variable, body.level.id
        self.shape, self.dtype = variable.shape, variable.dtype

    @property
    def under(self) -> Any:
        return self.body.beside

    def cut(self) -> BodyArray:
        """The same elements, of which every derivative is zero."""
        found: BodyArray = self.body.operation(PRIMITIVES["stop_gradient"], [self], {})
        return found

    def refuse(self, what: str) -> NoReturn:
        """Say that there are no elements to give."""
        at = user_line()
        where = f" in {at[0]}:{at[1]}" if at else ""
        raise UnsupportedError(
            f"{self.body.name}: the function runs once for all turns, on arrays without elements, and {what} would need "
            f"them{where}; choose between values with where() or cond()"
        )


class BodyBackend(LevelBackend):
    """Operations on arrays of a body are written into its graph."""

    name = "a body"

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        top = max((x for x in arrays if type(x) is BodyArray), key=lambda x: x._level)
        return top.body.operation(prim, arrays, params)

    def to_host(self, array: Any) -> NoReturn:
        array.refuse("this")
        raise AssertionError


register_backend(BodyArray, BodyBackend())


class Body:
    """What is written while a function runs.

    name: how messages call it. beside: an array of the library that is computed with outside.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.level = Level(name)
        around = next((level.adopt for level in reversed(state.levels) if level.adopt is not None), None)

        def adopt(x: Any) -> None:
            """What is drawn here is an array of the body, and so is the value that is made of it."""
            if isinstance(x._a, LevelArray):
                x._level = x._a._level
            elif around is not None:
                around(x)

        self.level.adopt = adopt
        self.equations: list[Equation] = []
        self.constants: dict[int, tuple[Variable, np.ndarray]] = {}
        self.captured: dict[Any, tuple[Variable, Any]] = {}
        trace = getattr(TRACING, "now", None)
        self.beside: Any = np.zeros(()) if trace is None else trace.constant(np.zeros(()))
        self._since = 0 if trace is None else len(trace.equations)
        self.given: list[Value] = []
        """What the function is given."""
        self._off = [tape for tape in open_tapes() if tape.mode == OFF]

    def begin(self, cls: type[Value], shape: Sequence[int], dtype: np.dtype) -> Value:
        """A value that the function is given."""
        return make(cls, BodyArray(self, Variable(shape, dtype)), None, self.level.id)

    def operation(self, prim: Any, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """Write down a primitive on operands of which one at least is the body's."""
        if prim.kind == "data_dependent":
            next(x for x in arrays if type(x) is BodyArray).refuse(f"{prim.name}, the shape of whose result depends on them,")
        inputs = [self.variable(x) for x in arrays]
        avals = prim.infer([None if v is None else Aval(v.shape, v.dtype) for v in inputs], params)
        outputs = [Variable(shape, dtype) for shape, dtype in (avals if prim.multi else (avals,))]
        self.equations.append(Equation(prim, inputs, params, outputs, user_line()))
        made = tuple([BodyArray(self, v) for v in outputs])
        if prim.differentiable and self._silent():
            made = tuple([x.cut() if x.dtype.kind not in "iub" else x for x in made])
        return made if prim.multi else made[0]

    def _silent(self) -> bool:
        """Whether recording was switched off inside the function, on the tape around it."""
        outer = [tape for tape in open_tapes() if tape is state or tape.id < self.level.id]
        if outer[-1].mode != OFF or outer[-1] in self._off:
            return False
        if len(outer) > 2:
            raise UnsupportedError(
                f"{self.name}: no_grad() inside the function, where several derivatives are taken around it, would hold for "
                "one of them only; take it out of the function, or use stop_gradient where all are meant"
            )
        return True

    def changing(self, target: Value) -> None:
        """Refuse that a value is changed in place that was there before the function ran: it would happen once."""
        holder = target if target._base is None else target._base
        if holder._born == self.level.id or type(holder._a) is not Traced:
            return
        own = {v for e in holder._a.trace.equations[self._since :] for v in e.outputs}
        if holder._a.variable not in own:
            self.refuse_change()

    def refuse_change(self) -> NoReturn:
        """Say that what is outside cannot be changed in each turn."""
        raise UnsupportedError(
            f"{self.name}: the function runs once for all turns, and changes a tensor from outside, which would happen once; "
            "make the tensor part of what is carried, and return its next value"
        )

    def variable(self, x: Any) -> Variable | None:
        """The variable that stands for an operand, of the body or from outside."""
        if x is None:
            return None
        if type(x) is BodyArray and x.body is self:
            return x.variable
        if isinstance(x, Value) and x._node is None and type(x._a) in (np.ndarray, Traced):
            x = x._a
        if type(x) is Traced and x.value is not None:
            x = x.value
        if isinstance(x, (np.ndarray, np.generic)):
            array = np.asarray(x)
            found = self.constants.get(id(array))
            if found is None:
                found = self.constants[id(array)] = Variable(array.shape, array.dtype), array
            return found[0]
        key: Any = x.variable if type(x) is Traced else id(x)
        if isinstance(x, Value):
            inner = x._a.variable if type(x._a) in (Traced, BodyArray) else id(x._a)
            key = inner, id(x._node), x._level
        if key not in self.captured:
            self.captured[key] = Variable(tuple(shape_of(x)), dtype_of(x)), x
        return self.captured[key][0]

    def graph(self, inputs: Sequence[Variable], outputs: Sequence[Any]) -> tuple[Graph, list[Any]]:
        """The graph whose inputs are what it takes of the outside, and these; and what it takes of the outside."""
        results = [self.variable(y) for y in outputs]
        assert None not in results
        captured = list(self.captured.values())
        graph = Graph(
            [*(v for v, _ in captured), *inputs], dict(self.constants.values()), self.equations, results,  # type: ignore[arg-type]
        )  # fmt: skip
        return graph.replaced(graph.equations), [x for _, x in captured]


class Outlined(NamedTuple):
    """A function as a graph.

    graph: its inputs are what it takes of the outside (`captured`), then the leaves of its arguments, then the states of the
    generators that it draws from (`generators`); its outputs the leaves of what it returns, then those states as it leaves
    them. tree, classes: what the outputs become.
    """

    graph: Graph
    captured: list[Any]
    tree: TreeDef
    classes: list[type[Value]]
    generators: list[Any]


def outlined(name: str, f: Callable[..., Any], arguments: Sequence[tuple[TreeDef, Sequence[Value], int]]) -> Outlined:
    """A function as it is traced for arguments: their structure, values that look like their leaves, and how many of the axes
    of these it does not see.

    Raises UnsupportedError where it asks for elements, or changes what was there before.
    """
    body = Body(name)
    given = [
        [body.begin(type(x)._result, tuple(shape_of(x))[hidden:], dtype_of(x)) for x in leaves] for _, leaves, hidden in arguments
    ]  # fmt: skip
    trace = getattr(TRACING, "now", None)
    holders = [] if trace is None else trace.holders
    streams = [(x, x._a) for x in {id(x): x for x in holders if not isinstance(x, Value)}.values()]
    states = {id(x): BodyArray(body, Variable(tuple(shape_of(a)), dtype_of(a))) for x, a in streams}
    outer = [x for around in (() if trace is None else trace.bodies) for x in around.given]
    values_before = [(x, x._a, x._grad) for x in (*holders, *outer) if isinstance(x, Value)]
    body.given = [x for part in given for x in part]
    with body.level.open(), _written(trace, body):
        try:
            for x, _ in streams:
                x._a = states[id(x)]
            out = f(*[unflatten(tree, leaves) for (tree, _, _), leaves in zip(arguments, given)])
            after = {id(x): x._a for x, _ in streams}
        finally:
            for x, a in streams:
                x._a = a
        leaves, tree = flatten(out)
        tensors = [_result(name, y) for y in leaves]
        if any(x._a is not a or x._grad is not g for x, a, g in values_before):
            body.refuse_change()
        drawn = [x for x, _ in streams if after[id(x)] is not states[id(x)]]
        inputs = [x._a.variable for part in given for x in part] + [states[id(x)].variable for x in drawn]
        results = [_bare(y, body) for y in tensors] + [after[id(x)] for x in drawn]
        graph, captured = body.graph(inputs, results)
    return Outlined(graph, captured, tree, [type(y)._result for y in tensors], drawn)


def _result(name: str, y: Any) -> Value:
    """A leaf of what the function returned, as a value."""
    if isinstance(y, Value):
        return y
    if not isinstance(y, (np.ndarray, np.generic, bool, int, float, complex)):
        raise TypeError(f"{name}: the function returned {type(y).__name__}, wanted arrays and numbers only")
    return make(values.core_class, canonical(np.asarray(y)))


def _bare(y: Value, body: Body) -> Any:
    """What a value that the function gives holds at the body's level, or the value itself from below it."""
    return y._a if y._level == body.level.id else y


@contextlib.contextmanager
def _written(trace: Any, body: Body) -> Iterator[None]:
    """While a body runs: the trace around it tells it of values that are changed in place."""
    if trace is None:
        yield
        return
    trace.bodies.append(body)
    try:
        yield
    finally:
        trace.bodies.pop()
