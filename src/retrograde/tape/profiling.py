"""A profiler of what the engine computes: every kernel that runs, every step of a backward pass, named regions.

While nobody profiles nothing is spent on it: `start` puts a kernel that takes the time around each primitive's own, and
observes the rest. A dialect names the events and shows them.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

from .._state import Observer, observe
from ..core.node import Node
from ..core.primitive import PRIMITIVES
from ..core.specialise import swap_kernel
from ..core.value import shape_of

REGION, OPERATION, DERIVATIVE, ACCUMULATION = "region", "operation", "derivative", "accumulation"


class Event:
    """Something that took time: its kind and name, start and end in nanoseconds, the event around it, the thread; for an
    operation the shapes of its operands and the bytes of its results."""

    __slots__ = ("kind", "name", "start", "end", "parent", "thread", "shapes", "bytes")

    def __init__(self, kind: str, name: str, parent: Event | None, thread: int, shapes: Any = ()) -> None:
        self.kind, self.name, self.parent, self.thread, self.shapes = kind, name, parent, thread, shapes
        self.bytes = 0
        self.end = self.start = perf_counter_ns()


def _size(out: Any) -> int:
    """The bytes of memory that a result brought with it."""
    if type(out) is np.ndarray:
        return out.nbytes if out.base is None else 0
    return sum(map(_size, out)) if type(out) in (tuple, list) else 0


class _Thread(threading.local):
    """Where one thread is: the open events, and the operation that has just run, with its node."""

    def __init__(self) -> None:
        self.open: list[Event] = []
        self.last: tuple[Any, Event, Any] | None = None


class Kernels:
    """Puts what `around(prim, kernel)` gives in the place of each primitive's kernels, between `start` and `stop`."""

    def __init__(self, around: Callable[[Any, Callable[..., Any]], Callable[..., Any]]) -> None:
        self._around = around
        self._before: dict[str, Any] = {}

    def start(self) -> None:
        """Begin."""
        for name, prim in PRIMITIVES.items():
            kernel = self._before[name] = prim.numpy_kernel
            swap_kernel(prim, self._around(prim, kernel))
            if prim.large is not None:
                swap_kernel(prim, self._around(prim, prim.large), "LARGE")

    def stop(self) -> None:
        """End: every primitive gets back what it had."""
        for name, kernel in self._before.items():
            swap_kernel(PRIMITIVES[name], kernel)
            if PRIMITIVES[name].large is not None:
                swap_kernel(PRIMITIVES[name], PRIMITIVES[name].large, "LARGE")
        self._before.clear()


class Profiler(Observer):
    """Collects events between `start` and `stop`.

    named(prim, node) gives the name of an operation, with its node or None; derivative_named(node) that of a node, and of
    None for the sum into a leaf's gradient; around(name) that of the event around one of these.
    """

    def __init__(
        self, named: Callable[[Any, Any], str], derivative_named: Callable[[Any], str], around: Callable[[str], str]
    ) -> None:  # fmt: skip
        self.events: list[Event] = []
        self.began = self.ended = 0
        self._named, self._derivative_named, self._around = named, derivative_named, around
        self._here = _Thread()
        self._kernels = Kernels(lambda prim, kernel: functools.partial(self._timed, prim, kernel))
        self._watch = contextlib.ExitStack()

    def start(self) -> None:
        """Begin; raises RuntimeError where another profiler runs, since kernels can be timed for one only."""
        if RUNNING:
            raise RuntimeError("a profiler is running already; stop it before another one starts")
        RUNNING.append(self)
        self._kernels.start()
        self._watch.enter_context(observe(self))
        self.began = perf_counter_ns()

    def stop(self) -> None:
        """End: every primitive gets its own kernel back."""
        if self not in RUNNING:
            return
        self.ended = perf_counter_ns()
        self._settle()
        self._watch.close()
        self._kernels.stop()
        RUNNING.remove(self)
        for event in self._here.open:
            event.end = self.ended

    # -------------------------------------------------------------------- events

    def begin(self, kind: str, name: str, shapes: Any = ()) -> Event:
        """An event begins inside the one that is open in this thread."""
        here = self._here
        event = Event(kind, name, here.open[-1] if here.open else None, threading.get_ident(), shapes)
        here.open.append(event)
        self.events.append(event)
        return event

    def finish(self, event: Event) -> None:
        """An event ends, and those inside that have not ended."""
        now, held = perf_counter_ns(), self._here.open
        if event in held:
            while held:
                last = held.pop()
                last.end = now
                if last is event:
                    break

    def _timed(self, prim: Any, kernel: Callable[..., Any], /, *arrays: Any, **params: Any) -> Any:
        self._settle()
        event = self.begin(OPERATION, prim.name, [list(shape_of(x)) if hasattr(x, "shape") else [] for x in arrays])
        try:
            out = kernel(*arrays, **params)
        finally:
            self.finish(event)
        event.bytes = _size(out)
        self._here.last = (prim, event, None)
        return out

    def _settle(self) -> None:
        """Name the operation that ran last: only now is known under which name its node is shown."""
        last, self._here.last = self._here.last, None
        if last is not None:
            prim, event, held = last
            event.name = self._named(prim, held() if type(held) is weakref.ref else held)

    # -------------------------------------------------------------------- what the engine tells

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        """An operation has been recorded (or not): its node names it."""
        last = self._here.last
        if last is not None and last[0] is prim:
            if node is None:
                node = Node()
                node.prim, node.params, node.edges = prim, params, ()
                node.shape = shape_of(results[0] if prim.multi else results)
                self._here.last = (prim, last[1], node)
            else:
                self._here.last = (prim, last[1], weakref.ref(node))  # which is not to live longer for it

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        self._begin_derivative(DERIVATIVE, node)

    def arriving(self, run: Any, target: Any, g: Any) -> None:
        self._begin_derivative(ACCUMULATION, None)

    def arrived(self, run: Any, target: Any) -> None:
        self._close(ACCUMULATION)

    def pass_ends(self, run: Any, inputs: Any) -> None:
        self._close(DERIVATIVE)

    def _begin_derivative(self, kind: str, node: Any) -> None:
        """A node's derivative, or the sum into a leaf's gradient, begins, inside of an event around it."""
        self._close(DERIVATIVE)
        name = self._derivative_named(node)
        self.begin(kind, self._around(name))
        self.begin(kind, name)

    def _close(self, kind: str) -> None:
        """End the events of a kind that are open innermost."""
        self._settle()
        held = self._here.open
        while held and held[-1].kind == kind:
            self.finish(held[-1])


RUNNING: list[Profiler] = []
"""The profiler that runs, if one does."""


class Region:
    """A named stretch of a program: an event of the profiler that runs when it is entered, if one does."""

    __slots__ = ("name", "_open")

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: list[tuple[Profiler, Event] | None] = []

    def __enter__(self) -> Region:
        profiler = RUNNING[-1] if RUNNING else None
        self._open.append(None if profiler is None else (profiler, profiler.begin(REGION, self.name)))
        return self

    def __exit__(self, *exception: object) -> None:
        entered = self._open.pop() if self._open else None
        if entered is not None:
            profiler, event = entered
            profiler._settle()
            profiler.finish(event)
