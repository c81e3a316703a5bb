"""The list of passes, in the order in which they run, and the emitters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..core import level as levels
from . import records
from .emit import machine, straight
from .graph import Graph, Pass
from .passes.common import common
from .passes.dead import dead
from .passes.fold import fold
from .passes.simplify import simplify
from .verify import verify

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
    checked = os.environ.get("RETROGRADE_VERIFY") == "1"
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
    if _emitter() is machine:
        with levels.exactly(()):
            return machine.Emitted(graph).text()
    return straight.text(graph)[0]


def _emitter() -> Any:
    llvm = os.environ.get("RETROGRADE_COMPILE", "llvm") == "llvm" and machine.available()
    return machine if llvm else straight


def compiled(graph: Graph) -> Callable[..., Sequence[Any]]:
    """A function of the inputs' arrays that gives the outputs' arrays: machine code where it can be made, unless
    RETROGRADE_COMPILE says "numpy"."""
    with levels.exactly(()):  # kernels that passes look into make arrays of theirs, which belong to no trace around
        if _emitter() is straight:
            return straight.emitted(optimised(graph))
        if os.environ.get("RETROGRADE_VERIFY") == "1":  # the passes are to be looked at
            return machine.program(optimised(graph)).function()
        return records.function(graph, lambda: machine.program(optimised(graph)))
