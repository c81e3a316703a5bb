"""The list of passes, in the order in which they run, and the emitters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .emit import machine, straight
from .graph import Graph, Pass
from .verify import verify

PASSES: list[Pass] = []


def optimised(graph: Graph) -> Graph:
    """The graph after all passes."""
    checked = os.environ.get("RETROGRADE_VERIFY") == "1"
    if checked:
        verify(graph)
    for step in PASSES:
        graph = step(graph)
        if checked:
            verify(graph, step.__name__)
    return graph


def compiled(graph: Graph) -> Callable[..., Sequence[Any]]:
    """A function of the inputs' arrays that gives the outputs' arrays: machine code where it can be made, unless
    RETROGRADE_COMPILE says "numpy"."""
    emitter = machine if os.environ.get("RETROGRADE_COMPILE", "llvm") == "llvm" and machine.available() else straight
    return emitter.emitted(optimised(graph))
