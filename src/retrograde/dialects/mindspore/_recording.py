"""A function run with its operations recorded, and the gradients pulled back: what all gradient functions are made of.

Nothing wants a gradient outside such a call. For its duration the weights are leaves of the everyday tape, and each
argument to differentiate is replaced by a leaf of its own (so a tensor given twice is two inputs), or, inside another
such call, by an alias that its history goes through. Whatever was recorded before the call began is constant to it.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._state import grad_mode, is_grad_enabled, state
from ...core import value as values
from ...core.level import innermost_of_values
from ...core.node import Accumulate, tick
from ...core.value import Value, dtype_of, make, shape_of
from ...ops.structural import reshape
from ...tape import autograd as tape
from ...tape import engine
from .._shared import grad_modes
from .._shared.guard import refuse_foreign
from ._tensor import Tensor, leaf_of

_bind_reshape = reshape.prim.bind  # type: ignore[attr-defined]
_ndarray = np.ndarray


class _Depth(threading.local):
    value: int = 0
    off: int = 0
    """How many `_no_grad` what happens now is inside of."""

    def __init__(self) -> None:
        self.kept: list[Any] = []


_depth = _Depth()
_lock = threading.Lock()

LIVE: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""All parameters there are, by id: which of them a function uses is known once it has run."""


def alias(x: Tensor) -> Tensor:
    """The input that stands for an argument: its memory under an edge of its own, at the level of the innermost transform
    that is open (what it meets there is of that level, so its history must be too)."""
    level = innermost_of_values()
    if level > x._level:
        y = make(Tensor, values.content(x), None, level)
        tape.leaf(y)
        return y
    if x._node is not None:
        found: Tensor = _bind_reshape(x, shape=tuple(shape_of(x)))
        return found
    y = make(Tensor, x._a, None, x._level)
    tape.leaf(y)
    if x._leaf is not None:
        y._node.hooks = x._leaf.hooks
    y._origin = x  # a hook on the input is one on the argument
    return y


