"""`simplify`: equations that change nothing, or that say in two steps what one says, are left out.

What may be left out stands in one table, `RULES`, by primitive. A rule is exact: every bit of the result is as without it,
whatever the operands hold, nan, infinities and zeros of either sign included. (x + 0 is no x where x is -0; x * 0 is no 0.)
Sums are the exception: that of a repeated number is a product, which rounds once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.primitive import PRIMITIVES
from ..graph import Equation, Graph, Variable, uniform
from .memory import VIEWS, Memory


class Known:
    """What rules ask about a graph that is being rewritten from its first equation on."""

    def __init__(self, graph: Graph) -> None:
        self.constants = dict(graph.constants)
        self._made: dict[Variable, Equation] = {}

    def note(self, e: Equation) -> None:
        self._made.update((v, e) for v in e.outputs)

    def made(self, v: Variable | None, name: str) -> Equation | None:
        """The equation that gives a variable, if it is of this primitive."""
        e = self._made.get(v) if v is not None else None
        return e if e is not None and e.prim.name == name else None

    def number(self, v: Variable | None) -> Any:
        """The number that all elements of a variable are known to be, as a NumPy scalar; None where there is none."""
        array = self.constants.get(v) if v is not None else None
        return None if array is None or not uniform(array) else array[(0,) * array.ndim]

    def constant(self, number: Any, dtype: np.dtype) -> Variable:
        """A variable without axes that is a number."""
        v = Variable((), dtype)
        self.constants[v] = np.asarray(number, dtype)
        return v


Rule = Callable[[Equation, Known], "Variable | Equation | None"]
"""What stands for an equation: a variable in place of its result, another equation of its outputs, or (None) itself."""


def simplify(graph: Graph) -> Graph:
    """The graph after the rules."""
    known, memory = Known(graph), Memory(graph)
    place: dict[Variable, Variable] = {}
    left: list[Equation] = []
    changed = False
    for e in graph.equations:
        if any(v in place for v in e.inputs):
            e = e.on([None if v is None else place.get(v, v) for v in e.inputs])
        for rule in (*RULES.get(e.prim.name, ()), *(EVERY if e.prim.kind == "elementwise" else ())):
            found = rule(e, known)
            if found is None or not _may_be(found, e, memory):
                continue
            changed = True
            if isinstance(found, Variable):
                place[e.outputs[0]] = found
                break
            e = found
            memory.view(e)
        else:
            known.note(e)
            left.append(e)
    if not changed:
        return graph
    return Graph(graph.inputs, known.constants, left, graph.outputs).replaced(left, [place.get(v, v) for v in graph.outputs])


def _may_be(found: Variable | Equation, e: Equation, memory: Memory) -> bool:
    """Whether what a rule says is an array as the equation's, and one that may leave the graph where that one does."""
    (out,) = e.outputs
    if isinstance(found, Variable):
        return found.shape == out.shape and found.dtype == out.dtype and memory.may_stand(found, out)
    if found.prim.name in VIEWS:
        assert found.inputs[0] is not None
        return memory.may_stand(found.inputs[0], out)
    return True


# ------------------------------------------------------------------------------------------ numbers as operands


def _is(number: Any, wanted: Any) -> bool:
    """Whether a number is this one, with the sign that a zero has. Complex ones never are: their products and sums are of
    parts, of which nan and infinities make others."""
    return (
        number is not None and number.dtype.kind != "c" and bool(number == wanted)
        and (number.dtype.kind in "iub" or math.copysign(1, number) == math.copysign(1, wanted))
    )  # fmt: skip


def without(at: Sequence[int], number: Any) -> Rule:
    """The other operand, where the one at these positions is a number."""

    def rule(e: Equation, known: Known) -> Variable | None:
        for i in at:
            if _is(known.number(e.inputs[i]), number):
                return e.inputs[1 - i]
        return None

    return rule


def _chosen(e: Equation, known: Known) -> Variable | None:
    """The branch of a choice by one truth."""
    truth = known.number(e.inputs[0])
    return None if truth is None or truth.dtype.kind != "b" else e.inputs[1 if truth else 2]


# ------------------------------------------------------------------------------------------ twice the same


def _inverse_of_itself(e: Equation, known: Known) -> Variable | None:
    first = known.made(e.inputs[0], e.prim.name)
    return None if first is None else first.inputs[0]


def _for_truths(e: Equation, known: Known) -> Variable | None:
    x = e.inputs[0]
    return _inverse_of_itself(e, known) if x is not None and x.dtype.kind == "b" else None


def _of_reals(e: Equation, known: Known) -> Variable | None:
    x = e.inputs[0]
    return x if x is not None and x.dtype.kind != "c" else None


def _itself(e: Equation, known: Known) -> Variable | None:
    return e.inputs[0]


# ------------------------------------------------------------------------------------------ casts


