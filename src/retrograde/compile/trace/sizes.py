"""Sizes that vary from call to call: while a function is traced numbers stand for them, in shapes and in what Python makes of
them, and the graph for other sizes is made of the trace, without the function.

A size is a `Number` (core/number.py). What Python decides on it is a condition of the trace, by its outcome, and whoever asks for
the value gets it, and a condition with it: so nothing that depends on a size goes unnoticed. `Measured` says for which sizes a
trace holds, and makes the graphs; `Family` says of calls that differ in sizes alone which trace each of them runs. Called by
version.py, jit.py and compiled.py.
"""

from __future__ import annotations

import contextlib
import math
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ...core.number import Number, Term, is_int
from ...core.record import Primitive
from ...core.value import Value
from ..graph import Equation, Graph, Variable
from .numbers import same
from .trace import LOCK, Trace, of_sizes

Axes = tuple[tuple[int, int], ...]
"""Axes of which the size varies: of which array, and which of its axes."""

Shapes = tuple[tuple[int, ...], ...]


def standing(trace: Trace, leaves: Sequence[Any], outside: Sequence[Any], axes: Axes) -> None:
    """Let numbers stand for the sizes of some axes of the arguments. outside: what else the function can reach.

    Raises UnsupportedError where an argument is another tensor's view, or has one, whose size is that of one call.
    """
    own, others = {id(x) for x in leaves}, {id(x) for x in outside}
    views = [(id(x), id(x._base)) for x in (*leaves, *outside) if isinstance(x, Value) and x._base is not None]
    if any(base in own or (base in others and view in own) for view, base in views):
        raise UnsupportedError("an argument is a view of another tensor that the function can reach, or has such a view")
    trace.measure(tuple([leaves[i]._a.shape[axis] for i, axis in axes]))
    for k, (i, axis) in enumerate(axes):
        x = leaves[i]
        shape = list(trace.shapes.get(id(x), x._a.shape))
        shape[axis] = Number(trace, Term(f"sizes[{k}]", axis=k), None, int)
        trace.shapes[id(x)] = tuple(shape)


class Measured:
    """What a trace of sizes that vary is for other sizes.

    axes: those of which the sizes vary. shapes: of the arguments' arrays, where it was traced.
    """

    def __init__(self, trace: Trace, axes: Axes, shapes: Shapes) -> None:
        self.trace, self.axes = trace, axes
        self._fixed = _without(shapes, axes)
        self._shapes = shapes
        self._plans: dict[int, _Plan] = {}
        self.room = [MACHINE]
        """How many more graphs may become machine code."""
        self.conditions = {key: x for key, x in trace.conditions.items() if x[0].sized}

    def sizes(self, shapes: Shapes) -> tuple[int, ...] | None:
        """The sizes that vary of arguments of some shapes; None where the trace does not hold for these."""
        if _without(shapes, self.axes) != self._fixed:
            return None
        sizes = tuple([shapes[i][axis] for i, axis in self.axes])
        if self.trace.ordered and min(sizes) < 2:  # an axis of one element has no place in the order in which arrays lie
            return None
        return sizes if self.hold(sizes, self.conditions.values()) else None

    def hold(self, sizes: tuple[int, ...], conditions: Any) -> bool:
        """Whether, for some sizes, everything comes out as it did."""
        with LOCK:
            self.trace.measure(sizes)
            try:
                return all(same(self.trace.sized(term), outcome) for term, outcome in conditions)
            except Exception:  # there the function would have raised it
                return False

    def several(self, others: Sequence[Shapes]) -> bool:
        """Whether the trace holds for more sizes than its own, of those that were met or near ones."""
        own = tuple([self._shapes[i][axis] for i, axis in self.axes])
        tried = [tuple([s[i][axis] for i, axis in self.axes]) for s in others]
        for group in (set(own), *({n} for n in sorted(set(own)))):  # sizes that are equal may have to be
            tried += [tuple([other(n) if n in group else n for n in own]) for other in _NEAR]
        return any(sizes != own and self.hold(sizes, self.conditions.values()) for sizes in tried)

    def described(self) -> Iterator[str]:
        """What has to hold of the sizes, in words."""
        for k, (i, axis) in enumerate(self.axes):
            yield f"s{k} is the size of axis {axis} of array {i} of the arguments"
        for term, outcome in self.conditions.values():
            yield f"{term} is {outcome}"

    def asked(self) -> str:
        """Where the value of a size was asked for, in words."""
        lines = dict.fromkeys(f"{at[0]}:{at[1]}" for _, at in self.trace.asked if at is not None)
        if not self.trace.asked:
            return "a comparison with it comes out in this way for no other size"
        where = f", in {', '.join(list(lines)[:_LINES])}" if lines else ""
        return f"its value is asked for{where}"

    def graph(self, graph: Graph, sizes: tuple[int, ...]) -> Graph:
        """A graph of the trace for some sizes."""
        with LOCK:
            self.trace.measure(sizes)
            plan = self._plans.get(id(graph))
            if plan is None:
                plan = self._plans[id(graph)] = _Plan(graph, self.trace)  # which keeps the graph
            return plan.of_now()

    def of_now(self, x: Any, sizes: tuple[int, ...]) -> Any:
        """What the function returns beside arrays, or the shape of something, for some sizes."""
        with LOCK:
            self.trace.measure(sizes)
            return _plain(x)


