"""The recorded graph: nodes, the slots of nodes with several outputs, and the accumulate nodes of leaves.

A node refers to the producers of its operands and to arrays, never to a value: so a graph has no reference cycles
and is freed by reference counting alone.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from .._errors import FreedGraphError

tick = itertools.count(1).__next__
"""The global clock: numbers nodes and in-place changes, so that either can be said to come first."""


_reference = weakref.ref


class Freed:
    """Stands in `Node.saved` for values that have been released."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<freed>"

    def __iter__(self) -> Any:
        raise FreedGraphError("the saved values of this operation were freed while a backward pass was using them")


FREED: Any = Freed()


class Node:
    """One recorded operation.

    `edges` holds one producer (or None) per operand. `saved` holds the arrays that the derivative rules need, one
    entry per operand (None where not needed) and, when a rule needs it, the output as the last one. `shape` and
    `dtype` are the output's; a node with several outputs has `outs`, a tuple of (shape, dtype), instead.
    """

    __slots__ = (
        "prim", "params", "edges", "saved", "seq", "shape", "dtype", "outs", "step", "__dict__", "__weakref__",
    )  # fmt: skip

    prim: Any
    params: dict[str, Any]
    edges: tuple[Any, ...]
    saved: Any
    seq: int
    shape: tuple[int, ...]
    dtype: np.dtype
    outs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    step: Any
    """The primitive's `step`, or a variant of it for what the operands were; None for a node that needs more: hooks, packed
    saves, a custom function."""

    # Set on few nodes, kept in the instance dictionary:
    hooks: Any = None
    """A `NodeHooks` (tape/hooks.py) or None."""
    trace: Any = None
    """Where the operation was called, under anomaly mode."""
    packed: Any = None
    """The unpack function when saved-tensor hooks have packed `saved`."""
    ready: Any = None
    """What has computed gradients with the operation (`Joint` of compile/versions/foresight.py), and all that it gave."""
    stale: bool = False
    """Whether an in-place operation overwrote an operand that its own rule needs."""
    dialect: Any = None
    """The class of the value that the node produced, where user code needs values of it."""
    numbers: tuple[int, ...] = ()
    """Which operands are Python's numbers, where somebody wants to see what is saved: they are no tensors."""
    gathered: bool = False
    """Whether this is the copy that a leaf's `.grad` is."""
    replayed: bool = False
    """Whether this takes a view anew from a base that was changed in place."""
    beside: tuple[Any, ...] = ()
    """Producers on which the gradient counts as depending, with derivative 0 (see `TapePolicy.joint_gradients`)."""
    event: int = -1
    """The number of the operation in the record of an observer."""


(_first := Node()).shown_as = None  # type: ignore[attr-defined]  # as `_share_keys` in core/value.py
del _first


class Slot:
    """One output of a node with several outputs."""

    __slots__ = ("node", "index", "shape", "dtype", "__weakref__")

    def __init__(self, node: Node, index: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.node, self.index, self.shape, self.dtype = node, index, shape, dtype

    @property
    def seq(self) -> int:
        return self.node.seq


class Accumulate:
    """Where the gradient of a leaf arrives. Owns the leaf's hooks; refers to the leaf itself weakly only."""

    __slots__ = ("shape", "dtype", "seq", "leaf", "hooks", "__dict__", "__weakref__")

    hooks: Any

    edges: tuple[Any, ...] = ()

    def __init__(self, leaf: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.leaf = _reference(leaf)
        self.shape, self.dtype, self.seq, self.hooks = shape, dtype, tick(), None


def producer(edge: Any) -> Any:
    """The node behind an edge."""
    return edge.node if type(edge) is Slot else edge
