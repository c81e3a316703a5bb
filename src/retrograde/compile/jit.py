"""`jit`: a function traced once for each signature of its arguments, and run as compiled code after that."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._state import grad_mode, state
from .._tree import TreeDef, flatten, unflatten
from ..backend.canonical import canonical
from ..core import value as values
from ..core.value import Value, make
from ..tape import inplace
from . import pipeline
from .graph import Graph
from .holders import reachable
from .trace import Trace, Traced

_ndarray = np.ndarray

LOCK = threading.RLock()
"""Held while a function is traced: what it reads from outside holds traced arrays then."""


def jit(
    f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Any:  # fmt: skip
    """The function compiled: at the first call with arguments of some shapes and dtypes it runs on arrays without elements, and
    what it computes, its gradients included, becomes a graph; later calls run that as generated code.

    Arguments are nested containers of arrays, tensors and Python's numbers; whatever else they hold, and what `static_argnums`
    and `static_argnames` say, is part of the signature. Tensors that the function reads from outside are read at each call,
    and what it writes into them is written when the call has succeeded.

    Raises UnsupportedError where the function asks for elements, as a branch on a value does.

    Examples
    --------
    >>> import retrograde as rg
    >>> step = rg.jit(rg.value_and_grad(lambda x: rg.sum(x * x)))
    >>> step(rg.asarray([1.0, 2.0]))
    (Tensor(5.), Tensor([2., 4.]))
    """
    if f is None:
        return lambda g: jit(g, static_argnums=static_argnums, static_argnames=static_argnames)
    return Jit(f, static_argnums, static_argnames)


class Jit:
    """A compiled function; see `jit`."""

    def __init__(self, f: Callable[..., Any], static_argnums: Any, static_argnames: Any) -> None:
        functools.update_wrapper(self, f)
        self._f = f
        self._numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        self._names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)
        if self._names:  # by position, too
            parameters = list(inspect.signature(f).parameters)
            self._numbers += tuple(parameters.index(n) for n in self._names if n in parameters)
        self._versions: dict[Any, Version] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, key = self._signature(args, kwargs)
        version = self._versions.get(key)
        if version is None or not version.holds():
            version = self._versions[key] = self._traced(args, kwargs)
        return version.run(leaves)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def lower(self, *args: Any, **kwargs: Any) -> Version:
        """What a call with such arguments runs: its graph, the passes, the code."""
        return self._traced(args, kwargs)

    def _signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        """The arrays among the arguments, and what tells calls apart that need other code."""
        leaves, tree, statics = self._split(args, kwargs)
        arrays = [x._a if isinstance(x, Value) else x for x in leaves]
        kinds = tuple([(type(x), a.shape, a.dtype) for x, a in zip(leaves, arrays)])
        return leaves, (tree, kinds, tuple((type(x), x) for x in statics), state.mode)

    def _split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], TreeDef, list[Any]]:
        found, tree = flatten((
            tuple(Static(x) if i in self._numbers else x for i, x in enumerate(args)),
            {k: Static(x) if k in self._names else x for k, x in kwargs.items()},
        ))  # fmt: skip
        leaves, statics = list[Any](), list[Any]()
        for x in found:
            (leaves if isinstance(x, (Value, np.ndarray, np.generic)) else statics).append(x)
        return leaves, tree, statics

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Version:
        with LOCK:
            return Version(self._f, self._numbers, self._names, args, kwargs)


class Static:
    """An argument that is part of the signature."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and type(self.x) is type(other.x) and bool(self.x == other.x)

    def __hash__(self) -> int:
        return hash(self.x)


class Version:
    """A function as it was traced for one signature.

    graph: as it was traced. inputs: the arguments' arrays, then those of `captured`, what the function reads from outside.
    outputs: the arrays that it returns, then what `written` holders have become.
    """

    def __init__(self, f: Any, numbers: Sequence[int], names: Iterable[str], args: Any, kwargs: Any) -> None:
        self.trace = trace = Trace(f"jit of {getattr(f, '__name__', type(f).__name__)}")
        given: list[tuple[Any, Traced]] = []

        def entered(x: Any) -> Any:
            if not isinstance(x, (Value, np.ndarray, np.generic)):
                return x
            array = x._a if isinstance(x, Value) else canonical(np.asarray(x))
            traced = trace.input(array.shape, array.dtype)
            inside = make(type(x) if isinstance(x, Value) else values.core_class, traced)
            given.append((inside, traced))
            return inside

        args = tuple(x if i in numbers else _mapped(entered, x) for i, x in enumerate(args))
        kwargs = {k: x if k in names else _mapped(entered, x) for k, x in kwargs.items()}
        holders = [x for x in reachable(f) if type(x._a) is _ndarray]
        before = [(x, x._a, x.__dict__.get("_grad")) for x in holders]
        entering: dict[int, Traced] = {}
        try:
            for x in holders:
                if getattr(x, "_base", None) is None:
                    entering[id(x)] = x._a = trace.input(x._a.shape, x._a.dtype)
            for x in holders:
                if id(x) not in entering:
                    x._a = inplace.replay(make(values.core_class, x._base._a), x._view_steps)._a
            out = f(*args, **kwargs)
            leaves, self.tree = flatten(out)
            after = [(x, x._a) for x in holders]
        finally:
            for x, array, gradient in before:
                x._a = array
                if isinstance(x, Value):
                    x.__dict__.pop("_grad", None) if gradient is None else x.__dict__.__setitem__("_grad", gradient)
            trace.open = False
        self.rest: list[Any] = []  # of the leaves, those that are no tensors
        self.kinds: list[Any] = []  # the class of each tensor; None for the others
        results = []
        for y in leaves:
            if isinstance(y, Value):
                self.kinds.append(type(y)._result)
                results.append(y._a)
            else:
                self.kinds.append(None)
                self.rest.append(y)
        self.written = [x for x, array in after if id(x) in entering and array is not entering[id(x)]]
        results += [array for x, array in after if id(x) in entering and array is not entering[id(x)]]
        captured = [x for x in holders if id(x) in entering]
        graph = trace.graph([t for _, t in given] + [entering[id(x)] for x in captured], results)
        used = graph.uses()
        kept = [v in used for v in graph.inputs]
        count = len(given)
        self.captured = [x for x, keep in zip(captured, kept[count:]) if keep]
        inputs = [v for i, v in enumerate(graph.inputs) if i < count or kept[i]]
        self.graph = Graph(inputs, graph.constants, graph.equations, graph.outputs)
        self._known = [(x, x._a.shape, x._a.dtype) for x in self.captured]
        self.compiled = pipeline.compiled(self.graph)

    def holds(self) -> bool:
        """Whether what the function reads from outside is as it was when it was traced."""
        return all(x._a.shape == shape and x._a.dtype == dtype for x, shape, dtype in self._known)

    def run(self, leaves: Sequence[Any]) -> Any:
        """The function's result for such arguments."""
        arrays = [x._a if isinstance(x, Value) else np.asarray(x) for x in leaves]
        found = iter(self.compiled(*arrays, *[x._a for x in self.captured]))
        rest = iter(self.rest)
        result = unflatten(self.tree, [next(rest) if kind is None else make(kind, next(found)) for kind in self.kinds])
        with grad_mode(False):
            for holder, array in zip(self.written, found):
                if isinstance(holder, Value):
                    inplace.assign("jit", holder, make(type(holder)._result, array), 0)
                else:
                    holder._a = array
        return result

    def __str__(self) -> str:
        return str(self.graph)


def _mapped(f: Callable[[Any], Any], tree: Any) -> Any:
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [f(x) for x in leaves])