_NEAR: tuple[Callable[[int], int], ...] = (lambda n: n + 1, lambda n: n - 1, lambda n: n + 8, lambda n: 2 * n)
_LINES = 3
"""Lines of the program that a reason names."""


def _without(shapes: Shapes, axes: Axes) -> Any:
    varying = set(axes)
    return tuple([tuple([None if (i, k) in varying else n for k, n in enumerate(s)]) for i, s in enumerate(shapes)])


# ------------------------------------------------------------------------------------------ graphs


class _Plan:
    """How a graph of a trace in which sizes vary becomes one for some sizes: what in it depends on them.

    Raises UnsupportedError for a graph in which something may depend on sizes where it is not seen.
    """

    def __init__(self, graph: Graph, trace: Trace) -> None:
        self.graph = graph
        used = {v for e in graph.equations for v in e.inputs} | set(graph.outputs)
        self._made = [(v, x) for v, x in trace.remade.items() if v in used]
        every = dict.fromkeys([*graph.inputs, *(v for v, _ in self._made), *(v for e in graph.equations for v in e.outputs)])
        self._variables = [v for v in every if of_sizes(v.shape)]
        varying = set(self._variables)
        self._equations: list[tuple[Equation, list[str] | None]] = []
        """Each with the parameters that depend on sizes; None where nothing of it does."""
        for e in graph.equations:
            params = [k for k, p in e.params.items() if _plain(p) is not p]
            self._equations.append((e, params if params or not varying.isdisjoint((*e.inputs, *e.outputs)) else None))

    def of_now(self) -> Graph:
        """The graph for the sizes of now."""
        known: dict[Variable | None, Variable] = {v: Variable(_plain(v.shape), v.dtype) for v in self._variables}

        def of(some: Sequence[Any]) -> list[Any]:
            return [known.get(v, v) for v in some]

        equations = [
            e if params is None
            else Equation(e.prim, of(e.inputs), {**e.params, **{k: _plain(e.params[k]) for k in params}}, of(e.outputs), e.at)
            for e, params in self._equations
        ]  # fmt: skip
        made = {known.get(v, v): x.function(*map(_plain, x.operands)) for v, x in self._made}
        graph = self.graph
        return Graph(of(graph.inputs), {**graph.constants, **made}, equations, of(graph.outputs))


_AS_THEY_ARE = frozenset({
    type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type, types.BuiltinFunctionType, np.ufunc,
})  # fmt: skip
"""Types of which nothing has a size in it."""


