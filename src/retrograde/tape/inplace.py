"""In-place changes and views: what keeps history right when memory is written.

An in-place operation is its out-of-place form, computed first and then written: `assign(target, new, start)`. Written
into a view, the base's history becomes a `view_scatter` of the new part into the old whole, and every live view of the
base gets the history of that part of the new base. Arrays that cannot be written (of a transform, or of a library
without mutation) are replaced instead, and their views taken anew from the base.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._errors import GradError, LevelError, ShapeError
from .._state import LOOKED_AT, OBSERVERS, OFF, OPENED, SAVE_CHECKS, SWITCHED, grad_mode, is_grad_enabled, state
from ..backend import backend_of
from ..backend.devices import FOUND
from ..core import level as levels
from ..core import value as values
from ..core.bind import record
from ..core.node import FREED, Accumulate, Node, producer, tick
from ..core.notation import called
from ..core.record import Primitive
from ..core.specialise import looker
from ..core.value import LevelArray, V, Value, dtype_of, error_type, make, shape_of
from ..ops.structural import cast, getitem, view_scatter
from . import autograd, hooks, mutation

_ndarray = np.ndarray
_weak = weakref.ref
_SCATTER: Primitive = view_scatter.prim  # type: ignore[attr-defined]

NO_GRAD, MULTIPLE = "no_grad", "multiple"
"""Why a view may not be written while recording: made under no_grad, or one of several views made by one operation."""

Edges = tuple[Any, ...]
Step = tuple[Callable[..., Any], tuple[tuple[str, Any], ...]]


def _no_tensor(x: Any, op: str = "view") -> TypeError:
    return TypeError(f"{op}: only a tensor can be looked at or changed through another, got {type(x).__name__}")


def view(op: Callable[..., Any], x: V, /, **params: Any) -> V:
    """`op(x, **params)`, remembered as a view of `x` when it shares its memory."""
    return viewer(op)(x, **params)


@functools.cache
def viewer(op: Callable[..., Any]) -> Callable[..., Any]:
    """`view` of one operation, which takes the parameters in their order or by name: `viewer(reshape)(x, shape)`.

    The everyday case of `bind` and of `attach` in one function: 1.1 µs for the row of a matrix, 1.5 one after the other.
    """
    return looker(op, attach=attach, shared=_shared, no_tensor=_no_tensor, remember=_remember)


def mirrored(op: Callable[..., Any], x: Value) -> Value:
    """The conjugates of `x`, which `op` computes, as its view: memory of its own that is kept in step with that of `x`."""
    out: Value = op(x)
    if type(x._a) is _ndarray and type(out._a) is _ndarray:
        out._a = mutation.mirror(x._a, out._a)
    attach(out, x, ((op, ()),), follows=True)
    return out


def attach(
    out: Value, x: Value, steps: tuple[Step, ...], why_not: str | None = None, *, follows: bool = False
) -> None:
    """Remember `out` as the view of `x` that `steps` make, if it shares (or follows) its memory or cannot own any."""
    array = out._a
    if type(array) is _ndarray and not follows:
        owner = array.base
        if owner is None:
            return
        source = x._a if isinstance(x, Value) else x
        # A reshape may have to copy and still return a view: of its copy.
        if owner is not source and type(source) is _ndarray and owner is not source.base and not _shared(array, source):
            return
    try:
        base = x._base
    except AttributeError:
        raise _no_tensor(x) from None
    if base is None:
        base = x
    else:
        steps = x._view_steps + steps
    if SAVE_CHECKS:
        x._policy.viewed(out, x)
    if (SWITCHED or OPENED) and not is_grad_enabled():
        if x._policy.detaches_silent_views:
            if base._node is not None and type(array) is _ndarray:
                return
        else:
            why_not = why_not or NO_GRAD
            if base._node is not None and out._node is None and not out._level:
                autograd.silent_leaf(out)
    out._base, out._view_steps = base, steps
    if why_not is None:
        why_not = x._view_restriction
    if why_not is not None:
        out._view_restriction = why_not
    live = base._views
    if live is None:
        base._views = [_weak(out)]
    else:
        _remember(live, out)


def _remember(live: list[Any], view: Value) -> None:
    """Put one more view into the list of a base."""
    n = len(live)
    if n > 8 and not n & (n - 1):  # prune at powers of two: constant time on average
        live[:] = [reference for reference in live if reference() is not None]
    live.append(_weak(view))


def attach_parts(outs: Sequence[Value], x: Value, op: Callable[..., Any], name: str, values: Sequence[Any]) -> None:
    """Remember the parts that one operation made of `x`, part i being `op(x, name=values[i])`, as its views.

    Such views may not be changed in place while recording.
    """
    array, base = x._a, x._base
    if type(array) is not _ndarray or SWITCHED or OPENED or SAVE_CHECKS:
        for out, value in zip(outs, values):
            attach(out, x, ((op, ((name, value),)),), MULTIPLE)
        return
    if base is None:
        base, before = x, ()
    else:
        before = x._view_steps
    live = base._views
    if live is None:
        live = base._views = []
    while live and live[-1]() is None:
        live.pop()
    for out, value in zip(outs, values):
        owner = out._a.base
        if owner is array or (owner is not None and (owner is array.base or _shared(out._a, array))):
            out._base, out._view_steps, out._view_restriction = base, (*before, (op, ((name, value),))), MULTIPLE
            if len(live) > 8:
                _remember(live, out)
            else:
                live.append(_weak(out))


def _shared(array: np.ndarray, other: np.ndarray) -> bool:
    return mutation.owner_of(array) is mutation.owner_of(other)


def replay(x: Any, steps: tuple[Step, ...]) -> Any:
    """The view that `steps` make of `x`."""
    for op, params in steps:
        x = op(x, **dict(params))
    return x


def live_views(base: Value) -> list[Value]:
    """The views of `base` that still exist."""
    return [v for reference in base._views or () if (v := reference()) is not None and v._base is base]


def forget_view(view: Value) -> None:
    """Let the base of a view, just made, not know of it: written through once, it gets no history of its own."""
    live = view._base._views if view._base is not None else None
    if live and live[-1]() is view:
        live.pop()


def check(op: str, target: Value) -> None:
    """Raise where `target` may not be changed in place now; nothing has been changed then."""
    before_change(target)
    check_history(op, target)
    cls, array = type(target)._result, target._a
    if type(array) is _ndarray:
        if mutation.overlapping(array):
            raise error_type(cls, GradError)(
                f"{op}: several elements of this tensor share one place in memory (it was expanded), so it "
                "cannot be changed in place; use clone() first"
            )
        if not array.flags.writeable:
            raise error_type(cls, GradError)(
                f"{op}: the NumPy array behind this tensor is read-only; use clone() first"
            )


def before_change(target: Value) -> None:
    """Let a value that is to be changed in place hold memory, if its array has some."""
    array = getattr(target, "_a", None)
    if type(array) is not _ndarray and array is not None and not isinstance(array, (Value, LevelArray)):
        backend_of(array).before_change(target)


def places(op: str, target: Value, *operands: Any) -> tuple[Value, tuple[int, ...]]:
    """One element for each place in memory of an expanded tensor, as a view, and the axes along which elements share one.

    In the view these axes have size 1, and what `op` writes there, computed from `operands`, is seen in all of `target`.
    """
    array = target._a
    axes = tuple(i for i, (s, n) in enumerate(zip(array.strides, array.shape)) if s == 0 and n > 1)
    noted = any(isinstance(x, Value) and x._node is not None for x in (target, *operands))
    if noted and target._base is None and levels.mode_at(target._level):
        check(op, target)  # refuses it: there is no base from which the other elements would get the history
    index = tuple(slice(0, 1) if i in axes else slice(None) for i in range(array.ndim))
    return view(getitem, target, index=index), axes


def check_history(op: str, target: Value) -> None:
    """The same for changes that write no element: where the history of `target`, or its kind, forbids them."""
    try:
        cls: type[Value] = type(target)._result
    except AttributeError:
        raise _no_tensor(target, op) from None
    policy = cls._policy
    policy.check_change(op, target)
    if target._outer is not None:
        check(op, target._outer[0])
    if levels.mode_at(target._level):
        base, leaf = target._base, type(target._node) is Accumulate
        if leaf or (base is not None and type(base._node) is Accumulate and not policy.changes_leaf_views):
            raise error_type(cls, GradError)(
                f"{called(op)}: a {'' if leaf else 'view of a '}leaf that requires grad cannot be changed in place while "
                "operations are recorded; do it under no_grad(), or work on a clone()"
            )
        if base is not None and base._node is None and type(producer(target._node)) is Node:
            raise error_type(cls, GradError)(
                f"{op}: what this tensor is a view of was detached after the view was taken, so that the change could not "
                "become part of both their histories; take the view anew, or work on a clone()"
            )
        recorded = target._node is not None or (base is not None and base._node is not None)
        if target._view_restriction is not None and recorded:
            _check_view(op, target)


def _check_view(op: str, target: Value) -> None:
    """Raise where `target`, a view, may not get a history, or another one."""
    if target._view_restriction == MULTIPLE:
        raise error_type(type(target)._result, GradError)(
            f"{op}: this view is one of several that one operation returned (split, unbind...), and such views "
            "cannot be changed in place; change a clone(), or slice the base instead"
        )
    if target._view_restriction == NO_GRAD:
        raise error_type(type(target)._result, GradError)(
            f"{op}: this view was made under no_grad() and cannot be changed in place while operations are "
            "recorded; make the view outside, or change it under no_grad() as well"
        )


def begin(op: str, target: Value) -> int:
    """The beginning of an in-place operation, before anything is computed: the check, and the clock's reading for `assign`."""
    check(op, target)
    if target._base is not None and type(node := target._node) is Node and node.hooks is not None:
        # The change becomes a part of the base's history: hooks on the view are not called for what it makes of that.
        _commit([(target, replay(values.as_core(target._base), target._view_steps)._node)])
    return tick()


