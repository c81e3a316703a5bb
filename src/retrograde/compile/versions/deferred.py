"""Deferred mode: Python runs at every call, operations only append to a graph, and when a value is needed (`item`, a branch,
print, NumPy, the end of the call) what has been appended so far runs, compiled by its structure.

Always right: effects, branches on values and prints happen as they do without. `Deferral` is a trace whose arrays get their
elements when they are asked for; `run` calls a function in it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._tree import flatten
from ...backend.numpy import NUMPY
from ...core.node import Node, producer, tick
from ...core.value import Value
from ...tape import mutation
from ...tape.inplace import live_views, look_again
from .. import layout, pipeline
from ..graph import Graph, Variable
from ..guards.reads import Reads, TooMuch
from ..trace.sizes import MACHINE
from ..trace.substituted import Substituted
from ..trace.trace import LOCK, TRACING, Trace, Traced

_ndarray = np.ndarray

SEGMENTS: dict[Any, Any] = {}
"""What segments of each structure are compiled to."""
_MOST = 1024
_ROOM: dict[Any, list[int]] = {}
"""How many more segments that are alike but for sizes and numbers may become machine code, by what they have in common."""
LONGEST = 2000
"""Operations that wait at most: then a segment runs though nobody asks."""


class Deferral(Trace):
    """A trace that can say what its arrays hold.

    segments: how many have run; new: how many of these for the first time.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.segments = self.new = 0
        self._thread = threading.get_ident()
        self._waiting: list[weakref.ref[Traced]] = []
        self._known: list[weakref.ref[Traced]] = []  # those that have their elements
        self.held: Substituted | None = None
        self._handed: list[weakref.ref[Value]] = []
        """The values that hooks of the program were given."""

    leaves = False

    def begin(self, array: np.ndarray, holder: Any = None) -> Traced:
        """An array that has its elements from the beginning."""
        made = Traced(self, Variable(array.shape, array.dtype))
        made.value = array
        self._known.append(weakref.ref(made))
        return made

    def known(self, array: np.ndarray) -> Traced:
        return self.begin(array)

    def handed(self, holder: Value) -> None:
        self._handed.append(weakref.ref(holder))

    def left(self) -> list[Value]:
        """What hooks of the program have kept of what they were given."""
        return [x for reference in self._handed if (x := reference()) is not None]

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype) -> Traced:
        return self.begin(np.full(shape, value, dtype))

    def operation(self, prim: Any, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        if not self.open or threading.get_ident() != self._thread or _may_fail(prim, arrays):
            return NUMPY.evaluate(prim, [self.elements(x) if type(x) is Traced else x for x in arrays], params)
        if len(self.equations) >= LONGEST:
            self.flush()
        made = super().operation(prim, [x.value if type(x) is Traced and x.value is not None else x for x in arrays], params)
        self._waiting += [weakref.ref(x) for x in (made if type(made) is tuple else (made,))]
        return made

    def settle(self, array: np.ndarray) -> None:
        super().settle(array)
        self._apart(array, None)

    def elements(self, x: Traced) -> np.ndarray:
        """The elements of an array."""
        if x.value is None:
            if x.trace is not self:
                return x.trace.elements(x)
            self.flush()
        assert x.value is not None
        return x.value

    def flush(self) -> None:
        """Run what is waiting, for those who still want it."""
        wanted = [x for reference in self._waiting if (x := reference()) is not None]
        self._waiting = []
        if wanted:
            constants = [*self.constants.values(), *self.settled]
            outputs = [x.variable for x in wanted]
            graph = Graph([v for v, _ in constants], {}, self.equations, outputs)
            found = self._compiled(graph)(*[array for _, array in constants])
            lies = layout.orders(self) if any(e.prim.name == "transpose" for e in self.equations) else None
            for x, array in zip(wanted, found):
                at = None if lies is None else lies(x.variable)
                x.value = array if at is None else layout.laid(array, at)
            self._known += map(weakref.ref, wanted)
            self.segments += 1
        self.equations, self.constants, self.settled = [], {}, []
        if self.held is not None:
            self._commit(self.held)

    def _compiled(self, graph: Graph) -> Any:
        key = graph.structure()
        found = SEGMENTS.get(key) if key is not None else None
        if found is None:
            self.new += 1
            found = _code(graph, key)
            if key is not None:
                while len(SEGMENTS) >= _MOST:
                    del SEGMENTS[next(iter(SEGMENTS))]
                SEGMENTS[key] = found
        return found

    def _commit(self, held: Substituted) -> None:
        """Write into memory what holders have become."""
        for x in held.changed_holders():
            now = x._a
            array = held.arrays[id(x)]
            if now is array:  # changed in its own memory
                continue
            value = self.elements(now) if type(now) is Traced else now
            if isinstance(x, Value) and value.shape == array.shape and value.dtype == array.dtype:
                self._apart(array, now)
                mutation.write(array, value)
            else:
                held.arrays[id(x)] = array = value
            held.entered[id(x)] = x._a = self.begin(array)  # what follows looks at the same memory

    def before_change(self, target: Any) -> None:
        """Let a value and all that shares its memory hold memory, in which the change is made: all that is asked of changes in
        place (clocks, views, what may not be changed) is asked of NumPy's arrays, as without."""
        base = target if target._base is None else target._base
        base = base if base._memory is None else base._memory[0]
        if type(base._a) is not Traced:
            return
        now = base._a
        array = self.elements(now)
        self.flush()
        if self.held is not None and id(base) in self.held.arrays:
            array = self.held.arrays[id(base)]
        elif self._seen_by_others(array, [now, *(v._a for v in live_views(base))]):
            array = array.copy()
        base._a = array
        look_again(base)

    def _seen_by_others(self, array: np.ndarray, own: Sequence[Any]) -> bool:
        """Whether arrays other than some look at the memory of an array."""
        alive = [x for reference in self._known if (x := reference()) is not None and x.value is not None]
        return any(np.may_share_memory(x.value, array) for x in alive if not any(x is y for y in own))

    def into_memory(self, target: Any, array: Traced) -> np.ndarray:
        return self.elements(array)

    @contextlib.contextmanager
    def suspended(self, what: str, holders: Any) -> Iterator[None]:
        """A context in which nothing is deferred: what came in has its own arrays, and so have other holders."""
        assert self.held is not None
        self.flush()
        held, TRACING.now = self.held, None
        for x in held.holders:
            x._a = held.arrays[id(x)]
        for x in holders:
            if type(x._a) is Traced:
                x._a = self.elements(x._a)
        try:
            yield
        finally:
            for x in held.holders:
                held.arrays[id(x)] = x._a
                held.entered[id(x)] = x._a = self.begin(x._a)
            TRACING.now = self

    def _apart(self, array: np.ndarray, new: Any) -> None:
        """Before memory is written: arrays that lie in it keep their elements in memory of their own."""
        kept = []
        for reference in self._known:
            x = reference()
            if x is not None and x.value is not None:
                kept.append(reference)
                if x is not new and np.may_share_memory(x.value, array):
                    x.value = x.value.copy()
        self._known = kept


def _may_fail(prim: Any, arrays: Sequence[Any]) -> bool:
    """Whether the elements decide what shape the result has, or whether there is one: such an operation is not put off."""
    if prim.kind == "data_dependent" or "linalg" in prim.module:
        return True
    return prim.kind in ("general", "structural") and any(x is not None and x.dtype.kind in "iu" for x in arrays)


def run(name: str, roots: Any, leaves: Sequence[Any], call: Callable[[], Any]) -> tuple[Any, Deferral]:
    """The result of `call()`, deferred; and what was deferred.

    roots: the function that it calls, and arguments that lead to tensors. leaves: the tensors among the arguments, and their
    gradients.
    """
    deferral = Deferral(name)
    try:
        outside = Reads(*roots).holders
    except TooMuch:
        outside = []
    given = {id(x): x for x in leaves}
    start = tick()
    with LOCK, Substituted(deferral, list(given.values()), [x for x in outside if id(x) not in given]) as held:
        deferral.held = held
        try:
            out = call()
        finally:
            deferral.flush()
            _settle(held, start)
            for x in deferral.left():
                _with_elements(x, start)
        results, _ = flatten(out)
        for y in results:
            if isinstance(y, Value):
                _with_elements(y, start)
    deferral.held = None  # all is as it was left: nothing is to be kept for what may still hold an array of the call
    return out, deferral


def _settle(held: Substituted, start: int) -> None:
    """Give what the call leaves behind its elements."""
    for x in held.holders:
        if isinstance(x, Value) and x._grad is not None:
            _with_elements(x._grad, start)


def _with_elements(x: Value, start: int) -> None:
    if type(x._a) is Traced:
        x._a = x._a.trace.elements(x._a)
    for node in _recorded(x, start):
        if node.saved and type(node.saved) is tuple:
            node.saved = _elements(node.saved)


def _elements(saved: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([
        x.trace.elements(x) if type(x) is Traced else _elements(x) if type(x) is tuple else x for x in saved
    ])  # fmt: skip


def _recorded(x: Value, start: int) -> Iterator[Node]:
    """The nodes below a value that were recorded after `start`."""
    stack, seen = [producer(x._node)], set()
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node.seq > start and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack += [producer(edge) for edge in node.edges if edge is not None]


def _code(graph: Graph, key: Any) -> Callable[..., Sequence[Any]]:
    """What runs a segment: machine code, or where there was one of other sizes or numbers what becomes machine code when it has
    come often."""
    form = _form(graph)
    room = _ROOM.get(form)
    if room is None:
        while len(_ROOM) >= _MOST:
            del _ROOM[next(iter(_ROOM))]
        _ROOM[form] = [MACHINE]
        return pipeline.compiled(graph)
    growing = pipeline.Growing(lambda: graph, room)

    def ready(code: Callable[..., Sequence[Any]]) -> None:
        if SEGMENTS.get(key) is growing:
            SEGMENTS[key] = code

    growing.ready = ready
    return growing


def _form(graph: Graph) -> Any:
    """What a segment has in common with those of other sizes and numbers."""
    numbers = {v: i for i, v in enumerate(graph.inputs)}
    parts: list[Any] = [tuple([(v.ndim, v.dtype) for v in graph.inputs])]
    for e in graph.equations:
        parts.append((e.prim.name, tuple([numbers.get(v, -1) for v in e.inputs])))  # type: ignore[arg-type]
        for v in e.outputs:
            numbers[v] = len(numbers)
    return tuple(parts), tuple([numbers.get(v, -1) for v in graph.outputs])
