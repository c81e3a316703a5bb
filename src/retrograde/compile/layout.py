"""In which order the elements of an array would lie in memory if the operations ran one by one.

A trace's arrays have no memory, and what compiled code gives lies in C order; but random numbers are drawn in the order in which
a tensor's elements lie, and a program can see strides. An order names the axes from the one with the largest stride to the
one with the smallest; of C order nothing is said (None).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .graph import Equation, Variable

Order = tuple[int, ...] | None


def order_of(array: np.ndarray) -> Order:
    """The order of an array; axes of length 1 have no place of their own, and follow those before them."""
    if array.flags.c_contiguous or array.ndim < 2:
        return None
    long = [i for i, n in enumerate(array.shape) if n != 1]
    return _whole(sorted(long, key=lambda i: -abs(array.strides[i])), array.shape)


def laid(array: np.ndarray, order: Order) -> np.ndarray:
    """An array with the same elements in memory of such an order."""
    if order is None:
        return np.ascontiguousarray(array)
    back = tuple([order.index(axis) for axis in range(len(order))])
    return np.ascontiguousarray(array.transpose(order)).transpose(back)


def order(
    v: Variable, made: Mapping[Variable, Equation], known: Callable[[Variable], Order], found: dict[Variable, Order]
) -> Order:
    """The order of a variable. made: the equations that give variables; known: the order of those that none gives; found: what
    has been found before, to which is added.

    Transpositions, operations on elements, and what only adds or leaves out axes of length 1 keep to their operands; all else
    gives C order.
    """
    todo = [v]
    while todo:
        w = todo[-1]
        e = made.get(w)
        if w in found or e is None:
            found.setdefault(w, None if e is not None else known(w))
            todo.pop()
            continue
        asked = [x for x in e.inputs if x is not None and x not in found] if _keeps(e) else []
        if asked:
            todo += asked
        else:
            found[w] = _after(e, w, found) if _keeps(e) else None
    return found[v]


def _keeps(e: Equation) -> bool:
    return e.prim.kind == "elementwise" or e.prim.name in ("transpose", "copy", "stop_gradient", "cast", "reshape", "rearrange")


def _after(e: Equation, out: Variable, found: Mapping[Variable, Order]) -> Order:
    inputs = [x for x in e.inputs if x is not None]
    if e.prim.name == "transpose":
        (x,) = inputs
        axes = [a % x.ndim for a in e.params["axes"]]
        return _plain(tuple([axes.index(a) for a in found[x] or range(x.ndim)]), out.shape)
    if e.prim.name in ("reshape", "rearrange"):
        (x,) = inputs
        before, long = found[x], [i for i, n in enumerate(out.shape) if n != 1]
        if before is None or e.prim.name == "rearrange" or [n for n in x.shape if n != 1] != [out.shape[i] for i in long]:
            return None
        old = [i for i, n in enumerate(x.shape) if n != 1]
        return _whole([long[old.index(a)] for a in before if x.shape[a] != 1], out.shape)
    orders = {found[x] for x in inputs if x.shape == out.shape and x.size > 1}
    return orders.pop() if len(orders) == 1 else None


def _whole(long: list[int], shape: tuple[int, ...]) -> Order:
    """The order of all axes, from that of those that are longer than 1."""
    kept = list(long)
    for i, n in enumerate(shape):
        if n == 1:
            kept.insert(kept.index(i - 1) + 1 if i else 0, i)
    return _plain(tuple(kept), shape)


def _plain(order: tuple[int, ...], shape: tuple[int, ...]) -> Order:
    long = [i for i in order if shape[i] != 1]
    return None if long == sorted(long) else order


def orders(trace: Any) -> Callable[[Variable], Order]:
    """The orders of what a trace has written, as far as it is known."""
    made = {w: e for e in trace.equations for w in e.outputs}
    begun = dict([*trace.constants.values(), *trace.settled]) | trace.begun
    found: dict[Variable, Order] = {}
    return lambda v: order(v, made, lambda w: order_of(begun[w]) if w in begun else None, found)
