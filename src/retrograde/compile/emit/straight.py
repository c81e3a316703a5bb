"""A graph as straight-line Python over NumPy: one kernel after the other, arrays freed after their last use.

Where no code is generated, one of NumPy's functions writes into an operand that nothing else needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm
from ...core.record import Ufunc
from .. import failures
from ..graph import Equation, Graph, Variable
from ..passes.memory import Memory


def emitted(graph: Graph) -> Callable[..., Sequence[Any]]:
    """The function of a graph."""
    lines, scope, equations = _written(graph)
    return failures.function(failures.code(lines), scope, equations)


def one_by_one(graph: Graph) -> Callable[..., Sequence[Any]]:
    """The function of a graph that runs its operations as they would run without the compiler: what the others are held to."""

    def run(*arrays: Any) -> list[Any]:
        given = list(arrays)
        out = []
        for y in graph.run(*arrays):
            y = np.asarray(y)
            out.append(y.copy() if any(np.may_share_memory(y, x) for x in given) else y)
            given.append(out[-1])
        return out

    return run


def text(graph: Graph) -> tuple[str, dict[str, Any]]:
    """Its source, and the globals that the source takes."""
    lines, scope, _ = _written(graph)
    return "\n".join(lines), scope


def _written(graph: Graph) -> tuple[list[str], dict[str, Any], dict[int, Equation]]:
    """The lines, what they take, and the equations that lines compute."""
    name = graph.names()
    scope: dict[str, Any] = {"__name__": __name__, "ndarray": np.ndarray, "asarray": np.asarray}
    scope.update((name[v], a) for v, a in graph.constants.items())
    last: dict[Variable, int] = {}
    for i, e in enumerate(graph.equations):
        last.update((v, i) for v in (*e.inputs, *e.outputs) if v is not None)
    kept = {*graph.outputs, *graph.constants}
    own = set() if llvm.met() and llvm.available() else _own(graph)
    lines = [f"def run({', '.join(name[v] for v in graph.inputs)}):"]
    equations: dict[int, Equation] = {}
    for i, e in enumerate(graph.equations):
        equations[len(lines)] = e
        free = next((v for v in e.inputs if v in own and last[v] == i and _takes(e, v)), None)
        if free is not None:
            scope[f"op{i}"] = e.prim.kernel.numpy  # type: ignore[attr-defined]
            lines.append(f"    {name[e.outputs[0]]} = op{i}({', '.join(name[v] for v in (*e.inputs, free) if v is not None)})")
            continue
        scope[f"op{i}"] = e.prim.op
        scope.update((f"p{i}_{k}", x) for k, x in e.params.items())
        given = ["None" if v is None else name[v] for v in e.inputs] + [f"{k}=p{i}_{k}" for k in e.params]
        targets = "".join(f"{name[v]}, " for v in e.outputs) if e.prim.multi else name[e.outputs[0]]
        lines.append(f"    {targets}= op{i}({', '.join(given)})")
        gone = [name[v] for v in dict.fromkeys((*e.inputs, *e.outputs)) if v is not None and last[v] == i and v not in kept]
        if gone:
            lines.append(f"    {' = '.join(gone)} = None")
    memory, seen, results = Memory(graph), {*graph.inputs, *graph.constants}, list[str]()
    for v in graph.outputs:  # each has memory of its own
        root = memory.root(v)
        results.append(f"{name[v]}.copy()" if root in seen else name[v])
        seen.add(root)
    lines.append(f"    return [{', '.join(results)}]")
    return lines, scope, equations


def _function(e: Equation) -> bool:
    """Whether an equation is one of NumPy's functions on corresponding elements, whose result is an array of its own."""
    kernel = e.prim.kernel
    return isinstance(kernel, Ufunc) and isinstance(kernel.numpy, np.ufunc) and not e.params and None not in e.inputs


def _own(graph: Graph) -> set[Variable]:
    """Variables whose array nothing else refers to: functions give them, and take them."""
    shared = {v for e in graph.equations if not _function(e) for v in e.inputs} | set(graph.outputs)
    return {e.outputs[0] for e in graph.equations if _function(e) and e.outputs[0] not in shared and e.outputs[0].ndim}


def _takes(e: Equation, v: Variable) -> bool:
    """Whether a function may write its result into an operand."""
    out = e.outputs[0]
    return _function(e) and (out.shape, out.dtype) == (v.shape, v.dtype)
