"""Custom functions: a node whose derivative the user wrote.

`attach` makes the node; the dialects' classes (torch's Function, paddle's PyLayer) and `custom_vjp` decide how the
user's forward is called and what the backward sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._errors import GradError
from .._state import OBSERVERS
from .._traceback import returned_at
from ..core import value as values
from ..core.batched import BatchedArray
from ..core.dual import DualArray
from ..core.level import mode_at
from ..core.node import Node, Slot, tick
from ..core.value import Value, dtype_of, error_type, shape_of
from . import engine


class Scratch:
    """Base of the objects that a user's function is given to put things on: another one at each call, with nothing on it that a
    call has left there."""


class Custom:
    """What stands in `Node.prim` for a user's function: only what the engine asks of a primitive."""

    __slots__ = ("name", "backward")

    multi = False
    saves_out = False
    regional: tuple[int, ...] = ()

    def __init__(self, name: str, backward: Callable[..., Sequence[Any]]) -> None:
        self.name, self.backward = name, backward

    def pull(self, node: Node, saved: Any, g: Any, needs: Sequence[Any]) -> list[Any]:
        """Call the user's backward on values of the dialect; give back what the engine computes with."""
        parts = g if type(g) is tuple else (g,)
        cls, level = node.dialect, node.level  # type: ignore[attr-defined]
        wrap = False
        for p in parts:
            if isinstance(p, Value) and p._level >= level:
                wrap = True
        shown = [None if p is None else values.as_value(cls, p) for p in parts]
        results = self.backward(node, shown)
        if len(results) != len(needs):
            raise error_type(cls, GradError)(
                count_text(f"{self.name}: the backward", self.backward, len(results), len(needs), "the tensor arguments")
            )
        # What the backward saved belongs to its level; where that records no more, a cotangent from above must not
        # carry it out of the level.
        over = wrap and mode_at(level) == 0
        taken: list[Any] = []
        for r, need in zip(results, needs):
            if r is None or need is None:
                taken.append(None)
            elif wrap:
                taken.append(values.as_core(_without(r, level) if over and r._level > level else r))
            else:
                taken.append(r._a if r._level == level else values.content(r))
        return taken


def count_text(name: str, rule: Any, have: int, want: int, of: str) -> str:
    """What is wrong where the user's rule gave another number of gradients than there are `of`."""
    gradients = "1 gradient" if have == 1 else f"{have} gradients"
    return f"{name} returned {gradients}, wanted {want}: one for each of {of}, and None for what needs none{returned_at(rule)}"


def check_shape(name: str, rule: Any, i: int, g: Value, edge: Any, cls: type[Value]) -> None:
    """Raise where a gradient that the user's rule gave for argument `i` has another shape than that, and does not stand for
    more elements of it."""
    have = tuple(shape_of(g))
    if have != edge.shape and engine.stretched(have, edge.shape) is None:
        raise error_type(cls, GradError)(
            f"{name} returned a gradient of shape {list(have)} for argument {i} of shape {list(edge.shape)}; a gradient has "
            f"the shape of what it is for{returned_at(rule)}"
        )


def _without(x: Any, level: int) -> Any:
    """A value or array of a level above `level` with the values of that level inside it replaced by their contents."""
    if isinstance(x, Value):
        if x._level <= level:
            return x._a if x._level == level else x
        return values.make(type(x), _without(x._a, level), x._node, x._level)
    if type(x) is BatchedArray and x._level > level:
        return BatchedArray(_without(x.content, level), x.dim, x._level)
    if type(x) is DualArray and x._level > level:
        tangent = None if x.tangent is None else _without(x.tangent, level)
        return DualArray(_without(x.primal, level), tangent, x._level)
    return x


def attach(
    name: str,
    operands: Sequence[Value],
    outputs: Sequence[Value],
    backward: Callable[..., Sequence[Any]],
    *,
    differentiable: Sequence[bool],
    level: int = 0,
    cls: type[Value],
    saved: tuple[Any, ...] = (),
) -> Node:
    """Record a user's function: `outputs` get a new node over `operands`.

    backward(node, cotangents) gets one value or None per output and returns one value or None per operand. `saved` are
    arrays that must not change in place before the backward pass.
    """
    node = Node()
    node.prim, node.params = Custom(name, backward), {}
    node.edges = tuple([x._node if x._level == level else None for x in operands])
    node.saved, node.step, node.dialect = saved, None, cls
    node.level = level  # type: ignore[attr-defined]
    node.shown_as = name  # type: ignore[attr-defined]
    node.seq = tick()
    if len(outputs) == 1:
        (y,) = outputs
        node.shape, node.dtype = tuple(shape_of(y)), dtype_of(y)
        if differentiable[0]:
            y._node = node
    else:
        node.outs = looks = tuple([(tuple(shape_of(y)), dtype_of(y)) for y in outputs])
        for i, y in enumerate(outputs):
            if differentiable[i]:
                y._node = Slot(node, i, *looks[i])
    for observer in OBSERVERS:
        observer.operation(node.prim, operands, node.params, outputs[0] if len(outputs) == 1 else tuple(outputs), node)
    return node
