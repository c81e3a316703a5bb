"""What a user's function with a derivative of its own is in every dialect: its context, what it saves, its node.

The dialects' classes (torch's Function, paddle's PyLayer) call the user's forward and backward and give them their
arguments as they are used to; `record` makes the node between.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import FreedGraphError, GradError, MutationError
from ..._state import grad_mode, refresh, state
from ...core.node import FREED, Accumulate, Slot
from ...core.value import Value, detached, dtype_of, error_type, make
from ...tape import function as custom
from ...tape import hooks, inplace, mutation


class SavedTensor:
    """A tensor kept by `save_for_backward`: its array and its edge, or which output of the node itself it is."""

    __slots__ = ("array", "edge", "level", "cls", "output", "packed", "unpack", "own")

    def __init__(self, x: Value, output: int | None) -> None:
        self.output, self.cls, self.level = output, type(x)._result, x._level
        self.packed = self.unpack = self.own = None
        if state.saved_hooks:
            pack, self.unpack = state.saved_hooks[-1]
            with grad_mode(False):
                # Of its own level only: what is below keeps its history.
                self.packed = pack(detached(x) if x._level and x._node is not None else x)
            self.array = None
        else:
            self.array = x._a
            if output is None and x._node is None:
                self.own = x
        self.edge = None if output is not None else x._node

    def restore(self, node: Any) -> Any:
        """The tensor again, with its history."""
        array, edge = self.array, self.edge
        if self.unpack is not None:
            value = hooks.unpacked_value(self.cls, self.unpack, self.packed)
            if edge is None and self.output is None and value._node is None and value._level == self.level:
                return value
            array = value._a
        elif self.own is not None and self.own._a is array and self.own._node is None:
            return self.own
        if self.output is not None:
            edge = Slot(node, self.output, *node.outs[self.output]) if node is not None and hasattr(node, "outs") else node
        elif type(edge) is Accumulate:
            leaf = edge.leaf()
            if leaf is not None and leaf._a is array:
                return leaf
        return make(self.cls, array, edge, self.level)


class Context(custom.Scratch):
    """What forward and backward share: saved tensors, flags, and whatever attributes the user sets."""

    # What holds until it is said otherwise; a context of its own to each call is made in less time so.
    _to_save: tuple[Any, ...] | None = None
    _saved: tuple[Any, ...] = ()
    _node: Any = None  # weak: the node owns the context
    _dirty: tuple[Any, ...] = ()
    _non_differentiable: tuple[Any, ...] = ()
    _materialize = True
    _materialize_non_diff_grads = True
    _constant: frozenset[int] = frozenset()
    """The places of the outputs that have no gradient, among those that are tensors."""

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether an output without gradient is given to backward as zeros (the default) or as None."""
        self._materialize = value

    def _restored(self) -> tuple[Any, ...] | None:
        """What `save_for_backward` was given, None before the function is recorded.

        Raises FreedGraphError and MutationError, as the type that the dialect documents.
        """
        if self._node is None:
            return None
        node = self._node()
        if node is None:  # the graph is gone, which has not freed what it kept
            return tuple([entry.restore(None) if type(entry) is SavedTensor else entry for entry in self._saved])
        if node.saved is FREED:
            raise error_type(node.dialect, FreedGraphError)(
                f"{node.prim.name}: the saved tensors are freed after a backward pass; pass retain_graph=True to "
                "keep them"
            )
        for entry in self._saved if mutation.latest > node.seq else ():
            if (
                isinstance(entry, SavedTensor)
                and entry.array is not None
                and mutation.changed_after(entry.array, node.seq)
            ):
                raise error_type(node.dialect, MutationError)(
                    f"{node.prim.name}: a saved tensor was changed in place after forward had saved it"
                )
        return tuple([entry.restore(node) if type(entry) is SavedTensor else entry for entry in self._saved])

    def _keep(self, mapping: dict[int, int]) -> tuple[Any, ...]:
        """Keep what save_for_backward was given; returns the arrays to be watched for changes."""
        self._saved = saved = tuple(
            [SavedTensor(x, mapping.get(id(x))) if isinstance(x, Value) else x for x in self._to_save or ()]
        )
        self._to_save = None
        return tuple([x.array for x in saved if type(x) is SavedTensor and x.array is not None])