def _plain(x: Any) -> Any:
    """Something with the sizes of now, which is itself where it has none; raises UnsupportedError for what may have some where
    they are not seen."""
    kind = type(x)
    if kind is Number:
        return x.value
    if kind in _AS_THEY_ARE or isinstance(x, (np.dtype, np.generic, Primitive)):
        return x
    if isinstance(x, (tuple, list)):
        found = [_plain(y) for y in x]
        if all(map(operator.is_, found, x)):
            return x
        return kind(*found) if hasattr(kind, "_fields") else kind(found)
    if kind is slice:
        ends = x.start, x.stop, x.step
        found = [_plain(y) for y in ends]
        return x if all(map(operator.is_, found, ends)) else slice(*found)
    if kind is dict:
        return {k: _plain(y) for k, y in x.items()}
    if kind is np.ndarray and not x.dtype.hasobject:
        return x
    if isinstance(x, types.FunctionType):
        if not (x.__closure__ or x.__defaults__ or x.__kwdefaults__):
            return x
    elif type(x.__reduce__()) is str:  # one thing by itself, that its module has by a name
        return x
    raise UnsupportedError(f"it is not known whether there are sizes in an object of type {kind.__name__}")


# ------------------------------------------------------------------------------------------ NumPy's functions


def _broadcast(*shapes: Any) -> tuple[Any, ...]:
    """As np.broadcast_shapes."""
    count = max(map(len, shapes), default=0)
    found: list[Any] = []
    for k in range(-count, 0):
        size: Any = 1
        for shape in shapes:
            n = shape[k] if len(shape) >= -k else 1
            if n is size or n == 1:
                continue
            if size == 1:
                size = n
            elif size != n:
                raise ValueError(f"shapes {', '.join(map(str, shapes))} do not fit each other")
        found.append(size)
    return tuple(found)


def _product(x: Any, **_: Any) -> Any:
    """As np.prod, of a shape."""
    return math.prod(x)


def _index(x: Any) -> Any:
    """As operator.index."""
    return x if is_int(x) else operator.index(x.known())


