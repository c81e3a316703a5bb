"""Hooks on values, nodes and leaves, saved-tensor hooks, and anomaly mode's traces.

A node, and a leaf's Accumulate, has at most one `NodeHooks`. The engine calls them; the dialects register through
`add_tensor_hook`, `add_post_accumulate_hook` and `node_hooks`.
"""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import GradError
from .._state import grad_mode, state
from .._traceback import program_frames
from ..backend import backend_of
from ..core import bind
from ..core.node import Accumulate, Node, Slot
from ..core.scattered import Scattered
from ..core.value import LevelArray, Value, dtype_of, error_type, make, shape_of
from . import mutation
from .engine import accumulate_grad

_ids = itertools.count().__next__


class Handle:
    """What registering a hook returns: `remove()` takes the hook away; also a context manager."""

    __slots__ = ("_hooks", "id", "__weakref__")

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self._hooks, self.id = hooks, key

    def remove(self) -> None:
        """Take the hook away; nothing happens when it is gone already."""
        self._hooks.pop(self.id, None)

    @property
    def active(self) -> bool:
        """Whether the hook is still there."""
        return self.id in self._hooks

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add(hooks: dict[int, Any], hook: Any) -> Handle:
    """Put a hook into a table and return its handle."""
    key = _ids()
    hooks[key] = hook
    return Handle(hooks, key)


def _call_tensor_hook(this: Any, hook: Callable[[Any], Any], cls: type[Value], g: Any) -> Any:
    """Run one tensor hook; its result replaces the gradient if it gives one."""
    result = hook(this.shown(g, cls))
    if result is None:
        return g
    if not isinstance(result, Value):
        raise error_type(cls, TypeError)(
            f"a gradient hook returned {type(result).__name__}; it must return a tensor, or None to leave the gradient"
        )
    if type(g) is Scattered and type(result._a) is not Scattered:
        raise error_type(cls, GradError)(
            "a gradient hook returned a dense tensor for a sparse gradient; return a sparse one, or use sparse=False"
        )
    for what, have, want in () if g is None else (
        ("shape", tuple(shape_of(result)), tuple(shape_of(g))), ("dtype", dtype_of(result), dtype_of(g)),
    ):  # fmt: skip
        if have != want:
            raise error_type(cls, GradError)(f"a gradient hook returned {what} {have} for a gradient of {what} {want}")
    return this.taken(result)


class NodeHooks:
    """The hooks of a node: on its outputs' gradients, before it runs, and after it has run; of a leaf, on its gradient, and
    before and after that is added to `.grad`."""

    __slots__ = ("tensor", "retain", "pre", "post", "accumulated", "cls")

    def __init__(self, cls: type[Value]) -> None:
        self.tensor: dict[int, dict[int, Any]] = {}
        self.retain: dict[int, Any] = {}
        """Output index -> weak reference to the value that wants its gradient kept."""
        self.pre: dict[int, Any] = {}
        self.post: dict[int, Any] = {}
        self.accumulated: dict[int, Any] = {}
        """Of a leaf: called with it."""
        self.cls = cls

    def seen(self, this: Any, g: Any) -> Any:
        """The cotangents after tensor hooks, then retained gradients, have seen them."""
        several = type(g) is list
        parts = g if several else [g]
        for index, hooks in self.tensor.items():
            for hook in list(hooks.values()):
                if parts[index] is not None or this.policy.shows_missing_gradients:
                    parts[index] = _call_tensor_hook(this, hook, self.cls, parts[index])
        for index, reference in self.retain.items():
            value, part = reference(), parts[index]
            # What one of many cotangents gives (is_grads_batched) has no meaning outside of its pass.
            if value is not None and part is not None and not (isinstance(part, Value) and part._level > value._level):
                accumulate_grad(this.create_graph, value, [part])
        return parts if several else parts[0]

    def before(self, this: Any, g: Any) -> Any:
        """The cotangents after the node's pre-hooks have seen them."""
        several = type(g) is list
        parts = g if several else [g]
        for hook in list(self.pre.values()):
            result = hook(tuple(this.shown(p, self.cls) for p in parts))
            if result is not None:
                parts = self._taken(this, "pre-hook", result, len(parts), "outputs")
        return parts if several else parts[0]

    def after(self, this: Any, node: Any, results: Any, g: Any) -> Any:
        """The operands' cotangents after the node's hooks have seen them."""
        given = tuple(this.shown(p, self.cls) for p in (g if type(g) in (list, tuple) else (g,)))
        for hook in list(self.post.values()):
            shown = tuple(this.shown(r, self.cls) for r in results)
            replaced = hook(shown, given)
            if replaced is not None:
                results = self._taken(this, "hook", replaced, len(results), "operands")
        return results

    def _taken(self, this: Any, hook: str, returned: Any, count: int, of: str) -> list[Any]:
        """The gradients that a hook returned, as rules see them."""
        if not isinstance(returned, tuple) or not all(g is None or isinstance(g, Value) for g in returned):
            kinds = type(returned).__name__ if not isinstance(returned, tuple) else (
                "a tuple of " + ", ".join(type(g).__name__ for g in returned))  # fmt: skip
            raise error_type(self.cls, TypeError)(
                f"a node's {hook} returned {kinds}; it must return None, or a tuple of tensors and None, one for each of the {of}"
            )
        found = returned
        if len(found) != count:
            raise error_type(self.cls, GradError)(
                f"a node's {hook} returned {len(found)} gradients; the node has {count} {of}"
            )
        return [None if g is None else this.taken(g) for g in found]


