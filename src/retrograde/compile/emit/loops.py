"""Loops and choices as code that Python calls: machine code where the body is small (registers.py), a call of the body's code for
each turn elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import pipeline
from ..graph import Graph

if TYPE_CHECKING:
    from ..nested import Loop, While

Code = Callable[..., Sequence[np.ndarray]]


def of_graph(graph: Graph) -> Code:
    """The code of a graph, whose results are arrays of their own."""
    code = pipeline.compiled(graph)

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        return [y if y.flags.owndata and not any(y is x for x in arrays) else y.copy() for y in code(*arrays)]

    return run


def scanning(loop: Loop) -> Code:
    """The code of a scan."""
    body = pipeline.compiled(loop.graph)
    consts, carries, outputs = loop.consts, loop.carries, loop.graph.outputs
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
    condition, body = pipeline.compiled(loop.condition), pipeline.compiled(loop.body)

    def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        first, consts, carried = loop.parts(arrays)
        while condition(*first, *carried)[0]:
            carried = list(body(*consts, *carried))
        return tuple([np.array(x, order="C") for x in carried])

    return run
