"""A graph as straight-line Python over NumPy: one kernel after the other, arrays freed after their last use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Graph, Variable


def emitted(graph: Graph) -> Callable[..., Sequence[Any]]:
    """The function of a graph."""
    source, scope = text(graph)
    exec(compile(source, "<retrograde graph>", "exec"), scope)  # noqa: S102 - our own source
    found: Callable[..., Sequence[Any]] = scope["run"]
    return found


def text(graph: Graph) -> tuple[str, dict[str, Any]]:
    """Its source, and the globals that the source takes."""
    name = graph.names()
    scope: dict[str, Any] = {"__name__": __name__, "ndarray": np.ndarray, "asarray": np.asarray}
    scope.update((name[v], a) for v, a in graph.constants.items())
    last: dict[Variable, int] = {}
    for i, e in enumerate(graph.equations):
        last.update((v, i) for v in (*e.inputs, *e.outputs) if v is not None)
    kept = {*graph.outputs, *graph.constants}
    lines = [f"def run({', '.join(name[v] for v in graph.inputs)}):"]
    for i, e in enumerate(graph.equations):
        scope[f"op{i}"] = e.prim.op
        scope.update((f"p{i}_{k}", x) for k, x in e.params.items())
        given = ["None" if v is None else name[v] for v in e.inputs] + [f"{k}=p{i}_{k}" for k in e.params]
        targets = "".join(f"{name[v]}, " for v in e.outputs) if e.prim.multi else name[e.outputs[0]]
        lines.append(f"    {targets}= op{i}({', '.join(given)})")
        gone = [name[v] for v in dict.fromkeys((*e.inputs, *e.outputs)) if v is not None and last[v] == i and v not in kept]
        if gone:
            lines.append(f"    {' = '.join(gone)} = None")
    lines.append(f"    return [{', '.join(name[v] for v in graph.outputs)}]")
    return "\n".join(lines), scope