def record(
    name: str, operands: Sequence[Value], ctx: Context, results: Sequence[Any], backward: Callable[..., Sequence[Any]],
    *, recorded: bool, level: int, constant_kinds: str = "iub",
) -> list[Any]:  # fmt: skip
    """Record a user's function whose forward has run on `operands` and given `results`; returns the outputs.

    backward(node, cotangents) gives one gradient or None per operand. recorded: whether there is anything to record.
    constant_kinds: the kinds of dtypes of which outputs have no gradient.
    Raises GradError, as the type that the dialect documents, where forward has changed a leaf in place.
    """
    dirty = {id(x) for x in ctx._dirty} if ctx._dirty else ()
    for x in ctx._dirty:
        cls = type(x)._result
        if not any(x is a for a in operands):
            raise error_type(cls, GradError)(f"{name}: mark_dirty was given a tensor that is no input of forward")
        mutation.note(x._a)  # also where what forward has done is refused now
        if recorded and type(x._node) is Accumulate:
            raise error_type(cls, GradError)(
                f"{name}: a leaf that wants a gradient was changed in place by forward; pass a clone() of it"
            )
        if recorded:
            inplace.check_history(name, x)
    if not recorded:
        return [detached(x) if isinstance(x, Value) and x._node is not None else x for x in results]
    if len(results) == 1 and not dirty and not ctx._non_differentiable:
        (x,) = results
        if isinstance(x, Value) and dtype_of(x).kind not in constant_kinds:  # what is below, for the usual function
            out = own_output(x, operands)
            saved = ctx._keep({} if id(x) in map(id, operands) else {id(x): 0})  # as below: what is an input stays one
            node = custom.attach(
                name, operands, (out,), backward, differentiable=_ONE, level=level, cls=type(out)._result, saved=saved
            )
            node.ctx, ctx._node = ctx, weakref.ref(node)  # type: ignore[attr-defined]
            return [out]
    constant = {id(x) for x in ctx._non_differentiable}
    originals = [x for x in results if isinstance(x, Value)]
    flags = [id(x) not in constant and dtype_of(x).kind not in constant_kinds for x in originals]
    sources = [make(type(x)._result, x._a, x._node, x._level) for x in operands]
    if not all(flags):
        ctx._constant = frozenset(k for k, flag in enumerate(flags) if not flag)
    fresh: list[Any] = []
    own: dict[int, Value] = {}  # what is returned twice is one output
    for x in results:
        if isinstance(x, Value) and id(x) not in dirty:
            # An input (or a view of history) handed through gets a tensor of its own for this node.
            if id(x) not in own:
                if id(x) in constant or dtype_of(x).kind in constant_kinds:
                    own[id(x)] = x if x._node is None else detached(x)
                else:
                    own[id(x)] = own_output(x, operands)
            x = own[id(x)]
        fresh.append(x)
    outputs = [x for x in fresh if isinstance(x, Value)]
    changed = [x for x in outputs if id(x) in dirty]
    if len(outputs) > 1 and any(x._base is not None for x in changed):
        raise error_type(type(changed[0])._result, GradError)(
            f"{name}: a function with several results cannot change a view in place; change a clone() of it"
        )
    before = [x._node for x in changed]
    handed = {id(x) for x in operands}.difference(dirty)  # saved, an input that is returned as it came is the input
    saved = ctx._keep({id(x): k for k, x in enumerate(originals) if id(x) not in handed})
    if not any(flags):
        return fresh
    node = custom.attach(
        name, sources, outputs, backward, differentiable=flags, level=level, cls=type(outputs[0])._result, saved=saved
    )
    for x, edge in zip(changed, before):
        new, x._node = x._node, edge
        inplace.rewritten(x, new)
    node.ctx = ctx  # type: ignore[attr-defined]
    ctx._node = weakref.ref(node)
    ctx._dirty = ctx._non_differentiable = ()  # the node owns the context, and is not to own its results
    return fresh


_ONE = (True,)


def own_output(x: Value, operands: Sequence[Value]) -> Value:
    """An output as a tensor of its own; a view of an input stays one, and may not be changed in place."""
    out = detached(x)
    base = x if x._base is None else x._base
    for a in operands:
        if base is a or (a._base is not None and base is a._base):
            out._base, out._view_steps = base, ()
            out._view_restriction = inplace.MULTIPLE
    return out


_NONE: frozenset[int] = frozenset()
_IS_THERE = functools.partial(operator.is_not, None)


def outputs_of(node: Any) -> Sequence[tuple[tuple[int, ...], np.dtype]]:
    """The shapes and dtypes of what a node produces."""
    return node.outs if hasattr(node, "outs") else ((node.shape, node.dtype),)


def materialized(ctx: Context, node: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
    """The gradients of the outputs for the user's backward: zeros for those that have none, unless it wants None."""
    if not ctx._materialize or all(map(_IS_THERE, cotangents)):
        return cotangents
    shapes = outputs_of(node)
    left = _NONE if ctx._materialize_non_diff_grads else ctx._constant
    return [
        make(node.dialect, np.zeros(shape, dtype)) if g is None and k not in left else g
        for k, (g, (shape, dtype)) in enumerate(zip(cotangents, shapes))
    ]


class saved_tensors_hooks:
    """Inside, tensors saved for the backward pass are kept as `pack_hook(tensor)` and restored by `unpack_hook`."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self._pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if state.saved_hooks_disabled is not None:
            raise RuntimeError(state.saved_hooks_disabled)
        state.saved_hooks = (*state.saved_hooks, self._pair)
        refresh()

    def __exit__(self, *exception: object) -> None:
        state.saved_hooks = state.saved_hooks[:-1]
        refresh()
