"""The list of passes, in the order in which they run, and the emitters."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..backend.jit import llvm
from ..core import level as levels
from . import log, records
from .emit import straight
from .emit.program import available
from .graph import Graph, Pass
from .passes.common import common
from .passes.dead import dead
from .passes.fold import fold
from .passes.simplify import simplify
from .verify import asked, verify

if TYPE_CHECKING:
    from .cost import Cost

EMITTERS = ("eager", "numpy", "llvm")
"""What RETROGRADE_COMPILE may say: the graph as it was traced, one operation after the other as without the compiler; after the
passes, as straight-line NumPy; after the passes, as machine code where it can be made (the default)."""

PASSES: list[Pass] = [
    fold,  # before the others: numbers are what most simplifications ask for
    simplify,
    common,  # after what says the same in the same words
    dead,
]
"""They run in this order until none of them changes the graph: a pass that changes nothing gives the graph itself."""

ROUNDS = 8
"""How often at most. Each round leaves out equations; two are the rule."""


def optimised(graph: Graph) -> Graph:
    """The graph after all passes."""
    checked = asked()
    if checked:
        verify(graph)
    for _ in range(ROUNDS):
        before = graph
        for step in PASSES:
            graph = step(graph)
            if checked:
                verify(graph, step.__name__)
        if graph is before:
            break
    return graph


def text(graph: Graph) -> str:
    """The code of a graph that has gone through the passes."""
    if chosen() == "eager":
        return "the graph as it was traced, one operation after the other"
    if machine_code():
        with levels.exactly(()):
            return _machine().Emitted(graph).text()
    return straight.text(graph)[0]


def cost(graph: Graph) -> Cost:
    """What a graph costs, run as RETROGRADE_COMPILE says."""
    from . import cost as costs  # half of the time that importing the compiler would take, for data classes

    with levels.exactly(()):
        return costs.cost(graph if chosen() == "eager" else optimised(graph), _emitter())


def chosen() -> str:
    """How graphs are run, of `EMITTERS`, as the environment variable RETROGRADE_COMPILE says; ValueError for another word."""
    found = getattr(_choice, "now", None) or os.environ.get("RETROGRADE_COMPILE") or "llvm"
    if found not in EMITTERS:
        raise ValueError(f"RETROGRADE_COMPILE={found}: choose one of {', '.join(EMITTERS)}")
    return found


_choice = threading.local()


@contextlib.contextmanager
def choosing(emitter: str) -> Iterator[None]:
    """A context in which this thread's graphs are run in a way of `EMITTERS`, whatever the environment says."""
    before, _choice.now = getattr(_choice, "now", None), emitter
    try:
        yield
    finally:
        _choice.now = before


def machine_code() -> bool:
    """Whether graphs become machine code here and now."""
    return chosen() == "llvm" and available()


def _machine() -> Any:
    from .emit import machine  # with all that writes code, which is not wanted where programs are read from disk

    return machine


def _emitter() -> Any:
    return _machine() if machine_code() else straight


def compiled(graph: Graph, what: str | None = None, *, anew: bool = False) -> Callable[..., Sequence[Any]]:
    """A function of the inputs' arrays that gives the outputs' arrays: machine code where it can be made, unless
    RETROGRADE_COMPILE chooses something else. what: the name of the function that it is of, for the log. anew: whether
    programs on disk are left alone."""
    with levels.exactly(()), log.about(what):  # kernels that passes look into make arrays, which belong to no trace around
        log.tell("graphs", lambda: f"as it was traced:\n{graph}")
        if chosen() == "eager":
            return straight.one_by_one(graph)
        clock, before, by_machine = log.Clock(), dict(llvm.MADE), machine_code()
        passed: list[tuple[Graph, float]] = []

        def after() -> Graph:
            """The graph after the passes, which are left out where its program is kept on disk."""
            if not passed:
                clock()
                passed.append((optimised(graph), clock()))
            return passed[0][0]

        if not by_machine:
            found = straight.emitted(after())
        elif anew or asked():  # the passes are to be looked at
            found = _machine().program(after()).function()
        else:
            found = records.function(graph, lambda: _machine().program(after()))
        took, known = clock(), not passed
        log.tell("graphs", lambda: f"after the passes:\n{after()}")
        log.tell("compile", lambda: _summary(graph, None if known else passed[0], took, before))
        if by_machine:
            log.tell("fusion", lambda: f"\n{_machine().explanation(after())}")
        log.tell("code", lambda: text(after()))
    return found


def at_hand(graph: Graph, what: str | None = None) -> tuple[Callable[..., Sequence[Any]], bool]:
    """What `compiled` gives as far as no machine code has to be made for it: from a program on disk, else as straight-line NumPy.
    And whether it is what `compiled` would give. LLVM is not loaded for it."""
    with levels.exactly(()), log.about(what):
        if chosen() == "llvm" and not asked() and (not llvm.met() or available()):
            found = records.kept(graph)
            if found is not None:
                log.tell("compile", lambda: f"{len(graph.equations)} operations, its program read from disk")
                return found, True
            log.tell("compile", lambda: f"{len(graph.equations)} operations, as straight-line NumPy for the time being")
            return straight.emitted(optimised(graph)), False
    return compiled(graph, what), True


class Growing:
    """The function of a graph whose sizes may not come again: what is at hand, and machine code where they do come again.

    graph: makes it. room: how many more may become machine code, which those that share it count down. ready: what is told of
    what stays.
    """

    def __init__(self, graph: Callable[[], Graph], room: list[int]) -> None:
        self._graph, self._room, self._calls, self._final = graph, room, 0, False
        self._code: Callable[..., Sequence[Any]] | None = None
        self.ready: Callable[[Callable[..., Sequence[Any]]], None] | None = None

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        code = self._code
        if code is None:
            code, final = at_hand(self._graph())
            self._stays(code, final)
        self._calls += 1
        if self._calls == OFTEN and not self._final and self._room[0]:
            self._room[0] -= 1
            code = compiled(self._graph())
            self._stays(code, True)
        return code(*arrays)

    def _stays(self, code: Callable[..., Sequence[Any]], final: bool) -> None:
        self._code, self._final = code, final
        if final and self.ready is not None:
            self.ready(code)


OFTEN = 8
"""Calls with some sizes after which they are taken to come again."""


def _summary(graph: Graph, passed: tuple[Graph, float] | None, took: float, before: dict[str, int]) -> str:
    made, read = (llvm.MADE[key] - before[key] for key in ("translated", "read"))
    modules = f" ({made} modules translated, {read} read from disk)" if made + read else ""
    if passed is None:
        how = f"its program read from disk in {took:.1f} ms"
    else:
        after, passes = passed
        code = f"code by {_emitter().__name__.rpartition('.')[2]} in {took:.1f} ms"
        how = f"{len(after.equations)} after the passes in {passes:.1f} ms, {code}"
    return f"({', '.join(map(repr, graph.inputs))}): {len(graph.equations)} operations, {how}{modules}"
