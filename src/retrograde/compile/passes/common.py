"""`common`: what is computed twice from the same is computed once.

Draws are no exception: they take the generator's state as an operand and give the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.params import params_key
from ..graph import Equation, Graph, Variable, uniform
from .memory import ALWAYS, Memory

COMMUTATIVE = frozenset({
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "logical_and", "logical_or", "logical_xor", "multiply",
    "not_equal",
})  # fmt: skip
"""Primitives whose two operands may be exchanged without another bit in the result. (Not the larger of two: of 0 and -0 it is
the one that comes second.)"""

COMPARED = 64
"""The most elements of constants that are compared with others by what they hold."""


def common(graph: Graph) -> Graph:
    """The graph with one equation for each primitive, parameters and operands."""
    memory = Memory(graph)
    place: dict[Variable, Variable] = {}
    found: dict[Any, Equation] = {}
    left: list[Equation] = []
    number = {v: i for i, v in enumerate((*graph.inputs, *graph.constants))}
    _merge_constants(graph, place)
    for e in graph.equations:
        if any(v in place for v in e.inputs):
            e = e.on([None if v is None else place.get(v, v) for v in e.inputs])
        for v in e.outputs:
            number[v] = len(number)
        key = _key(e, number)
        first = found.get(key) if key is not None else None
        if first is None:
            found[key] = e
            left.append(e)
        elif _may_be_one(first, e, memory):
            place.update(zip(e.outputs, first.outputs))
        else:
            left.append(e)
    if not place:
        return graph
    return graph.replaced(left, [place.get(v, v) for v in graph.outputs])


def _may_be_one(first: Equation, e: Equation, memory: Memory) -> bool:
    """Whether the results of two equations may be the same arrays. Views of one array share its memory as it is."""
    pairs = list(zip(first.outputs, e.outputs))
    if e.prim.name not in ALWAYS and any(memory.visible(v) and memory.visible(w) for v, w in pairs):
        return False
    memory.show([v for v, w in pairs if memory.visible(w)])
    return True


def _key(e: Equation, number: dict[Variable, int]) -> Any:
    """What equations have in common that compute the same; None where a parameter has no key."""
    try:
        params = params_key(e.prim, e.params)
        hash(params)
    except TypeError:
        return None
    inputs = [-1 if v is None else number[v] for v in e.inputs]
    if e.prim.name in COMMUTATIVE:
        inputs.sort()
    return e.prim, params, tuple(inputs)


def _merge_constants(graph: Graph, place: dict[Variable, Variable]) -> None:
    """Let one constant stand for all that hold the same, of numbers however many and of few elements."""
    kept = set(graph.outputs)
    known: dict[Any, Variable] = {}
    for v, array in graph.constants.items():
        if v in kept or (array.size > COMPARED and not uniform(array)):
            continue
        held = array.flat[:1] if uniform(array) else np.ascontiguousarray(array)
        first = known.setdefault((array.shape, array.dtype, held.tobytes()), v)
        if first is not v:
            place[v] = first