def _hold(weights: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Make tensors leaves for a while, at the level of the innermost transform that is open; returns what `_release`
    needs: the tensors and what they were before."""
    held: list[tuple[Any, Any]] = []
    level = innermost_of_values()
    with _lock:
        for w in weights:
            node = w._node
            if level > w._level:
                held.append((w, (w._a, node, w._level)))
                w._a, w._level = values.content(w), level
                tape.leaf(w)
            elif node is None or node is w._leaf:
                leaf = w._leaf if node is not None else leaf_of(w)
                leaf.users += 1
                w._node = leaf
                held.append((w, None))
            else:  # a weight with a history: its gradient is taken at an alias
                w._node = _bind_reshape(w, shape=tuple(shape_of(w)))._node
                held.append((w, node))
    return held


def _release(held: list[tuple[Any, Any]]) -> None:
    with _lock:
        for w, node in held:
            if type(node) is tuple:
                w._a, w._node, w._level = node
                continue
            if node is not None:
                w._node = node
                continue
            leaf = w._leaf
            leaf.users -= 1
            if not leaf.users:
                w._node = None


class no_grad(grad_modes.no_grad):
    """Nothing is recorded inside, and gradient functions refuse to be called."""

    def __enter__(self) -> None:
        super().__enter__()
        _depth.off += 1

    def __exit__(self, *exception: object) -> None:
        _depth.off -= 1
        super().__exit__(*exception)


def check_recorded(op: str) -> None:
    """Raise RuntimeError inside of `_no_grad`, where there is nothing to differentiate."""
    if _depth.off:
        raise RuntimeError(f"{op}: nothing is recorded inside of _no_grad, so there is no gradient; call it outside")


def keep(x: Tensor) -> None:
    """Note a tensor that outlives the call that is being recorded, as the state of a cell: to the next call it is a
    constant, and its history would only hold memory."""
    if _depth.value:
        _depth.kept.append(x)


def is_recording() -> bool:
    """Whether a gradient function or a transform of this thread records what happens now."""
    return _depth.value > 0 or state.tape is not None


def depth() -> int:
    """In how many gradient functions of this thread what happens now is."""
    return _depth.value


@contextlib.contextmanager
def nested(depth: int) -> Iterator[None]:
    """As inside so many gradient functions."""
    before, _depth.value = _depth.value, depth
    try:
        yield
    finally:
        _depth.value = before


class Recording:
    """One recorded call: `out` is what the function returned, its tensors still with their history.

    function, args, kwargs: the call. positions: which of the arguments (positional ones first, then those by keyword)
    are differentiated; None for all. Those that are no tensors are left out. weights: the tensors that the function
    uses by itself and is differentiated by; None for the trainable parameters that it turns out to use.
    """

    __slots__ = ("out", "inputs", "positions", "edges", "weights", "weight_edges", "start", "nested")

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
        positions: Sequence[int] | None, weights: Sequence[Any] | None,
    ) -> None:  # fmt: skip
        depth = _depth.value
        self.nested = is_recording()
        if not is_grad_enabled():
            with grad_mode(True):
                self._run(depth, function, args, kwargs, positions, weights)
        else:
            self._run(depth, function, args, kwargs, positions, weights)

    def _run(
        self, depth: int, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
        positions: Sequence[int] | None, weights: Sequence[Any] | None,
    ) -> None:  # fmt: skip
        self.start = tick()
        self.inputs: list[Any] = []
        self.positions: list[int] = []
        if positions is None or positions:
            args, kwargs = self._replaced(list(args), kwargs, positions)
        self.edges = [x._node for x in self.inputs]
        self.weights = weights
        held = _hold([p for p in list(LIVE.values()) if p.requires_grad] if weights is None else weights)
        self.weight_edges = [] if weights is None else [_edge(w) for w in weights]
        _depth.value = depth + 1
        try:
            self.out = function(*args, **kwargs)
        finally:
            _depth.value = depth
            _release(held)

    def _replaced(
        self, args: list[Any], kwargs: dict[str, Any], positions: Sequence[int] | None
    ) -> tuple[list[Any], dict[str, Any]]:
        count = len(args)
        given: list[Any] = []
        names = list(kwargs)
        if names:
            kwargs = dict(kwargs)
        for i in range(count + len(names)) if positions is None else positions:
            x = args[i] if i < count else kwargs[names[i - count]]
            if not isinstance(x, Tensor):
                refuse_foreign("mindspore", "grad", (x,))
                continue
            if given and any(earlier is x for earlier in given):
                warnings.warn("one Tensor is given as two arguments: each has a gradient of its own here, where MindSpore "
                              "in PyNative mode gives the sum of both for each", stacklevel=6)  # fmt: skip
            y = alias(x)
            given.append(x)
            self.inputs.append(y)
            self.positions.append(i)
            if i < count:
                args[i] = y
            else:
                kwargs[names[i - count]] = y
        return args, kwargs

    def pull(self, outputs: Sequence[Any], seeds: Sequence[Any] | None = None, retain: bool = False) -> list[Any]:
        """The gradients of the inputs and then of the weights, zeros where the outputs do not depend on them.

        seeds: a tensor per output; ones, if none are given.
        """
        roots: list[Any] = []
        cotangents: list[Any] = []
        level = 0
        nested = self.nested or _depth.value > 0
        own = dict(zip(map(id, self.weights), self.weight_edges)) if self.weights else {}
        for i, y in enumerate(outputs):
            edge = own.get(id(y)) or y._node
            if edge is None and self.weights is None and id(y) in LIVE and y.requires_grad:
                edge = y._leaf
            if edge is None or edge is _FROZEN:
                continue
            roots.append(edge)
            level = max(level, y._level)
            if seeds is not None:
                g = seeds[i]
                cotangents.append(g if nested or g._level or type(g._a) is not _ndarray else g._a)
            else:
                cotangents.append(tape.ones_like(y))
        if self.weights is None:
            self._found_weights(roots)
        targets = [*self.inputs, *self.weights] if self.weights else self.inputs
        edges = [*self.edges, *self.weight_edges]
        if not roots:
            return [_unreached(x) for x in targets]
        found = engine.run(
            roots, cotangents, cls=Tensor, level=level, inputs=edges, retain_graph=retain or nested,
            create_graph=nested, accumulate=False, since=self.start,
        )  # fmt: skip
        return [
            _unreached(x) if g is None or not getattr(x, "requires_grad", True) else _gradient(g)
            for x, g in zip(targets, found)
        ]

    def finish(self) -> None:
        """Let go of the history of what was kept: no gradient is asked for any more."""
        if not self.nested and _depth.kept:
            for x in _depth.kept:
                x._node = None
            _depth.kept.clear()

    def _found_weights(self, roots: list[Any]) -> None:
        """The trainable parameters that the recorded operations use, in the order of their first use, and those returned."""
        order, _ = engine.discover(roots, frozenset(), self.start)
        own = set(self.edges)
        used: dict[Any, Any] = {}
        for node in reversed(order):
            for edge in node.edges:
                if type(edge) is Accumulate and edge not in own:
                    used.setdefault(edge)
        used.update(dict.fromkeys(edge for edge in roots if type(edge) is Accumulate and edge not in own))
        pairs = [(p, leaf) for leaf in used if (p := leaf.leaf()) is not None and id(p) in LIVE]
        self.weights = [p for p, _ in pairs]
        self.weight_edges = [leaf for _, leaf in pairs]

    def result(self) -> Any:
        """What the function returned; outside of all gradient functions, without history."""
        return self.out if self.nested else bare(self.out)


_FROZEN = object()
"""An edge at which nothing arrives."""


def _edge(weight: Any) -> Any:
    """Where the gradient of a weight arrives: nowhere for a parameter that is frozen."""
    return weight._node if getattr(weight, "requires_grad", True) else _FROZEN


def _zeros(x: Any) -> Tensor:
    return make(Tensor, np.zeros(shape_of(x), dtype_of(x)))


def _unreached(x: Any) -> Any:
    """Zeros for what the outputs do not depend on; the hooks of a weight see them."""
    g: Any = _zeros(x)
    hooks = x._leaf.hooks if x._leaf is not None else None
    for hook in list(hooks.tensor.get(0, {}).values()) if hooks is not None else ():
        answer = hook(g)
        g = g if answer is None else answer
    return g


def _gradient(g: Any) -> Tensor:
    """What a pass has found, as a tensor."""
    return make(Tensor, _owned(g)) if type(g) is _ndarray else values.as_value(Tensor, g)


def _owned(g: np.ndarray) -> np.ndarray:
    """A gradient whose elements all have a place in memory; the rule of a sum gives a broadcast view."""
    return g if g.flags.writeable and 0 not in g.strides else g.copy()


def bare(tree: Any) -> Any:
    """The tensors in a container without their history."""
    if isinstance(tree, Value):
        return tree if tree._node is None else make(type(tree)._result, tree._a, None, tree._level)
    kind = type(tree)
    if kind is tuple or kind is list:
        return kind([bare(x) for x in tree])
    if kind is dict:
        return {key: bare(x) for key, x in tree.items()}
    return tree


def tensors_in(tree: Any) -> list[Any]:
    """The tensors in nested tuples, lists and dicts, in order; other things are left out."""
    if isinstance(tree, Value):
        return [tree]
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (tuple, list)):
        return []
    return [x for part in tree for x in tensors_in(part)]
