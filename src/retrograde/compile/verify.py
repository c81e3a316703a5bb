"""What every graph has to be, looked at between passes in tests and under RETROGRADE_VERIFY=1 (which also puts fences around the
memory that generated code is given, emit/fences.py)."""

from __future__ import annotations

import os

from ..core.aval import Aval
from .graph import Equation, Graph, Variable


def asked() -> bool:
    """Whether graphs are to be verified, and generated code to be watched."""
    return os.environ.get("RETROGRADE_VERIFY") == "1"


class InvalidGraph(AssertionError):
    """A pass has made a graph that is none."""


def verify(graph: Graph, after: str = "the trace") -> Graph:
    """The graph itself; raises InvalidGraph where a variable is taken before it is given, given twice, or is not of the shape and
    dtype that the primitive's rule says."""
    given: set[Variable] = set()

    def give(v: Variable, what: str) -> None:
        if v in given:
            raise InvalidGraph(f"after {after}: {what} gives a variable ({v!r}) that is given already")
        given.add(v)

    for v in graph.inputs:
        give(v, "an input")
    for v, array in graph.constants.items():
        give(v, "a constant")
        if array.shape != v.shape or array.dtype != v.dtype:
            raise InvalidGraph(f"after {after}: a constant of {array.dtype}{list(array.shape)} stands for {v!r}")
    for e in graph.equations:
        for x in e.inputs:
            if x is not None and x not in given:
                raise InvalidGraph(f"after {after}: {e.prim.name} takes a variable ({x!r}) that nothing before it gives")
        _verify_types(e, after)
        for v in e.outputs:
            give(v, e.prim.name)
    for v in graph.outputs:
        if v not in given:
            raise InvalidGraph(f"after {after}: an output ({v!r}) is a variable that nothing gives")
    return graph


def _verify_types(e: Equation, after: str) -> None:
    wanted = e.prim.infer([None if x is None else Aval(x.shape, x.dtype) for x in e.inputs], e.params)
    wanted = tuple(wanted) if e.prim.multi else (wanted,)
    if len(wanted) != len(e.outputs):
        raise InvalidGraph(f"after {after}: {e.prim.name} has {len(wanted)} outputs, and {len(e.outputs)} are given")
    for aval, v in zip(wanted, e.outputs):
        if tuple(aval.shape) != v.shape or aval.dtype != v.dtype:
            raise InvalidGraph(f"after {after}: {e.prim.name} gives {aval.dtype}{list(aval.shape)} for a variable of {v!r}")
