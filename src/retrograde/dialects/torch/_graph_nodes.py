"""What `tensor.grad_fn` shows: a thin object per node, of a class named as PyTorch names the operation.

NAMES maps a primitive's name to PyTorch's node name (without the trailing 0), or to a function of the node that gives
the full one, or to the names by output, where PyTorch computes the outputs by several operations. A primitive that is
not listed is shown in CamelCase with "Backward0". Each topic file adds its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..._state import is_grad_enabled
from ...core.node import FREED, Accumulate, Node, Slot, producer
from ...core.value import as_value, make
from ...tape import engine, hooks, mutation
from .._shared.module_hooks import spread
from ._api import REGISTRY
from ._dtype import FROM_NUMPY
from ._size import CPU, Size

NAMES: dict[str, str | tuple[str, ...] | Callable[[Any], str]] = {
    "copy": lambda node: "CopyBackwards" if node.gathered else "CloneBackward0",
    "keep_nonzero": "ThresholdBackwardBackward0",
    "cast": "ToCopyBackward0",
    "view_scatter": "CopySlices",
    "getitem": "SliceBackward0",
    "broadcast_to": "ExpandBackward0",
    "multiply": "MulBackward0",
    "subtract": "SubBackward0",
    "divide": "DivBackward0",
    "negative": "NegBackward0",
    "concatenate": "CatBackward0",
    "transpose": lambda node: "TBackward0" if node.params["axes"] == (1, 0) else "PermuteBackward0",
    "reshape": lambda node: "ViewBackward0",
}


LEADING = {"advanced_index": 1, "advanced_add": 1, "index_put": 2, "scatter_reduce": 3}
"""How many operands of a primitive with a joint rule have derivatives, where the others are indices."""


def node_name(node: Any, index: int = 0) -> str:
    """PyTorch's name for a node, seen from its output `index`."""
    if isinstance(node, Accumulate):
        return "AccumulateGrad"
    given = node.__dict__.get("shown_as")
    if given is not None:
        return given
    ends = getattr(node.prim, "ends", None)
    if ends is not None and ends[index] is not None:  # the call of a compiled function
        return edge_name(ends[index])
    if node.replayed:
        return "ConjBackward0" if node.prim.name == "conj" else "AsStridedBackward0"
    name = NAMES.get(node.prim.name)
    if name is None:
        return "".join(part.capitalize() for part in node.prim.name.split("_")) + "Backward0"
    if isinstance(name, str):
        return name
    return name[index] if isinstance(name, tuple) else name(node)


def edge_name(edge: Any) -> str:
    """PyTorch's name for the node behind an edge."""
    return node_name(edge.node, edge.index) if type(edge) is Slot else node_name(edge)


def show_as(x: Any, name: str) -> Any:
    """Show the node that has just computed `x` under PyTorch's name for the function that was called; returns `x`."""
    try:
        edge = x._node
    except AttributeError:
        raise TypeError(f"{name}: wanted tensors, got {type(x).__name__}") from None
    if edge is not None:
        node = producer(edge)
        if type(node) is Node:
            node.shown_as = name  # type: ignore[attr-defined]
    return x


_CLASSES: dict[str, type[GradFn]] = {}
_SHOWN: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class GradientLooks:
    """Shape, dtype and place of a gradient."""

    is_nested_tensor = is_cpp_nested_tensor = is_tensor_subclass = False
    device = CPU

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = Size(shape), FROM_NUMPY[dtype]


