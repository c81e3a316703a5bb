"""`Outcomes`: what arrays and numbers of a trace hold in the call for which the function is traced, where Python decides on them.

A branch on `x.sum() > 0`, a check that elements lie in a support, a mask that says which rows are taken: the trace goes the way
that the call goes, and every later call computes what was decided on and is held to it before it leaves anything behind. What
is asked for is computed by the operations themselves, one after the other, from the arrays that the call is given. Used by
version.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ...backend.numpy import NUMPY
from ...core.number import Term
from ..graph import Equation, Variable
from .numbers import Place, Written, late_leaves
from .trace import Trace, Traced

MOST = 256
"""Decisions of one trace; a loop that goes on until something holds would have more, and another number of them each time."""
_LARGEST = 1 << 16
"""Elements of an array on which a whole trace may depend."""


class Otherwise(Exception):
    """A call decides something in another way than the one that was traced; nothing has been left behind yet."""


class Outcomes:
    """The decisions of a trace.

    standing: the numbers that stand at places while the function is traced (or tuples and lists of them), each with its place.
    scope: what the source of places can name.
    """

    def __init__(self, trace: Trace, standing: Mapping[Any, tuple[Place, Any]], scope: dict[str, Any]) -> None:
        self._trace, self._known, self._scope = trace, trace.begun, scope
        self._given: list[Any] = []
        self._names: dict[int, str] = {}
        """Where among `_given` the values of numbers are, by their terms."""
        for _, x in standing.values():
            for number in x if type(x) in (tuple, list) else (x,):
                self._names[id(number.term)] = f"given[{len(self._given)}]"
                self._given.append(number.value)
        self._made: dict[Variable, Equation] = {}
        self._constants: dict[Variable, np.ndarray] = {}
        self.arrays: dict[Variable, tuple[Traced, np.ndarray]] = {}
        """The arrays that were asked for, with what they hold."""
        self.numbers: dict[Any, tuple[Term, Any]] = {}
        """What was asked of numbers that come from arrays, and the answers."""

    def __len__(self) -> int:
        return len(self.arrays) + len(self.numbers)

    def elements(self, x: Traced) -> np.ndarray:
        """The elements of an array of truths or integers, to which later calls are held."""
        found = self.arrays.get(x.variable)
        if found is None:
            if x.dtype.kind not in "biu" or x.size > _LARGEST:
                self._trace.refuse("the elements of an array")
            self._admit()
            found = self.arrays[x.variable] = x, self._of(x.variable).copy()
        return found[1]

    def answer(self, term: Term) -> Any:
        """What a number, or a question about numbers, comes to; later calls are held to it."""
        key = term.text, term.function, *[id(y) if isinstance(y, Term) else y for y in term.operands]
        found = self.numbers.get(key)
        if found is None:
            self._admit()
            late = late_leaves([term])
            written = Written(self._scope, {id(t): i for i, t in enumerate(late)})
            answer: Callable[..., Any] = written.answer(term, self._names)
            found = self.numbers[key] = term, answer([self._of(t.array.variable) for t in late], self._given)
        return found[1]

    def _admit(self) -> None:
        if len(self) >= MOST:
            raise UnsupportedError(f"{self._trace.what} decides on elements more than {MOST} times")

    def _of(self, variable: Variable) -> np.ndarray:
        known, todo = self._known, [variable]
        while todo:
            v = todo[-1]
            if v in known:
                todo.pop()
                continue
            e = self._equation(v)
            if e is None:
                known[v] = self._constant(v)
                continue
            missing = [x for x in e.inputs if x is not None and x not in known]
            if missing:
                todo += missing
                continue
            out = NUMPY.evaluate(e.prim, [None if x is None else known[x] for x in e.inputs], e.params)
            known.update(zip(e.outputs, out if e.prim.multi else (out,)))
        return known[variable]

    def _equation(self, v: Variable) -> Equation | None:
        if v not in self._made and v not in self._constants:
            trace = self._trace
            self._made.update((w, e) for e in trace.equations for w in e.outputs)
            self._constants.update((*trace.constants.values(), *trace.settled))
        return self._made.get(v)

    def _constant(self, v: Variable) -> np.ndarray:
        """The array of a variable that no equation gives: a constant, or a number that has entered the graph."""
        found = self._constants.get(v)
        if found is not None:
            return found
        term = next(term for term, x in self._trace.entries.values() if x.variable is v)
        answer = Written(self._scope, {}).answer(term, self._names)
        return np.asarray(answer((), self._given), v.dtype)
