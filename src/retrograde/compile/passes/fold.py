"""`fold`: what depends on constants only is computed once, before the code is made."""

from __future__ import annotations

import numpy as np

from ...core.bind import KERNEL_ERRORS
from ...core.primitive import PRIMITIVES
from ..graph import Equation, Graph, Variable, uniform
from .memory import Memory

MOST = 1 << 16
"""The most elements that an equation may take and give to be computed beforehand, but for those that are all one number."""

REPEATING = frozenset({
    "as_strided", "broadcast_to", "concatenate", "copy", "diagonal", "flip", "getitem", "rearrange", "repeat_elements", "reshape",
    "roll", "rot90", "sliding_windows", "split", "stack", "stop_gradient", "tile", "transpose", "unstack",
})  # fmt: skip
"""Primitives whose results hold nothing but elements of their operands."""


def fold(graph: Graph) -> Graph:
    """The graph with constants in place of what constants give. An output that is one, or lies in one, is a copy of it, since
    callers may write into what they get."""
    constants, left = dict(graph.constants), list[Equation]()
    outputs = set(graph.outputs)
    for e in graph.equations:
        found = None if e.prim.name == "copy" and e.outputs[0] in outputs else _computed(e, constants)
        if found is None:
            left.append(e)
        else:
            constants.update(zip(e.outputs, found))
    now = Graph(graph.inputs, constants, left, graph.outputs)
    memory, shown = Memory(now), list[Variable]()
    for v in graph.outputs:
        if memory.root(v) in constants:
            copied = Variable(v.shape, v.dtype)
            left.append(Equation(PRIMITIVES["copy"], [v], {}, [copied]))
            v = copied
        shown.append(v)
    if len(constants) == len(graph.constants) and len(left) == len(graph.equations):
        return graph
    return now.replaced(left, shown)


def _computed(e: Equation, constants: dict[Variable, np.ndarray]) -> list[np.ndarray] | None:
    """The results of an equation of constants; None of another one, of one that is too large, and of one that fails: it does
    so where the code runs."""
    if not e.inputs or any(v is not None and v not in constants for v in e.inputs):
        return None
    arrays = [None if v is None else constants[v] for v in e.inputs]
    same = all(a is None or uniform(a) for a in arrays) and all(v.size for v in e.outputs)
    if same and e.prim.name in REPEATING:
        return _repeated(e, arrays)
    one = same and e.prim.kind == "elementwise"
    if one:
        arrays = [None if a is None else a.reshape(-1)[:1].reshape(()) if a.ndim else a for a in arrays]
    elif sum(a.size for a in arrays if a is not None) + sum(v.size for v in e.outputs) > MOST:
        return None
    try:
        with np.errstate(all="ignore"):
            out = e.prim.op(*arrays, **e.params)
    except KERNEL_ERRORS:
        return None
    return [
        np.broadcast_to(y, v.shape) if one else y for v, y in zip(e.outputs, out if e.prim.multi else (out,))
    ]  # fmt: skip


def _repeated(e: Equation, arrays: list[np.ndarray | None]) -> list[np.ndarray] | None:
    """The results of what only repeats elements, of which all are one number."""
    first = arrays[0]
    assert first is not None
    numbers = {a.flat[:1].tobytes() for a in arrays if a is not None}
    if len(numbers) > 1 or any(v.dtype != first.dtype for v in e.outputs):
        return None
    return [np.broadcast_to(first[(0,) * first.ndim], v.shape) for v in e.outputs]
