"""`Watch`: how long each operation takes forward and backward, what memory it makes, and where it was called.

What the graph and the report share; either adds what it wants to know of operations and gradients.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..._state import Observer, observe
from ...core.node import Node
from ...core.scattered import Scattered
from ...tape.profiling import Kernels
from ..arrays import inside, owner_of
from .calls import Call, Calls, Place

BACKWARD = " (backward)"
"""Behind the name of the operation whose derivative has made memory."""
STATE, GRADIENT = "optimiser's state", "gradient of a leaf"


class Row:
    """What one operation at one line has taken in all."""

    __slots__ = ("place", "name", "calls", "forward", "backward", "made")

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name = place, name
        self.calls = 0
        self.forward = self.backward = 0.0
        """Seconds in kernels, and in derivative rules."""
        self.made = 0
        """Bytes of new memory that results brought with them."""


class Alive:
    """The memory that operations have made and that is there, by line and operation, and what it was when it was most."""

    def __init__(self) -> None:
        self.total = self.peak = 0
        self.by: dict[tuple[Place, str], int] = {}
        self._at_peak: dict[tuple[Place, str], int] | None = {}
        self._known: dict[int, tuple[Any, tuple[Place, str], int]] = {}

    def add(self, a: Any, key: tuple[Place, str], besides: Iterable[Any] = ()) -> int:
        """An array is there; gives the bytes of memory that are new: none for a view of what is known or of `besides`."""
        if type(a) is not np.ndarray:
            return 0
        owner = owner_of(a)
        if id(owner) in self._known or any(owner is owner_of(x) for x in besides if type(x) is np.ndarray):
            return 0
        number, size = id(owner), int(owner.nbytes)
        self._known[number] = weakref.ref(owner, lambda _: self._gone(number)), key, size
        self.by[key] = self.by.get(key, 0) + size
        self.total += size
        if self.total > self.peak:
            self.peak, self._at_peak = self.total, None
        return size

    def _gone(self, number: int) -> None:
        if self._at_peak is None:  # the first that goes after the largest total
            self._at_peak = dict(self.by)
        _, key, size = self._known.pop(number)
        self.total -= size
        left = self.by[key] - size
        if left:
            self.by[key] = left
        else:
            del self.by[key]

    def at_peak(self) -> dict[tuple[Place, str], int]:
        """Bytes by line and operation when there were most."""
        return dict(self.by if self._at_peak is None else self._at_peak)


class Watch(Observer):
    """Watches what this thread computes between `start` and `stop`; also a context manager."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Place, str], Row] = {}
        self.alive = Alive()
        self.calls = Calls()
        self.of: weakref.WeakKeyDictionary[Any, Row] = weakref.WeakKeyDictionary()
        """Node -> the row of its operation."""
        self.seconds = 0.0
        self.depth = 0
        """In how many backward passes, one within the other, the thread is."""
        self._began = 0.0
        self._took: tuple[Any, float] = (None, 0.0)
        self._pulling: list[tuple[Any, float]] = []
        self._kernels = Kernels(self._timed)
        self._stack = contextlib.ExitStack()
        self._thread = 0

    def start(self) -> None:
        """Begin."""
        self._thread = threading.get_ident()
        self._kernels.start()
        self._stack.callback(self._kernels.stop)
        self._stack.enter_context(observe(self))
        WATCHING.append(self)
        self._began = perf_counter()

    def stop(self) -> None:
        """End."""
        self.seconds += perf_counter() - self._began
        WATCHING.remove(self)
        self._stack.close()

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _timed(self, prim: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arrays: Any, **params: Any) -> Any:
            begun = perf_counter()
            out = kernel(*arrays, **params)
            if threading.get_ident() == self._thread:
                self._took = prim, perf_counter() - begun
            return out

        return run

    # -------------------------------------------------------------------- what the engine tells

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        """An operation has been evaluated."""
        (timed, seconds), self._took = self._took, (None, 0.0)
        call, place = self.calls.here(3)
        name = prim.name
        row = self.rows.get((place, name))
        if row is None:
            row = self.rows[place, name] = Row(place, name)
        row.calls += 1
        if timed is not prim:
            seconds = 0.0
        row.forward += seconds
        operands = [None if x is None else inside(x)[0] for x in operands]
        arrays = [inside(y)[0] for y in (results if type(results) in (tuple, list) else (results,))]
        made = 0
        for a in arrays:
            made += self.alive.add(a, (place, name), operands)
        row.made += made
        if node is not None:
            self.of[node] = row
        self.evaluated(prim, operands, params, arrays, node, call, place, seconds)

    def evaluated(
        self, prim: Any, operands: Sequence[Any], params: Any, results: Sequence[Any], node: Any, call: Call | None,
        place: Place, seconds: float,
    ) -> None:  # fmt: skip
        """For those who want to know more of an operation; operands and results are arrays."""

    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None:
        """A backward pass begins."""
        self.depth += 1

    def pass_ends(self, run: Any, inputs: Any) -> None:
        """A backward pass has ended."""
        self.depth -= 1
        if not self.depth:
            self._pulling.clear()

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        """The gradient with respect to an operation's results has arrived; its rule is about to run."""
        self._pulling.append((node, perf_counter()))

    def gave(self, run: Any, node: Any, needs: Any, results: Any) -> None:
        """An operation's rule has run."""
        seconds = 0.0
        while self._pulling:  # of one whose pass has gone no further nothing is heard
            of, begun = self._pulling.pop()
            if of is node:
                seconds = perf_counter() - begun
                break
        row = self.of.get(node)
        place, name = ("", 0), getattr(node.prim, "name", "")
        if row is not None:
            row.backward += seconds
            place, name = row.place, row.name
        saved = [inside(x)[0] for x in saved_arrays(node)]
        for r in results:
            if r is not None:
                self.alive.add(dense(r), (place, name + BACKWARD), saved)
        self.differentiated(node, needs, results, seconds)

    def differentiated(self, node: Any, needs: Any, results: Any, seconds: float) -> None:
        """For those who want to know more of a derivative rule that has run."""

    def arrived(self, run: Any, target: Any) -> None:
        """A gradient has been added to that of a leaf."""
        if target._grad is not None:
            self.alive.add(dense(target._grad), (("", 0), GRADIENT))

    def updating(self, rule: str, columns: Any, options: Any) -> None:
        """An optimiser's rule is about to run on parameters, gradients and state (a column each)."""
        for column in columns[2:]:
            for a in column or ():
                self.alive.add(inside(a)[0] if a is not None else None, (("", 0), STATE))


def dense(r: Any) -> Any:
    """A gradient's array; of one with few elements, those."""
    if type(r) is Scattered:
        r = r.content
    a = inside(r)[0] if r is not None else None
    return a.content if type(a) is Scattered else a


def saved_arrays(node: Any) -> list[Any]:
    """What a node has kept for its rule, as far as it is arrays."""
    if type(node) is not Node or type(node.saved) is not tuple:
        return []
    flat = [y for x in node.saved for y in (x if type(x) is tuple else (x,))]
    return [x for x in flat if isinstance(x, np.ndarray) or hasattr(x, "_a")]


WATCHING: list[Watch] = []
"""The watches that are running, the last one begun last."""