def _made(function: Callable[..., np.ndarray], shape_of: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an array of sizes, in a trace."""

    def made(*operands: Any, **options: Any) -> Any:
        trace = next(x.trace for x in _numbers([*operands, *options.values()]))
        shape = shape_of(*operands, **options)
        if shape is None:  # which asks for the values
            return function(*operands, **options)
        names, count = tuple(options), len(operands)

        def now(*given: Any) -> np.ndarray:
            return function(*given[:count], **dict(zip(names, given[count:])))

        given = [*operands, *options.values()]
        return trace.made(tuple(shape), now(*map(_plain, given)).dtype, now, *given)

    return made


def _count(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """The shape of a range of whole numbers; None of others."""
    if stop is None:
        start, stop = 0, start
    if not all(map(is_int, (start, stop, step))):
        return None
    n = -((start - stop) // step)
    return (n if n > 0 else 0,)


def _tuple(shape: Any, *_: Any, **__: Any) -> Any:
    """A shape that is the first operand."""
    return (shape,) if type(shape) in (int, Number) else tuple(shape)


def _numbers(x: Any) -> Iterator[Number]:
    """The numbers of sizes in what a function is given."""
    for y in x:
        if type(y) is Number:
            if y.term.sized and y.trace.open:
                yield y
        elif isinstance(y, (tuple, list)):
            yield from _numbers(y)


_OF_SIZES: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (operator, "index", _index),
    (np, "broadcast_shapes", _broadcast),
    (np, "prod", _product),
    (np, "zeros", _made(np.zeros, _tuple)),
    (np, "ones", _made(np.ones, _tuple)),
    (np, "full", _made(np.full, _tuple)),
    (np, "arange", _made(np.arange, _count)),
    (np, "eye", _made(np.eye, lambda n, m=None, *_, **__: (n, n if m is None else m))),
)


def _aware(function: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """A function that leaves what it is given to another where there are sizes in it."""

    def either(*operands: Any, **options: Any) -> Any:
        if next(_numbers([*operands, *options.values()]), None) is not None:
            return own(*operands, **options)
        return function(*operands, **options)

    return either


@contextlib.contextmanager
def numpy_of_sizes() -> Iterator[None]:
    """A context in which functions of NumPy that take sizes take numbers of a trace for them. Other threads find the same
    functions, which do for sizes what they did."""
    with LOCK:
        before = [(where, name, getattr(where, name)) for where, name, _ in _OF_SIZES]
        for (where, name, own), (_, _, function) in zip(_OF_SIZES, before):
            setattr(where, name, _aware(function, own))
        try:
            yield
        finally:
            for where, name, function in before:
                setattr(where, name, function)


# ------------------------------------------------------------------------------------------ which trace a call runs


def layout(array: np.ndarray) -> tuple[Any, ...]:
    """How an array lies in memory, whatever its sizes: the order of its axes, and which lie without gaps within those before."""
    axes = sorted(range(array.ndim), key=lambda k: (-abs(array.strides[k]), k))
    step, dense = array.itemsize, []
    for k in reversed(axes):
        dense.append(array.strides[k] == step or array.shape[k] == 1)
        step = array.strides[k] * array.shape[k]
    return array.dtype, tuple(axes), tuple(dense), 0 in array.strides


class Family:
    """Calls that are alike but for sizes, and the traces that they share."""

    def __init__(self) -> None:
        self.met: list[Shapes] = []
        """Shapes with which there were calls: the first ones."""
        self.versions: list[Any] = []
        """The traces in which sizes are numbers, newest first."""
        self._alone = 0  # how many traces held for their own sizes only
        self.reason: str | None = None
        """Why each size is a version of its own from here on."""

    def axes(self, shapes: Shapes, every: bool) -> Axes:
        """The axes that vary, so far as is known; every: whether all do that a size can be told from 0 and 1 by."""
        if every:
            return tuple([(i, k) for i, s in enumerate(shapes) for k, n in enumerate(s) if n > 1])
        return tuple([
            (i, k) for i, s in enumerate(shapes) for k, n in enumerate(s) if any(other[i][k] != n for other in self.met)
        ])  # fmt: skip

    def version(
        self, shapes: Shapes, scalars: Sequence[Any], trace: Callable[[Axes], Any], missed: Callable[[Any], Any], *,
        every: bool = False,
    ) -> Any:  # fmt: skip
        """The version that can run a call with arrays of such shapes and such numbers, by a trace that it shares with other
        sizes; None where each size is to have its own. trace: makes a version in which the sizes of some axes vary; missed: is
        told the places of numbers for which versions of these sizes do not hold."""
        for version in self.versions:
            found = version.at(shapes)
            if found is None:
                continue
            if found.holds(scalars):
                return found
            missed(found.missed(scalars))
        axes = self.axes(shapes, every)
        if shapes not in self.met and len(self.met) < _MET:
            self.met.append(shapes)
        if self.reason is not None or not axes or any(shapes[i][k] < 2 for i, k in axes):
            return None
        if len(self.versions) == MOST:
            self.reason = f"what is asked of a size comes out in more than {MOST} ways"
            return None
        try:
            version = trace(axes)
            found = version.at(shapes)
        except Exception as problem:  # where it is the function's own, it comes again when the size is none that varies
            if getattr(problem, "comes_again", False):
                raise
            self.reason = f"{type(problem).__name__} while it was traced for sizes that vary: {problem}"
            return None
        if version.measured.several(self.met):
            self.versions.insert(0, version)
            return found
        self._alone += 1  # a size may happen to be that of a weight, with which it is compared
        if self._alone == MOST or (not self.versions and (version.measured.trace.asked or self._alone == _CHANCE)):
            self.reason = version.measured.asked()
        return found


MOST = 8
"""Traces of a family."""
MACHINE = 32
"""Graphs of a trace that become machine code, each for its sizes."""
CONFIRMED = 2
"""Sizes of a trace whose first calls run both ways."""
_CHANCE = 3
"""Traces, of which each holds for its own size, after which that is no chance."""
_MET = 4
"""Shapes that are kept of those that were met."""
