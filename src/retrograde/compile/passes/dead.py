"""`dead`: equations that nothing takes a result of are left out."""

from __future__ import annotations

from ..graph import Equation, Graph


def dead(graph: Graph) -> Graph:
    """The graph without equations on which no output depends."""
    wanted = set(graph.outputs)
    left: list[Equation] = []
    for e in reversed(graph.equations):
        if not wanted.isdisjoint(e.outputs):
            wanted.update(v for v in e.inputs if v is not None)
            left.append(e)
    return graph if len(left) == len(graph.equations) else graph.replaced(left[::-1])