def update(op: str, target: Value, compute: Callable[[], Value]) -> Value:
    """Make `target` hold what `compute()` gives: the in-place form of an operation. Returns `target`."""
    start = begin(op, target)
    return assign(op, target, unpacked(compute) if SWITCHED and state.saved_hooks else compute(), start)


def unpacked(compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `compute` gives, with nothing that it saves packed by saved-tensor hooks yet: `assign` packs it, since what is
    saved of an operand that is about to be overwritten has to be copied first."""
    pairs, state.saved_hooks = state.saved_hooks, ()
    try:
        return compute(*args, **kwargs)
    finally:
        state.saved_hooks = pairs


def assign(op: str, target: Value, new: Value, start: int) -> Value:
    """Write `new`, computed after clock reading `start`, into `target`, history included."""
    if type(target._a) is not _ndarray:
        before_change(target)
    cls = type(target)._result
    array, written = target._a, new._a
    plain = type(array) is type(written) is _ndarray
    if (
        plain and array.dtype is written.dtype and array.shape == written.shape
        and (target._node is new._node is target._base is None or (state.mode == OFF and not state.levels))
        and target._level == new._level == 0 and type(new)._result is cls
    ):  # no history on either side, or none wanted: 1.3 µs less
        mutation.write(array, written)
        return target
    if type(new)._result is not cls:
        values.result_class((target, new))  # refuses tensors of two dialects
    if not plain or array.shape != written.shape or array.dtype is not written.dtype:
        if tuple(shape_of(new)) != tuple(shape_of(target)):
            raise error_type(cls, ShapeError)(
                f"{called(op)}: a result of shape {tuple(shape_of(new))} does not fit into shape {tuple(shape_of(target))}; "
                "a change in place keeps the shape: write it out of place (x = x + y)"
            )
        if dtype_of(new) != dtype_of(target):
            new = cast(new, dtype=dtype_of(target))
    if type(target._a) is _ndarray and type(new._a) is not _ndarray and not isinstance(new._a, (Value, LevelArray)):
        elements = backend_of(new._a).into_memory(target, new._a)
        if elements is not None:
            new = make(type(new), elements, new._node, new._level)
    recording = levels.mode_at(max(target._level, new._level)) != 0 and (
        new._node is not None or target._node is not None or (target._base is not None and target._base._node is not None)
    )
    if type(target._a) is not _ndarray or type(new._a) is not _ndarray or new._level > target._level:
        return _replace(op, target, new, recording, start)
    history: list[tuple[Value, Any]] = []
    now = 0
    if recording:
        # Everything that can fail comes first; the change is noted as if before it, so that what it made counts as younger.
        if new._node is not None and target._view_restriction is not None:
            _check_view(op, target)
        copy_all = target._policy.copies_saved_before_writing
        if copy_all:
            _release_result(target)
        nodes = _new_nodes(new, start)
        _release(nodes, array, copy_all)
        now = tick()
        _restamp(nodes, new._a, array)
        history = _rebased(target, new._node)
    mutation.write(array, new._a, now=now)
    _commit(history)
    if recording and SWITCHED and state.saved_hooks:
        for node in nodes:
            hooks.pack(node, cls)
    return target


def write_part(
    op: str, target: Value, index: Any, value: np.ndarray, prim: Primitive, params: dict[str, Any], edges: Edges,
    *operands: Any,
) -> bool:  # fmt: skip
    """Write numbers into a part of a tensor, `target._a[index] = value`, which counts as `prim(target, *operands)`: nothing is
    copied, where the out-of-place form copies the whole twice. The operands are arrays, of these edges, and the write cannot
    fail.

    False, and nothing is done, where the out-of-place form is wanted: for views, in transforms, and where somebody watches.
    """
    array = target._a
    if (
        type(array) is not _ndarray or target._base is not None or target._level
        or SWITCHED or OPENED or LOOKED_AT or OBSERVERS or SAVE_CHECKS
    ):  # fmt: skip
        return False
    check(op, target)
    history, now, edges = [], 0, (target._node, *edges)
    if edges.count(None) < len(edges):
        if target._policy.copies_saved_before_writing:
            _release_result(target)
        now = tick()  # the change is noted as if before the operation, as in `assign`
        node = record(prim, params, edges, (array, *operands), array)
        history = _rebased(target, node)
    array[index] = value
    mutation.note(array, now=now)
    _commit(history)
    return True


def write_slice(op: str, target: Value, index: tuple[Any, ...], value: Value) -> bool:
    """Write a value of the same dtype into the view that a basic index makes of a tensor: what `assign` makes of that view, at
    two thirds of the time. False, and nothing is done, as in `write_part`, and where the shapes differ."""
    array, new = target._a, value._a
    if type(array) is not _ndarray or type(new) is not _ndarray or new.dtype is not array.dtype or value._level:
        return False
    try:
        shape = array[index].shape
    except IndexError:
        return False
    if shape != new.shape or type(target._node) is Accumulate or value._dialect != target._dialect:
        return False
    params = {"steps": ((getitem, (("index", index),)),)}
    return write_part(op, target, index, new, _SCATTER, params, (value._node,), new)


def anchor(target: Value) -> None:
    """Before `target` gets another shape or other strides: its views become those of an anonymous base that looks at memory
    as `target` does now, and so does `target` itself. A leaf, which gets no new history, stays as it is."""
    if not target._views or target._base is not None or type(target._node) is Accumulate:
        return
    live = live_views(target)
    if not live:
        return
    base: Value = make(type(target)._result, target._a, target._node, target._level)
    for v in live:
        v._base = base
    base._views, target._views = [_weak(v) for v in (*live, target)], None
    target._base, target._view_steps = base, ()


def adopt(target: Value, result: Value) -> None:
    """Let `target` be the tensor `result`: its array and its history; a leaf stays the leaf that it is."""
    edge, own = result._node, target._node
    if type(edge) is Accumulate and type(own) is not Accumulate and not (own is None and autograd.is_silent(result)):
        own = Accumulate(target, edge.shape, edge.dtype)  # a view made under no_grad is a leaf of its own
    if type(own) is Accumulate and (edge is None or type(edge) is Accumulate):
        own.shape, own.dtype = tuple(shape_of(result)), dtype_of(result)
        edge = own
    target._a, target._node, target._level = result._a, edge, result._level


def _rebased(target: Value, edge: Any) -> list[tuple[Value, Any]]:
    """The history of each value once the memory of `target` holds what `edge` produces: its own, its base's, other views'."""
    base = target._base
    if base is None or type(base._node) is Accumulate:  # a leaf stays the leaf that it is: see `changes_leaf_views`
        return [(target, edge), *(_replays(target, edge) if target._views else ())]
    if base._node is None and edge is None:
        return []
    node = record(
        _SCATTER, {"steps": target._view_steps}, (base._node, edge), (base._a, target._a), base._a
    )
    return [(base, node), *_replays(base, node)]


def _replays(base: Value, edge: Any) -> list[tuple[Value, Any]]:
    """Every live view of `base` with the history of that part of a base that `edge` produces."""
    root, keeps = make(values.core_class, base._a, edge, base._level), base._policy.keeps_restricted_views
    return [
        (v, fresh._node if keeps or v._view_restriction is None else _NONE_KNOWN) for v, fresh in _anew(base, root)
    ]


_NONE_KNOWN: Any = object()
"""Stands for the history of a view that has lost it: see `TapePolicy.keeps_restricted_views`."""


def _edge(view: Value) -> Any:
    """The edge of a view; None where its history is lost."""
    return None if view._history_lost else view._node


@functools.cache
def _lost(cls: Any) -> Any:
    """The class of values whose history is lost: whoever asks for it, to record an operation or to show it, is refused. A class
    of its own costs the others nothing."""

    def edge(x: Value) -> Any:
        if levels.mode_at(x._level) == OFF:
            return None
        raise error_type(cls._result, GradError)(
            f"{_RESTRICTED[x._view_restriction or NO_GRAD]} cannot be used any more: what it is a view of was changed in "
            "place, or another view of that was; take the view after the change, or change a clone()"
        )

    def set_edge(x: Value, edge: Any) -> None:
        x.__class__ = cls
        x._node = edge

    members = {"__slots__": (), "_node": property(edge, set_edge), "_history_lost": True}
    return type(cls)(cls.__name__, (cls,), members, result=cls._result)


_RESTRICTED = {
    NO_GRAD: "a view that was made under no_grad()",
    MULTIPLE: "one of several views that an operation returned (split, unbind...), or a custom function's,",
}


def stop(target: Value) -> None:
    """Free `target` of its history. Views that remember it keep it until memory is written: then they hold something else."""
    target._node = None
    if type(target._a) is _ndarray and any(type(producer(_edge(v))) is Node for v in live_views(target)):
        mutation.when_written(target._a, functools.partial(_forget_history, _weak(target)))


def _forget_history(reference: weakref.ref[Value]) -> None:
    """Let the views of a value without history be views of a leaf that nobody has."""
    base = reference()
    if base is None or base._node is not None:
        return
    gone = Accumulate(make(values.core_class, base._a), tuple(shape_of(base)), dtype_of(base))
    with grad_mode(True):  # whoever writes may do it unrecorded
        _commit([(v, edge) for v, edge in _replays(base, gone) if type(producer(_edge(v))) is Node])


def _anew(base: Value, root: Value) -> Iterator[tuple[Value, Value]]:
    """Every live view of `base` with what its steps make of `root`."""
    for v in live_views(base):
        fresh = replay(root, v._view_steps)
        if type(fresh._node) is Node:
            fresh._node.replayed = True
        yield v, fresh


def _commit(history: list[tuple[Value, Any]]) -> None:
    """Give values their new history, now that their memory holds what it says."""
    for value, edge in history:
        if edge is _NONE_KNOWN:
            if _edge(value) is not None:
                kind: Any = type(value)
                value.__class__ = _lost(kind)
            continue
        if edge is not None and hooks.retains_grad(value):
            hooks.move_retained(value, edge)
        value._node = edge


def rewritten(target: Value, edge: Any) -> None:
    """Give `target`, whose memory user code has written, the history `edge`; its base and other views follow."""
    _commit(_rebased(target, edge))


def _replace(op: str, target: Value, new: Value, recording: bool, start: int) -> Value:
    """The in-place change of an array that cannot be written: the holder gets another array."""
    holder = target if target._base is None else target._base
    if max(holder._level, holder._born) < new._level <= levels.innermost() and not _lifted(holder, new._level):
        raise error_type(type(target)._result, LevelError)(
            f"{op}: a value computed inside a functional transform cannot be written into a tensor that was "
            "created outside it; create the tensor inside, or return the value"
        )
    core = values.as_core(new) if recording or new._level else make(values.core_class, new._a)
    if target._base is not None:
        root = values.as_core(holder)
        core = view_scatter(root, core, steps=target._view_steps)
    if FOUND:
        target._policy.together(op, [target, new])
    old, holder._a, holder._level = holder._a, core._a, core._level
    if not isinstance(old, (Value, LevelArray)) and not backend_of(old).on_host(old):
        mutation.note(old, now=start)  # of memory on a device, whatever was recorded with it before is out of date
    if recording:
        _commit([(holder, core._node)])
    if holder._outer is not None:
        outer, below, again = holder._outer
        assign(op, outer, values.as_value(type(outer)._result, below(holder)), start)
        holder._a = again(holder._a, values.content(outer))
        holder._node, holder._level = None, holder._a._level
    _take_anew(holder)
    if holder._memory is not None or holder._sharers:
        _follow(holder)
    return target


def _take_anew(holder: Value) -> None:
    """Let the views of a value that got another array have its elements and its history."""
    for v, fresh in _anew(holder, values.as_core(holder)):
        v._a, v._level = fresh._a, fresh._level
        _commit([(v, fresh._node)])


def _lifted(holder: Value, level: int) -> bool:
    """Whether a value from outside may hold something of a level until that ends (`Level.lifts`): if so, it stands from now on
    for one that has its memory and its history."""
    for open_level in state.levels:
        if open_level.id == level and open_level.lifts is not None:
            outer: Value = make(type(holder)._result, holder._a, holder._node, holder._level)
            holder._outer, holder._node = (outer, *open_level.lifts), None
            open_level.lifted.append(_weak(holder))
            return True
    return False


def lower(level: Any) -> None:
    """The end of a level that lifts values: each is again the one that it stood for."""
    for reference in level.lifted:
        holder = reference()
        if holder is not None and holder._outer is not None:
            outer, holder._outer = holder._outer[0], None
            holder._a, holder._node, holder._level = outer._a, outer._node, outer._level
            _take_anew(holder)
    level.lifted.clear()


def look_again(holder: Value) -> None:
    """Let the views of a value that got another array, and the values that share its memory, have its elements, with the history
    that they have."""
    _look_again(holder)
    if holder._memory is not None or holder._sharers:
        _follow(holder)


def _follow(holder: Value) -> None:
    root, steps = holder._memory or (holder, ())
    if root is not holder:
        root._a = _SCATTER.op(root._a, holder._a, steps=steps) if steps else holder._a
        _look_again(root)
    for reference in root._sharers or ():
        x = reference()
        if x is not None and x is not holder:
            x._a = replay(root._a, x._memory[1])
            _look_again(x)


def _look_again(base: Value) -> None:
    for v in live_views(base):
        v._a = replay(base._a, v._view_steps)


def _new_nodes(new: Value, start: int) -> list[Node]:
    """The nodes below `new` that were recorded after `start`, oldest first."""
    first = producer(new._node)
    if not isinstance(first, Node) or first.seq <= start:
        return []
    stack = [producer(edge) for edge in first.edges if edge is not None and edge.seq > start]
    if not stack:
        return [first]
    seen = {first}
    while stack:
        node = stack.pop()
        if not isinstance(node, Node) or node.seq <= start or node in seen:
            continue
        seen.add(node)
        stack.extend([producer(edge) for edge in node.edges if edge is not None])
    return [first] if len(seen) == 1 else sorted(seen, key=lambda node: node.seq)


def _release_result(target: Value) -> None:
    """Before `target` is overwritten: what the operation that made it saved of its result is copied.

    That operation is the newest one below the tensor, behind linear operations on one operand (which may only see its
    result in another shape), or behind the last write to a part. What earlier writes met has been copied then, so each
    write looks at a handful of nodes.
    """
    array = target._a
    node = producer((target if target._base is None else target._base)._node)
    if isinstance(node, Node) and node.prim is _SCATTER:
        node = producer(node.edges[1])
    while isinstance(node, Node):
        if not isinstance(node.prim, Primitive) or mutation.changed_after(array, node.seq):
            return  # a custom function computes with what it has kept itself; what has been changed is lost
        if node.saved and node.packed is None and node.saved is not FREED:
            node.saved = _apart(node.saved, array, mutation.owner_of(array), {})
        if len(node.edges) != 1 or node.prim.kind not in ("linear", "structural"):
            return
        node = producer(node.edges[0])


def _apart(saved: tuple[Any, ...], array: np.ndarray, owner: Any, copies: dict[int, Any]) -> tuple[Any, ...]:
    """Saved arrays, with copies of those that share memory with `array`."""
    return tuple([
        _apart(x, array, owner, copies) if type(x) is tuple
        else copies.setdefault(id(x), _copied(x)) if _overlaps(x, array, owner)
        else x
        for x in saved
    ])  # fmt: skip


def _copied(x: np.ndarray) -> np.ndarray:
    copy = x.copy()
    for observer in OBSERVERS:
        observer.copied(x, copy)
    return copy


def _touch(saved: tuple[Any, ...], array: np.ndarray, owner: Any) -> bool:
    """Whether one of the saved arrays shares memory with `array`."""
    for x in saved:  # noqa: SIM110 - a generator takes 0.4 µs to begin with
        if x is not None and (_touch(x, array, owner) if type(x) is tuple else _overlaps(x, array, owner)):
            return True
    return False


def _overlaps(x: Any, array: np.ndarray, owner: Any) -> bool:
    return type(x) is _ndarray and mutation.owner_of(x) is owner and (np.may_share_memory(x, array) or not x.size)


def _release(nodes: list[Node], array: np.ndarray, copy_all: bool) -> None:
    """Before `array` is overwritten: what the new nodes saved of it is copied.

    Unless `copy_all`, a tensor that is its own other operand (`a.mul_(a)`) makes the node stale, as in PyTorch.
    """
    owner = mutation.owner_of(array)
    copies: dict[int, Any] = {}
    for node in nodes:
        if not node.saved or not _touch(node.saved, array, owner):
            continue
        others = node.saved[1 : len(node.edges)] if len(nodes) == 1 and not copy_all else ()
        if any(_overlaps(x, array, owner) for x in others):
            node.stale, node.step = True, None  # so that a pass looks at it
        else:
            node.saved = _apart(node.saved, array, owner, copies)


def _restamp(nodes: list[Node], result: Any, array: np.ndarray) -> None:
    """The new nodes count as younger than the write, and a saved result is the memory written."""
    for node in nodes:
        node.seq = tick()
        if node.saved:
            node.saved = tuple([array if x is result else x for x in node.saved])