class GradFn:
    """A node of the graph as PyTorch shows it."""

    __slots__ = ("_node", "__dict__", "__weakref__")

    def __init__(self, node: Any) -> None:
        self._node = node

    def name(self) -> str:
        """The node's name."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in ("AccumulateGrad", "CopyBackwards", "CopySlices", "NotImplemented") else name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that this one passes gradients to, each with the number of the output."""
        return tuple(
            (None, 0) if edge is None else (shown(edge), edge.index if isinstance(edge, Slot) else 0)
            for edge in (self._node.edges[i] for i in _differentiable(self._node))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and self._node is other._node

    def __hash__(self) -> int:
        return id(self._node)

    def __dir__(self) -> list[str]:
        names = [f"{prefix}{name}" for name in _saved_names(self._node) for prefix in ("_saved_", "_raw_saved_")]
        return [*super().__dir__(), *names]

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for the user's notes on this node; under anomaly mode it holds where the operation was called."""
        notes: dict[str, Any] = self._node.__dict__.setdefault("metadata", {})
        trace = getattr(self._node, "trace", None)
        if trace is not None:
            notes.setdefault("traceback_", trace.splitlines(keepends=True))
            parent = self._node.__dict__.get("parent")
            if parent is not None:  # the node whose derivative this one is a part of
                notes.setdefault("parent_", shown(parent))
        return notes

    @property
    def variable(self) -> Any:
        """The leaf of an AccumulateGrad node."""
        if isinstance(self._node, Accumulate):
            return self._node.leaf()
        raise AttributeError(f"{self.name()} has no variable; only AccumulateGrad nodes have")

    def register_hook(self, hook: Callable[..., Any]) -> hooks.Handle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; indices and masks have no grad_input."""
        node, places = self._node, _differentiable(self._node)
        table = hooks.node_hooks(node, REGISTRY.tensor_class).post
        if len(places) == len(node.edges):
            return hooks.add(table, hook)

        def among(grad_inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> Any:
            given = hook(tuple(grad_inputs[i] for i in places), grad_outputs)
            if not isinstance(given, tuple):
                return given  # None, or what is refused
            if len(given) != len(places):
                raise RuntimeError(f"a node's hook returned {len(given)} gradients; the node has {len(places)} operands")
            replaced = dict(zip(places, given))
            return tuple(replaced.get(i, g) for i, g in enumerate(grad_inputs))

        return hooks.add(table, among)

    def register_prehook(self, hook: Callable[..., Any]) -> hooks.Handle:
        """Call `hook(grad_outputs)` before the node runs; of a custom function they are as many as forward returned."""
        node = self._node
        table = hooks.node_hooks(node, REGISTRY.tensor_class).pre
        count, places = getattr(node.__dict__.get("ctx"), "_results", (0, ()))
        if count == len(places):
            return hooks.add(table, hook)

        def among(grad_outputs: tuple[Any, ...]) -> Any:
            given = hook(spread(count, places, grad_outputs))
            if not isinstance(given, tuple):
                return given  # None, or what is refused
            if len(given) != count:
                raise RuntimeError(f"a node's pre-hook returned {len(given)} gradients; the function has {count} results")
            return tuple(given[i] for i in places)

        return hooks.add(table, among)

    @property
    def _input_metadata(self) -> list[GradientLooks]:
        """What the gradients look like that this node is given: one for each of its results."""
        node = self._node
        return [GradientLooks(*looks) for looks in (node.outs if hasattr(node, "outs") else ((node.shape, node.dtype),))]

    def _sequence_nr(self) -> int:
        return self._node.seq

    def __call__(self, *gradients: Any) -> Any:
        """The gradients of this operation's operands for those of its results."""
        node = self._node
        ends = [Slot(node, i, *out) for i, out in enumerate(node.outs)] if hasattr(node, "outs") else [node]
        if len(gradients) != len(ends):
            raise TypeError(f"{self.name()}: wanted {len(ends)} gradients, got {len(gradients)}")
        given = [(end, g) for end, g in zip(ends, gradients) if g is not None]
        places, cls = _differentiable(node), REGISTRY.tensor_class
        recorded = is_grad_enabled()
        found = engine.run(
            [end for end, _ in given], [g if recorded else g._a for _, g in given], cls=cls, accumulate=False,
            inputs=[edge for edge in node.edges if edge is not None], retain_graph=True, create_graph=recorded,
        )  # fmt: skip
        by_edge = iter(found)
        all_of = [None if edge is None else next(by_edge) for edge in node.edges]
        shown = tuple(None if all_of[i] is None else as_value(cls, all_of[i]) for i in places)
        return shown[0] if len(shown) == 1 else shown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return _saved(self._node, name[7:])
        if name.startswith("_raw_saved_"):
            return SavedSlot(self._node, name[11:])
        ctx = self._node.__dict__.get("ctx") if isinstance(self._node, Node) else None
        if ctx is not None:  # a custom function's node shows its context
            return getattr(ctx, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __repr__(self) -> str:
        cls = type(self)
        owner = "" if cls.__module__ == "builtins" else f"{cls.__module__}."
        return f"<{owner}{cls.__name__} object at {id(self):#x}>"


def _differentiable(node: Any) -> tuple[int, ...]:
    """The places of a node's operands without those that have no derivative (indices, masks)."""
    if isinstance(node, Node):
        count = LEADING.get(node.prim.name)
        if count is not None:
            return tuple(range(count))
        rules = getattr(node.prim, "vjps", None)  # a custom function's are its own affair
        if rules is not None:
            return tuple(i for i, rule in enumerate(rules) if rule is not None)
    return tuple(range(len(node.edges)))


def _saved_names(node: Any) -> list[str]:
    """PyTorch's names for what a node has saved."""
    if not isinstance(node, Node) or not node.saved or node.saved is FREED:
        return []
    operands = list(getattr(node.prim, "operands", None) or ())
    theirs = {0: "self", 1: "exponent" if node.prim.name == "power" else "other"} if len(operands) <= 2 else {0: "self"}
    found = [theirs.get(i, name) for i, name in enumerate(operands) if i < len(node.saved) and node.saved[i] is not None]
    return [*found, "result"] if len(node.saved) > len(operands) > 0 else found


class SavedSlot:
    """One of the tensors that a node has saved, on which hooks may be put."""

    def __init__(self, node: Any, name: str) -> None:
        self._node, self._index = node, _saved_at(node, name)[0]

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keep the tensor as `pack_hook(tensor)` and restore it by `unpack_hook`; once."""
        node, i = self._node, self._index
        if isinstance(node.saved[i], hooks.Packed):
            raise RuntimeError("register_hooks: there are hooks on this saved tensor already")
        hooks.pack_one(node, i, REGISTRY.tensor_class, pack_hook, unpack_hook)


def _saved_at(node: Any, name: str) -> tuple[int, Any]:
    """Where a node has saved what PyTorch has this name for, and the edge of it."""
    if not isinstance(node, Node):
        raise AttributeError(f"_saved_{name}: a leaf's node saves nothing")
    if node.saved is FREED:
        raise RuntimeError(
            f"_saved_{name}: the graph has been used and its saved values are freed; use retain_graph=True"
        )
    names = list(node.prim.operands or ())
    if name == "result" and len(node.saved) > len(names):
        return len(node.saved) - 1, node
    position = {"self": 0, "other": 1, "exponent": 1}.get(name)
    position = position if position is not None else names.index(name) if name in names else None
    if position is None or position >= len(node.saved) or node.saved[position] is None:
        raise AttributeError(f"{node_name(node)} has no attribute '_saved_{name}'")
    return position, node.edges[position]


def _saved(node: Any, name: str) -> Any:
    """A value that a node saved, by PyTorch's name for it."""
    if isinstance(node, Node) and name in node.params:
        return node.params[name]
    position, edge = _saved_at(node, name)
    if type(node.saved[position]) is not hooks.Packed and mutation.changed_after(node.saved[position], node.seq):
        raise RuntimeError(f"_saved_{name}: this tensor was changed in place after {node_name(node)} had saved it")
    array = (node.saved if node.packed is None else node.packed(node, node.saved))[position]
    leaf = edge.leaf() if type(edge) is Accumulate else None
    return leaf if leaf is not None and leaf._a is array else make(REGISTRY.tensor_class, array, edge)


def shown(edge: Any) -> Any:
    """The object for the node behind an edge (the same one while somebody holds it); None for None."""
    if edge is None:
        return None
    node, name = producer(edge), edge_name(edge)
    reference = _SHOWN.get(node)
    found = None if reference is None else reference()
    if found is not None and type(found).__name__ == name:
        return found
    cls = _CLASSES.get(name)
    if cls is None:
        module = "torch.autograd.function" if "ctx" in node.__dict__ else "builtins"  # as the printed names say
        cls = _CLASSES[name] = type(name, (GradFn,), {"__slots__": (), "__module__": module})
    found = cls(node)
    _SHOWN[node] = weakref.ref(found)
    return found
