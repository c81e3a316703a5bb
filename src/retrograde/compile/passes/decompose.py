"""Operations that are made of others as those, where all of them can be part of a fused kernel: softmax, normalisation, losses.

The standard kernel of a primitive is a composition of functions of the array-API standard. It is run on the arrays of a trace,
whose equations then stand in the primitive's place: nothing is said about single primitives here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ..._state import grad_mode
from ...core import value as values
from ...core.value import Value, make
from ...ops.structural import reshape
from ..graph import Equation, Graph, Variable
from ..trace.trace import Trace, Traced
from .fuse import reduced

_NEVER = frozenset({"elementwise", "structural", "data_dependent", "bilinear", "scan", "control"})
"""Kinds of operations that have no better form."""
_DEEP = 3
"""How often what an operation is made of is taken apart, too."""


def decomposed(graph: Graph, expressible: Callable[[Equation], bool]) -> Graph:
    """The graph with the parts of operations in place of these. expressible: as for `partition`."""
    constants = dict(graph.constants)
    equations: list[Equation] = []
    for e in graph.equations:
        found = _parts(e, expressible, constants, _DEEP)
        equations += [e] if found is None else found
    return Graph(graph.inputs, constants, equations, graph.outputs).replaced(equations)


def _one_after_the_other(e: Equation) -> list[Equation] | None:
    """A reduction over axes that lie apart, as a batch normalisation's: one over the last of them and another over the rest."""
    x, out = e.inputs[0] if e.inputs else None, e.outputs[0]
    if x is None or e.prim.name not in ("sum", "mean", "amax", "amin") or x.dtype.char not in "fd" or not x.size:
        return None
    axis, n = e.params["axis"], x.ndim
    last = tuple(range(n - next((k for k in range(n) if n - 1 - k not in axis), n), n))
    first = tuple(a for a in axis if a not in last)
    if not last or not first or first == tuple(range(len(first))) == axis:
        return None
    middle = Variable([1 if a in last else size for a, size in enumerate(x.shape)], x.dtype)
    rest = Variable([1 if a in axis else size for a, size in enumerate(x.shape)], x.dtype)
    params = e.params | {"keepdims": True}
    inner = Equation(e.prim, [x], params | {"axis": last}, [middle], e.at)
    outer = Equation(e.prim, [middle], params | {"axis": first}, [rest], e.at)
    if reduced(inner) is None or reduced(outer) is None:
        return None
    return [inner, outer, Equation(reshape.prim, [rest], {"shape": out.shape}, [out], e.at)]


def _parts(
    e: Equation, expressible: Callable[[Equation], bool], constants: dict[Variable, np.ndarray], deep: int
) -> list[Equation] | None:  # fmt: skip
    """The equations that give an equation's outputs; None where some of them are no part of a kernel."""
    if (split := _one_after_the_other(e)) is not None:
        return split
    if e.prim.kind in _NEVER or reduced(e) is not None or not deep or any(0 in v.shape for v in (*e.inputs, *e.outputs) if v):
        return None
    if any(v.dtype.kind != "f" and v.dtype.name != "bfloat16" for v in (*e.inputs, *e.outputs) if v is not None):
        return None
    trace = Trace(e.prim.name)
    inputs = [None if v is None else make(values.core_class, Traced(trace, v)) for v in e.inputs]
    namespace = next((x for x in inputs if x is not None), None)
    if namespace is None:
        return None
    try:
        with grad_mode(False):
            out = e.prim.kernel(namespace.__array_namespace__(), *inputs, **e.params)
    except (UnsupportedError, AttributeError, TypeError, ValueError, NotImplementedError):  # a kernel for arrays with elements
        return None
    outputs = out if e.prim.multi else (out,)
    if len(outputs) != len(e.outputs):
        return None
    given: dict[Variable, Variable] = {}
    for y, v in zip(outputs, e.outputs):
        array: Any = y._a if isinstance(y, Value) else y
        if type(array) is not Traced or (array.shape, array.dtype) != (v.shape, v.dtype) or array.variable in given:
            return None
        given[array.variable] = v
    found: list[Equation] = []
    for part in trace.equations:
        renamed = Equation(part.prim, part.inputs, part.params, [given.get(v, v) for v in part.outputs], e.at)
        renamed = renamed.on([None if v is None else given.get(v, v) for v in part.inputs])
        kernel = reduced(renamed) is not None or part.prim.kind == "elementwise"
        if part.prim.name in ("reshape", "broadcast_to") or (kernel and expressible(renamed)):
            found.append(renamed)
            continue
        inner = _parts(renamed, expressible, constants, deep - 1)
        if inner is None:
            return None
        found += inner
    if not set(e.outputs) <= {v for x in found for v in x.outputs}:  # an operand itself is the result
        return None
    constants.update(trace.constants.values())
    return found
