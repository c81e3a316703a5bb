"""The list of passes, in the order in which they run, and the emitters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .emit import straight
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
    """A function of the inputs' arrays that gives the outputs' arrays."""
    return straight.emitted(optimised(graph))