def node_hooks(node: Any, cls: type[Value]) -> NodeHooks:
    """The NodeHooks of a node or of a leaf's Accumulate, made on first use."""
    if node.hooks is None:
        node.hooks = NodeHooks(cls)
        if isinstance(node, Node):
            node.step = None
    return node.hooks


def _output(edge: Any) -> tuple[Any, int]:
    """The node behind an edge, and which of its outputs the edge is."""
    return (edge.node, edge.index) if isinstance(edge, Slot) else (edge, 0)


def add_tensor_hook(value: Value, hook: Callable[[Any], Any]) -> Handle:
    """Call `hook(gradient)` when the gradient of `value` is known; it may return another one.

    Raises GradError when the value wants no gradient.
    """
    edge, cls = value._node, type(value)._gradient
    if edge is None:
        raise error_type(cls, GradError)(
            "register_hook: this tensor does not require grad, so no hook would be called; set requires_grad on it, or "
            "register the hook on what is computed from one that does"
        )
    node, index = _output(edge)
    return add(node_hooks(node, cls).tensor.setdefault(index, {}), hook)


def add_post_accumulate_hook(value: Value, hook: Callable[[Any], Any]) -> Handle:
    """Call `hook(value)` after the gradient of a leaf has been added to `.grad`."""
    edge, cls = value._node, type(value)._gradient
    if not isinstance(edge, Accumulate):
        raise error_type(cls, GradError)(
            "register_post_accumulate_grad_hook: only leaf tensors that require grad accumulate a gradient"
        )
    return add(node_hooks(edge, cls).accumulated, hook)


def retain_grad(value: Value) -> None:
    """Keep the gradient of a value that is no leaf in its `.grad`; nothing happens for a leaf."""
    edge, cls = value._node, type(value)._gradient
    if edge is None:
        raise error_type(cls, GradError)("retain_grad: this tensor does not require grad")
    if isinstance(edge, Accumulate):
        return
    node, index = _output(edge)
    node_hooks(node, cls).retain[index] = weakref.ref(value)


def retains_grad(value: Value) -> bool:
    """Whether `retain_grad` has been called on a value that is no leaf."""
    edge = value._node
    if edge is None or isinstance(edge, Accumulate):
        return False
    node, index = _output(edge)
    return node.hooks is not None and node.hooks.retain.get(index, lambda: None)() is value