def _cast_back(e: Equation, known: Known) -> Variable | None:
    """The number itself, where it went into a wider dtype of its kind and back."""
    first = known.made(e.inputs[0], "cast")
    if first is None or first.inputs[0] is None:
        return None
    before, between, after = first.inputs[0].dtype, first.outputs[0].dtype, e.outputs[0].dtype
    wider = before.kind == between.kind in "fiu" and np.can_cast(before, between, "safe")
    return first.inputs[0] if before == after and wider else None


def _to_the_first_power(e: Equation, known: Known) -> Variable | None:
    x = e.inputs[0]
    return x if x is not None and x.dtype.kind in "fiu" and e.params["exponent"] == 1 else None


# ------------------------------------------------------------------------------------------ shapes


def _unmoved(e: Equation, known: Known) -> Variable | None:
    """What a reshape or a broadcast to the shape that is there gives."""
    return e.inputs[0]


def _last_shape(e: Equation, known: Known) -> Equation | None:
    """A reshape of a reshape, and a broadcast of a broadcast: the last says it."""
    first = known.made(e.inputs[0], e.prim.name)
    return None if first is None else e.on(first.inputs)


def _in_order(e: Equation, known: Known) -> Variable | None:
    axes = e.params["axes"]
    return e.inputs[0] if all(a % len(axes) == i for i, a in enumerate(axes)) else None


def _both_orders(e: Equation, known: Known) -> Equation | None:
    """A transpose of a transpose."""
    first = known.made(e.inputs[0], "transpose")
    if first is None:
        return None
    axes = tuple([first.params["axes"][a] for a in e.params["axes"]])
    return Equation(e.prim, first.inputs, {"axes": axes}, e.outputs, e.at)


def _sum_of_repeated(e: Equation, known: Known) -> Equation | None:
    """The sum over axes along which an array was stretched: so many times the array."""
    stretched = known.made(e.inputs[0], "broadcast_to")
    x = stretched.inputs[0] if stretched is not None else None
    axes = e.params.get("axis")
    if x is None or stretched is None or x.dtype != e.outputs[0].dtype or x.dtype.kind not in "fiu" or e.params.get("keepdims"):
        return None
    shape = stretched.outputs[0].shape
    extra = len(shape) - x.ndim
    over = range(len(shape)) if axes is None else [a % len(shape) for a in ((axes,) if isinstance(axes, int) else axes)]
    if sorted(over) != list(range(extra)) or shape[extra:] != x.shape:
        return None
    times = math.prod(shape[:extra])
    if not times or times > (1 << np.finfo(x.dtype).nmant if x.dtype.kind == "f" else np.iinfo(x.dtype).max):
        return None
    return Equation(PRIMITIVES["multiply"], [x, known.constant(times, x.dtype)], {}, e.outputs, e.at)


def _unstretched(e: Equation, known: Known) -> Equation | None:
    """Operands as they were before they were broadcast, and numbers without axes, where the others give the shape."""
    inputs, (out, *others) = list(e.inputs), e.outputs
    if others or e.prim.multi or len(inputs) < 2:
        return None
    for i, v in enumerate(inputs):
        if v is None or not v.ndim:
            continue
        stretched = known.made(v, "broadcast_to")
        number = known.number(v) if v.size > 1 else None
        if stretched is None and number is None:
            continue
        shapes = [x.shape for j, x in enumerate(inputs) if x is not None and j != i]
        smaller = stretched.inputs[0] if stretched is not None else None
        rest = [*shapes, () if smaller is None else smaller.shape]
        if np.broadcast_shapes(*rest) == out.shape:
            inputs[i] = smaller if smaller is not None else known.constant(number, v.dtype)
    if tuple(inputs) == e.inputs:
        return None
    given = e.prim.infer([None if v is None else Aval(v.shape, v.dtype) for v in inputs], e.params)
    return e.on(inputs) if tuple(given.shape) == out.shape and given.dtype == out.dtype else None


# ------------------------------------------------------------------------------------------ the table

RULES: dict[str, tuple[Rule, ...]] = {
    "add": (without((0, 1), -0.0),),
    "subtract": (without((1,), 0.0),),
    "multiply": (without((0, 1), 1),),
    "divide": (without((1,), 1),),
    "logical_and": (without((0, 1), True),),
    "logical_or": (without((0, 1), False),),
    "where": (_chosen,),
    "negative": (_inverse_of_itself,),
    "logical_not": (_for_truths,),
    "bitwise_not": (_inverse_of_itself,),
    "conj": (_of_reals, _inverse_of_itself),
    "real": (_of_reals,),
    "power_by": (_to_the_first_power,),
    "cast": (_itself, _cast_back),
    "copy": (_itself,),
    "stop_gradient": (_itself,),
    "reshape": (_unmoved, _last_shape),
    "broadcast_to": (_unmoved, _last_shape),
    "transpose": (_in_order, _both_orders),
    "sum": (_sum_of_repeated,),
}
"""The rules of a primitive, in the order in which they are tried. What a rule gives in place of a result counts only where it is
of the same shape and dtype."""

EVERY: tuple[Rule, ...] = (_unstretched,)
"""The rules of all elementwise primitives."""
