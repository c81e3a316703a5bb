"""The graph that a trace writes, passes rewrite and emitters turn into code.

A graph is a list of equations in the order in which they are computed. Each variable is given once: it is an input, the value
of a constant, or an output of one equation; nothing is changed in place. Passes (passes/) are functions from graph to graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.params import params_key
from ..core.primitive import Primitive
from . import failures

_SMALL = 1024
"""Elements of a constant that are compared; larger ones are compared by identity."""


class Variable:
    """A place for an array of a shape and dtype. Variables are compared by identity; the graph gives them names to print."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Sequence[int], dtype: np.dtype) -> None:
        self.shape, self.dtype = tuple(shape), dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class Equation:
    """outputs = prim(inputs, **params). An input is None where the primitive allows an operand to be absent.

    at: the user's line that it comes from, (file, line), if one is known.
    """

    __slots__ = ("at", "inputs", "outputs", "params", "prim")

    def __init__(
        self, prim: Primitive, inputs: Sequence[Variable | None], params: dict[str, Any], outputs: Sequence[Variable],
        at: tuple[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.prim, self.inputs, self.params, self.outputs, self.at = prim, tuple(inputs), params, tuple(outputs), at

    def on(self, inputs: Sequence[Variable | None]) -> Equation:
        """The same equation of other inputs, with the same outputs."""
        return Equation(self.prim, inputs, self.params, self.outputs, self.at)


class Graph:
    """inputs, outputs: variables. constants: the array of each variable that is given by its value (of stride 0 where all of
    its elements are one number). equations: in order."""

    __slots__ = ("constants", "equations", "inputs", "outputs")

    def __init__(
        self, inputs: Sequence[Variable], constants: dict[Variable, np.ndarray], equations: Sequence[Equation],
        outputs: Sequence[Variable],
    ) -> None:  # fmt: skip
        self.inputs, self.constants = tuple(inputs), constants
        self.equations, self.outputs = tuple(equations), tuple(outputs)

    def replaced(self, equations: Sequence[Equation], outputs: Sequence[Variable] | None = None) -> Graph:
        """The graph with other equations; constants that nobody takes any more are left out."""
        outputs = self.outputs if outputs is None else tuple(outputs)
        used = {v for e in equations for v in e.inputs if v is not None} | set(outputs)
        return Graph(self.inputs, {v: a for v, a in self.constants.items() if v in used}, equations, outputs)

    def uses(self) -> dict[Variable, int]:
        """How often each variable is taken by equations and outputs."""
        found: dict[Variable, int] = {}
        for e in self.equations:
            for v in e.inputs:
                if v is not None:
                    found[v] = found.get(v, 0) + 1
        for v in self.outputs:
            found[v] = found.get(v, 0) + 1
        return found

    def producers(self) -> dict[Variable, Equation]:
        """The equation that gives each variable, of those that one gives."""
        return {v: e for e in self.equations for v in e.outputs}

    def names(self) -> dict[Variable, str]:
        """A name for each variable, in the order in which they are given: x0, c0, v0."""
        found = {v: f"x{i}" for i, v in enumerate(self.inputs)}
        found |= {v: f"c{i}" for i, v in enumerate(self.constants)}
        count = iter(range(1 << 62))
        for e in self.equations:
            for v in e.outputs:
                found[v] = f"v{next(count)}"
        return found

    def structure(self) -> Any:
        """What it has in common with graphs that can run the same code; None where a parameter has no key."""
        numbers = {v: i for i, v in enumerate((*self.inputs, *self.constants))}
        parts: list[Any] = [tuple([(v.shape, v.dtype) for v in self.inputs])]
        parts += [(a.shape, a.dtype, a.tobytes() if a.size <= _SMALL else id(a)) for a in self.constants.values()]
        try:
            for e in self.equations:
                inputs = tuple([None if v is None else numbers[v] for v in e.inputs])
                parts.append((e.prim.name, inputs, params_key(e.prim, e.params)))
                for v in e.outputs:
                    numbers[v] = len(numbers)
            parts.append(tuple([numbers[v] for v in self.outputs]))
            hash(tuple(parts))
        except TypeError:
            return None
        return tuple(parts)

    def lines(self) -> Iterator[str]:
        """The graph as text, line by line."""
        name = self.names()
        yield f"({', '.join(f'{name[v]}: {v!r}' for v in self.inputs)})"
        for v, array in self.constants.items():
            yield f"  {name[v]}: {v!r} = {_shown(array)}"
        for e in self.equations:
            given = [("none" if v is None else name[v]) for v in e.inputs] + [f"{k}={_param(p)}" for k, p in e.params.items()]
            yield f"  {', '.join(f'{name[v]}: {v!r}' for v in e.outputs)} = {e.prim.name}({', '.join(given)})"
            for p in e.params.values():
                for what, inner in p.graphs() if hasattr(p, "graphs") else ():
                    yield f"    {what}:"
                    yield from (f"      {line}" for line in inner.lines())
        yield f"  return {', '.join(name[v] for v in self.outputs) or 'nothing'}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def run(self, *arrays: Any) -> list[Any]:
        """The outputs for arrays or values of any kind, one operation after another: what every emitter's code has to equal,
        and how a graph is evaluated under transforms."""
        at: dict[Variable, Any] = dict(zip(self.inputs, arrays, strict=True))
        at.update(self.constants)
        try:
            for e in self.equations:
                out = e.prim.op(*(None if v is None else at[v] for v in e.inputs), **e.params)
                at.update(zip(e.outputs, out if e.prim.multi else (out,), strict=True))
        except Exception as problem:
            failures.note(problem, e)
            raise
        return [at[v] for v in self.outputs]


Pass = Callable[[Graph], Graph]


def uniform(array: np.ndarray) -> bool:
    """Whether all elements of a constant are known to be one number."""
    return array.size == 1 or (array.size > 0 and not any(s for s, n in zip(array.strides, array.shape) if n > 1))


def _shown(array: np.ndarray) -> str:
    if array.size and uniform(array):
        return repr(array.flat[0].item())
    if array.size <= 8:
        return repr(array.tolist())
    return f"an array of {array.size} elements"


def _param(x: Any) -> str:
    if callable(x):
        return getattr(x, "__name__", type(x).__name__)
    return repr(x)
