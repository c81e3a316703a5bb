"""`Substituted`: what holds arrays has those of a trace in their place, as long as a function is traced or deferred.

So the function runs on the very objects that the program has. Afterwards everything holds again what it held, and what it has
become in between is known: arrays, gradients, leaves.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..._errors import UnsupportedError
from ..._state import LOOKED_AT, OBSERVERS, Observer
from ...core import value as values
from ...core.aval import Aval
from ...core.bind import record
from ...core.level import Level
from ...core.node import Accumulate
from ...core.record import Primitive
from ...core.value import LevelArray, Value, dtype_of, make, shape_of
from ...ops.structural import copy
from ...tape import autograd, inplace, mutation
from .trace import ACTIVE, TRACING, Trace, Traced

_ndarray = np.ndarray


class Substituted(Observer):
    """While the function is traced: holders with traced arrays in the place of theirs, leaves without history in the place of
    what has one, and a watch over memory that is written beside the trace."""

    def __init__(self, trace: Trace, leaves: list[Any], outside: list[Any]) -> None:
        self.trace = trace
        for x in (*leaves, *outside):  # what a deferred call has left where nobody looked
            if type(x._a) is Traced and not x._a.trace.open and x._a.value is not None:
                x._a = x._a.value
        outside = [x for x in outside if not isinstance(x, Value) or isinstance(x._a, (_ndarray, LevelArray, Value, Traced))]
        self.holders = trace.holders = [*leaves, *outside]
        self.entered: dict[int, Any] = {}
        """What each holder was given, by its id."""
        self.arrays = {id(x): x._a for x in self.holders}
        """The arrays that they had."""
        self.leaves: dict[int, Any] = {}
        """The edge of each holder that wants a gradient, by its id."""
        self.passed = False
        """Whether a backward pass has run."""
        self.cut = self.forgotten = False
        """Whether something was computed that has another derivative than the graph says, tangents included; and whether anything
        that had a history on the tape had none from then on."""
        self._written: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    def __enter__(self) -> Substituted:
        self.before = [(x, x._node, x._grad) if isinstance(x, Value) else (x, None, None) for x in self.holders]
        ACTIVE.append(self.trace)
        self._at = [(x, x._level) for x in self.holders if isinstance(x, Value) and x._level]
        TRACING.now, self._outer = self.trace, getattr(TRACING, "now", None)
        try:
            own = {id(x) for x in self.holders}
            views = [x for x in self.holders if isinstance(x, Value) and x._base is not None and id(x._base) in own]
            apart = {id(x) for x in views}
            for x in self.holders:
                if id(x) in apart:
                    continue
                array = self.arrays[id(x)]
                if isinstance(array, Value):
                    array = Aval(tuple(shape_of(array)), dtype_of(array))
                x._a = self.entered[id(x)] = self.trace.begin(array, x)
                if isinstance(x, Value):
                    x._level = 0
                    if self.trace.leaves and x._node is not None:
                        self._begin_history(x)
            for x in views:
                x._a = inplace.replay(make(values.core_class, x._base._a), x._view_steps)._a
            level = Level(self.trace.what)
            level.adopt = self.trace.adopt
            self._level = level.open()
            self._level.__enter__()
            OBSERVERS.append(self)
            LOOKED_AT.append(1)
        except BaseException:
            self._restore()
            raise
        return self

    def _begin_history(self, x: Value) -> None:
        """Let the history of a tensor begin here: a leaf stays one, what was computed is computed from one."""
        edge = x._node
        if type(edge) is not Accumulate:
            begin = make(values.core_class, x._a)
            autograd.leaf(begin)
            edge = begin._node
            x._node = record(copy.prim, {}, (edge,), (x._a,), x._a) or edge
        elif id(x) in self.trace.shapes:
            if edge.hooks is not None:
                raise UnsupportedError("an argument whose size varies has hooks")
            own, edge = edge, Accumulate(x, shape_of(x), edge.dtype)
            edge.leaf, edge.seq, x._node = own.leaf, own.seq, edge
        self.leaves[id(x)] = edge

    def __exit__(self, *exception: Any) -> None:
        OBSERVERS.remove(self)
        LOOKED_AT.pop()
        self._level.__exit__(*exception)
        self._restore()

    def _restore(self) -> None:
        TRACING.now = self._outer
        ACTIVE.remove(self.trace)
        self.trace.open = False
        for x, node, gradient in self.before:
            x._a = self.arrays[id(x)]
            if isinstance(x, Value) and self.trace.leaves:
                x._level = 0
                x._node = node
                if gradient is None:
                    x.__dict__.pop("_grad", None)
                else:
                    x._grad = gradient

        for x, level in self._at:
            x._level = level

    def changed_holders(self) -> list[Any]:
        """The holders that hold another array than they were given."""
        return [x for x in self.holders if id(x) in self.entered and x._a is not self.entered[id(x)]]

    def graded(self) -> list[tuple[Any, Any]]:
        """The tensors, and the gradient that each had before."""
        return [(x, g) for x, _, g in self.before if isinstance(x, Value)]

    def new_leaves(self) -> list[Value]:
        """The tensors from outside that have become leaves that want a gradient. Raises where one is none any more."""
        found = []
        for x, node, _ in self.before:
            if isinstance(x, Value) and type(node) is Accumulate and type(x._node) is not Accumulate:
                raise UnsupportedError(f"{self.trace.what}: a tensor from outside wants no gradient any more")
            if isinstance(x, Value) and node is None and type(x._node) is Accumulate:
                found.append(x)
        return found

    def gradients(self) -> list[tuple[Any, Any]]:
        """The holders that have another `.grad` than before, and it."""
        return [(x, x._grad) for x, _, before in self.before if isinstance(x, Value) and x._grad is not before]

    # ---------------------------------------------------------------------------------------- history

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        if node is None:
            made = results if isinstance(results, tuple) else (results,)
            wanting = any(isinstance(x, Value) and x._node is not None for x in operands)
            self._forgets(wanting and prim.differentiable and any(dtype_of(y).kind not in "iub" for y in made))
        else:
            self._forgets(not isinstance(node.prim, Primitive))

    def detached(self, x: Any) -> None:
        self.cut = True
        self._forgets(x._node is not None or x._level != 0)

    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None:
        self.passed = True
        self._forgets(not run.level and not run.create_graph)

    def _forgets(self, history: bool) -> None:
        self.cut, self.forgotten = self.cut or history, self.forgotten or history

    # ---------------------------------------------------------------------------------------- memory written beside the trace

    def assigning(self, target: Any, new: Any) -> None:
        self.writing(target)

    def writing(self, array: Any) -> None:
        if type(array) is _ndarray and getattr(TRACING, "now", None) is self.trace:
            self.trace.settle(array)
            owner = mutation.owner_of(array)
            if isinstance(owner, _ndarray) and id(owner) not in self._written:
                self._written[id(owner)] = weakref.ref(owner), owner.copy()

    def refuse_hidden_writes(self, constants: Sequence[np.ndarray]) -> None:
        """Raise where something was written that is still there when the function's results are gone, but for the graph's
        constants: it was not made by the function."""
        for reference, array in self.trace.replaced:
            value = reference()
            if value is not None and id(value) not in self.arrays and type(value._a) is Traced:
                value._a = array
                self._hidden(array)
        owners = [mutation.owner_of(x) for x in constants]
        for reference, before in self._written.values():
            owner = reference()
            ours = sum((3 if x is owner else 2) * (y is owner) for x, y in zip(constants, owners))  # references to it
            if owner is not None and sys.getrefcount(owner) > 2 + ours:
                np.copyto(owner, before)
                self._hidden(owner)
        self._written.clear()

    def _hidden(self, array: np.ndarray) -> NoReturn:
        raise UnsupportedError(
            f"{self.trace.what}: the function writes into a tensor of shape {array.shape} from outside that is found neither "
            "among its arguments nor through its closure, globals or attributes; pass it as an argument"
        )
