"""Loops and choices as code that Python calls: machine code where the body is small (registers.py), a call of the body's code for
each turn elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core import level as levels
from ...core.primitive import PRIMITIVES
from .. import pipeline
from ..graph import Equation, Graph, Variable
from . import machine, registers

if TYPE_CHECKING:
    from ..loops.nested import Loop, While

Code = Callable[..., Sequence[np.ndarray]]


def of_graph(graph: Graph) -> Code:
    """The code of a graph, whose results are arrays of their own."""
    code = pipeline.compiled(graph)

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        return [y if y.flags.owndata and not any(y is x for x in arrays) else y.copy() for y in code(*arrays)]

    return run


def _machine(name: str, inputs: Sequence[Variable], outputs: Sequence[Variable], loop: Loop | While) -> Code | None:
    """The loop as machine code as a whole, where it can be."""
    if pipeline._emitter() is not machine:
        return None
    with levels.exactly(()):
        return registers.compiled(Equation(PRIMITIVES[name], inputs, {"loop": loop}, outputs))


def scanning(loop: Loop) -> Code:
    """The code of a scan."""
    first = loop.consts + loop.carries
    whole = [
        [Variable(v.shape if i < at else (loop.length, *v.shape), v.dtype) for i, v in enumerate(some)]
        for some, at in ((loop.graph.inputs, first), (loop.graph.outputs, loop.carries))
    ]
    found = _machine("scan", whole[0], whole[1], loop)
    if found is not None:
        return found
    body = pipeline.compiled(loop.graph)
    carries, outputs = loop.carries, loop.graph.outputs
    order = range(loop.length)
    order = order[::-1] if loop.reverse else order

    def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        given, carried, sequences = loop.parts(arrays)
        results = [np.empty((loop.length, *v.shape), v.dtype) for v in outputs[carries:]]
        for t in order:
            found = body(*given, *carried, *[x[t, ...] for x in sequences])
            carried = list(found[:carries])
            for stacked, y in zip(results, found[carries:]):
                stacked[t] = y
        return *[np.array(x, order="C") for x in carried], *results

    return run


def repeating(loop: While) -> Code:
    """The code of a loop of unknown length."""
    a, b = loop.consts
    like = [*loop.condition.inputs[:a], *loop.body.inputs]
    inputs, outputs = ([Variable(v.shape, v.dtype) for v in some] for some in (like, loop.body.inputs[b:]))
    found = _machine("while_loop", inputs, outputs, loop)
    if found is not None:
        return found
    condition, body = pipeline.compiled(loop.condition), pipeline.compiled(loop.body)

    def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        first, consts, carried = loop.parts(arrays)
        while condition(*first, *carried)[0]:
            carried = list(body(*consts, *carried))
        return tuple([np.array(x, order="C") for x in carried])

    return run