def move_retained(value: Value, edge: Any) -> None:
    """A value that keeps its gradient, and is to be produced along another edge, keeps that of its new self."""
    node, index = _output(value._node)
    reference = node.hooks.retain.pop(index)
    if not isinstance(edge, Accumulate):
        node, index = _output(edge)
        node_hooks(node, type(value)._gradient).retain[index] = reference


# ------------------------------------------------------------------------------------------ recorded under watch


class Packed:
    """A saved array in the form that a saved-tensor hook gave it."""

    __slots__ = ("content", "unpack", "cls")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], cls: type[Value]) -> None:
        self.content, self.unpack, self.cls = content, unpack, cls


def _unpack(node: Node, saved: Any) -> Any:
    return tuple(unpacked(x.cls, x.unpack, x.content) if isinstance(x, Packed) else x for x in saved)


def unpacked(cls: type[Value], unpack: Callable[[Any], Any], content: Any) -> Any:
    """The array of the tensor that an unpack hook gives; raises TypeError where it gives something else."""
    return unpacked_value(cls, unpack, content)._a


def unpacked_value(cls: type[Value], unpack: Callable[[Any], Any], content: Any) -> Value:
    """The tensor that an unpack hook gives; raises TypeError where it gives something else."""
    value = unpack(content)
    if not isinstance(value, Value):
        raise error_type(cls, TypeError)(
            f"the unpack hook of saved tensors returned {type(value).__name__}, wanted a tensor"
        )
    return value


def _annotate(node: Node, cls: type[Value], operands: Any) -> None:
    """What a node gets in WATCHED mode: the caller's trace, and its saved arrays packed."""
    numbers = tuple([i for i, x in enumerate(operands) if type(x) is np.ndarray and not x.ndim])
    if numbers:
        node.numbers = numbers
    if state.anomaly:
        node.trace = "".join(traceback.format_list(program_frames()))
        if state.run is not None and state.run.pulling is not None:
            node.parent = state.run.pulling  # type: ignore[attr-defined]
    if state.saved_hooks:
        pack(node, cls)


def pack(node: Node, cls: type[Value]) -> None:
    """Let the saved-tensor hooks that hold now pack what a node saved; not what an in-place change has made unusable."""
    if not node.saved or node.packed is not None or node.stale:
        return
    pair = state.saved_hooks[-1]
    node.saved = tuple([
        x if x is None or type(x) is tuple or i in node.numbers or dtype_of(x).kind in "b"
        else packed(cls, x, *pair, edge=node.edges[i] if i < len(node.edges) else None)
        for i, x in enumerate(node.saved)
    ])  # fmt: skip
    node.packed, node.step = _unpack, None


def pack_one(node: Node, index: int, cls: type[Value], to_pack: Any, unpack: Any) -> None:
    """Let hooks of its own pack one of a node's saved arrays."""
    saved = list(node.saved)
    saved[index] = packed(cls, saved[index], to_pack, unpack, node.edges[index] if index < len(node.edges) else None)
    node.saved, node.packed, node.step = tuple(saved), _unpack, None


def packed(
    cls: type[Value], x: Any, to_pack: Callable[[Any], Any], unpack: Callable[[Any], Any], edge: Any = None
) -> Packed:
    """A saved array as hooks keep it, who are given the tensor that it is of, with its history: of a leaf, the leaf itself.

    Raises GradError where they change it in place, since others look at it, too.
    """
    before = mutation.count(x)
    leaf = edge.leaf() if type(edge) is Accumulate else None
    given = leaf if leaf is not None and leaf._a is x else make(cls, x, edge)
    if type(x) is not np.ndarray and not isinstance(x, (Value, LevelArray, Scattered)):
        backend_of(x).handed(given)
    with grad_mode(False):  # what they compute is no part of the history
        found = Packed(to_pack(given), unpack, cls)
    if mutation.count(x) != before:
        raise error_type(cls, GradError)("the pack hook of saved tensors changed its argument in place; change a clone() of it")
    return found


bind.set_annotate(_annotate)
