"""`Results`: what a traced function gives, and what it leaves in tensors and stores elsewhere.

What each of these is, is read once from what the function itself has given and left while it was traced. From then on each call
makes it of the outputs of the graph, and where a call runs both ways it is said whether the function's own is the same.
"""

from __future__ import annotations

import contextlib
import copy as copying
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._errors import UnsupportedError
from ..._state import grad_mode, state
from ..._tree import TreeDef, flatten, unflatten
from ...core import value as values
from ...core.node import Accumulate, Node, producer
from ...core.number import Number, Term
from ...core.value import Value, make
from ...tape import autograd, inplace, mutation
from .. import layout
from ..trace.numbers import Kept, Place, Written, early_terms, late_leaves, same, terms_in
from ..trace.outcomes import Otherwise
from ..trace.substituted import Substituted
from ..trace.trace import Traced
from . import call as calls

_ndarray = np.ndarray

_EXCHANGED = 1 << 12
"""Bytes from which on an array that a call has made takes the place of a tensor's, where nobody else has that: less is copied."""


class Tried(NamedTuple):
    """What a call would give and leave: arrays, numbers that are returned, and a function of what is stored; a function that
    computes the arrays again, by the operations of the graph one after the other; and the numbers that the call was given."""

    compiled: tuple[Any, Any, Any]
    again: Callable[[], Sequence[Any]] | None
    scalars: Sequence[Any]


class Results:
    """What a function has given and left, as a trace has seen it.

    held: what stood for holders. out: the leaves of what it has returned, and tree: their structure. stores: the places of which
    it has changed what is there, and what it leaves there. place: of a holder, where each call finds it (`found_at`). positions:
    of the arguments, by their ids. outputs: to which the tensors are added whose arrays the graph is to give. shared: whether
    tensors that share memory are made so by each call.
    """

    def __init__(
        self, held: Substituted, out: Sequence[Any], tree: TreeDef, stores: Sequence[tuple[Place, Any]], *,
        place: Callable[[Any], Any], positions: dict[int, int], outputs: list[Any], shared: bool,
    ) -> None:  # fmt: skip
        trace = held.trace
        self.name, self.tree, self._positions, self._shared = trace.what, tree, positions, shared
        known = {id(x): x for x in held.holders}

        def output(array: Any, node: Any = None) -> int:
            outputs.append(make(values.core_class, array, node))
            return len(outputs) - 1

        self.kinds: list[tuple[str, Any, Any]] = []
        """Of each leaf of the result, and of each tensor that is stored, what it is: a tensor ("new": its class, whether it is a
        leaf that wants a gradient, and the last operation of a history that a pass inside has used up), one that shares the
        memory of another ("view": of which, and how `_view` makes it), an argument ("given": its position), a tensor from
        outside ("held": itself), a number ("number"), anything else ("other": itself)."""
        self.returned: list[Term] = []
        """The numbers among the leaves of the result."""
        at_hand: dict[int, int] = {}
        """The tensors that go out, by their ids, each with its place among `kinds`."""

        def result(y: Any) -> int:
            if id(y) in at_hand:
                return at_hand[id(y)]
            kind = self._kind_of(y, known, place, output, at_hand)
            self.kinds.append(kind)
            if isinstance(y, Value):
                at_hand[id(y)] = len(self.kinds) - 1
            return len(self.kinds) - 1

        def kept(x: Any) -> Any:
            if isinstance(x, Value):
                return Kept(result(x))
            if type(x) in (tuple, list):
                return type(x)([kept(y) for y in x])
            return {key: kept(y) for key, y in x.items()} if type(x) is dict else x

        for root in _roots([*out, *(y for _, now in stores for y in flatten(now)[0])]):
            if shared and id(root) not in known and type(root._a) is Traced:
                result(root)
        self.order = [result(y) for y in out]
        """Which of `kinds` the leaves of the result are."""
        self.stores = [(p, kept(now)) for p, now in stores]
        self.straight = self.order == list(range(len(self.kinds)))
        """Whether the leaves are `kinds`, one after the other."""
        self.writes = [
            (place(x), output(x._a, x._node if isinstance(x, Value) else None)) for x in held.changed_holders()
        ]  # fmt: skip
        """The places of the holders that are left another array, and which of the outputs it is."""
        self.gradients = [
            (place(x), None if g is None else (type(g), output(g._a))) for x, g in held.gradients()
        ]  # fmt: skip
        """The places of those that are left another gradient, and its class and output, or None."""
        self.leaves_behind = bool(self.writes or self.gradients or self.stores)
        """Whether a call leaves anything in what was there before."""
        decided = trace.outcomes
        self._answers: list[tuple[Term, Any]] = [] if decided is None else list(decided.numbers.values())
        """What Python has asked of numbers that come from arrays, and the answers."""
        self._decided = [] if decided is None else [(output(x), value) for x, value in decided.arrays.values()]
        """Where among the outputs arrays are on which Python has decided, and what they have to hold."""
        self.decides = bool(self._decided or self._answers)
        """Whether calls are held to outcomes."""
        self.late_at = {id(t): output(t.array) for t in late_leaves(self._terms())}
        """Where among the outputs the arrays are that numbers come from, by their terms."""
        made = held.new_leaves()
        if made and any(isinstance(producer(y._node), Node) for y in outputs):
            raise UnsupportedError(f"{self.name}: a tensor from outside becomes a leaf, and what goes out has a history")
        self.leaves = [place(x) for x in made]
        """The tensors from outside that become leaves that want a gradient."""
        self.orders: dict[int, layout.Order] = {}
        """The orders in which arrays lie that the function gives, where they are others than compiled code gives."""

    def _terms(self) -> list[Term]:
        """The numbers that each call computes when its arrays are there."""
        stored = [t for _, now in self.stores for t in terms_in(now)]
        return [*self.returned, *stored, *(t for t, _ in self._answers)]

    def write(self, written: Written, entered: Sequence[tuple[Term, np.dtype]]) -> None:
        """Make the code of what is done with numbers. entered: those that are inputs of the graph, and as what."""
        self.early, places = written.early(entered, early_terms(self._terms()))
        """A function of the arguments' numbers: see `Written.early`."""
        self._late = written.late(self.stores, self.returned, places) if self.returned or self.stores else None
        self._supposed = written.supposed(self._answers, places) if self._answers else None
        self._store = written.storing(self.stores)
        self._numbers = written.form()
        names = {x for f in (self.early, self._late) if f is not None for x in f.__code__.co_names}
        self._sized = "sizes" in names
        """Whether sizes are in what is computed of numbers."""

    def at(self, sizes: tuple[int, ...], of_now: Callable[[Any], Any]) -> Results:
        """The same for some sizes of those that vary. of_now: of anything with such sizes in it, what it is for these."""
        made = copying.copy(self)

        def result(kind: str, what: Any, more: Any) -> tuple[str, Any, Any]:
            if kind == "new" and more[2] is not None:
                more = *more[:2], calls.used_up(more[2], of_now)
            elif kind == "view":
                more = of_now(more[0]), *more[1:]
            return kind, of_now(what) if kind == "other" else what, more

        made.kinds = [result(*x) for x in self.kinds]
        if self._sized:
            for name in ("early", "_late"):
                f = getattr(self, name)
                if f is not None:
                    setattr(made, name, types.FunctionType(f.__code__, {**f.__globals__, "sizes": sizes}, None, f.__defaults__))
        return made

    def form(self) -> Any:
        """What it has in common with the results of versions that do the same to other objects."""
        results = tuple([(kind, more[0] if kind == "new" else None) for kind, _, more in self.kinds])
        left = tuple([at for _, at in self.writes]), tuple([None if g is None else g[1] for _, g in self.gradients])
        return results, left, (tuple([at for at, _ in self._decided]), len(self.leaves), tuple(self.order), self._numbers)

    # ---------------------------------------------------------------------------------------- as the trace has seen it

    def _kind_of(
        self, y: Any, known: dict[int, Any], place: Callable[[Any], Any], output: Callable[..., int], at_hand: dict[int, int]
    ) -> tuple[str, Any, Any]:  # fmt: skip
        """What a leaf of the result is: an entry of `kinds`."""
        if type(y) is Number:
            self.returned.append(y.term)
            return "number", len(self.returned) - 1, None
        if not isinstance(y, Value):
            return "other", y, None
        if id(y) in self._positions:
            return "given", self._positions[id(y)], None
        if id(y) in known:
            return "held", place(y), None
        if y._grad is not None:
            raise UnsupportedError(f"{self.name} gives a tensor that was made inside and has a .grad")
        shared = self._sharing(y, known, place, at_hand) if self._shared else None
        if shared is not None:
            return shared
        end = calls.end_of(y._node)
        at = output(y._a, None if end is not None else y._node)
        return "new", type(y)._result, (at, type(y._node) is Accumulate, end)

    def _sharing(
        self, y: Value, known: dict[int, Any], place: Callable[[Any], Any], at_hand: dict[int, int]
    ) -> tuple[str, Any, Any] | None:  # fmt: skip
        """A tensor of the result that shares the memory of one that goes out as well, or that comes from outside, as an entry of
        `kinds`; None of any other."""
        root, steps = _root(y)
        if root is None:
            return None
        if id(root) in at_hand:
            of = True, at_hand[id(root)]
        elif id(root) in known:
            of = False, place(root)
        else:  # views of something that nobody has found
            for x in known.values():
                before = x._view_steps if isinstance(x, Value) and x._base is root else None
                if before is not None and len(before) <= len(steps) and all(map(operator.is_, before, steps)):
                    root, of, steps = x, (False, place(x)), steps[len(before) :]
                    break
            else:
                return None
        if y._memory is not None:
            return "view", of, (steps, type(y)._result, None, None)
        if calls.end_of(y._node) is not None:
            return None
        recorded = None if y._node is None and root._node is None else y._node is not None
        return "view", of, (steps, None, recorded, y._view_restriction)

    # ---------------------------------------------------------------------------------------- a call

    def hold(self, found: Sequence[Any], early: Any) -> None:
        """Raise Otherwise where the outputs of a call decide something in another way."""
        for at, value in self._decided:
            if not np.array_equal(_bare(found[at]), value):
                raise Otherwise
        if self._supposed is not None and not self._supposed([_bare(y) for y in found], early):
            raise Otherwise

    def computed(self, found: Sequence[Any], early: Any) -> tuple[Sequence[Any], Any]:
        """The numbers that a call returns, and a function of its results that gives what it stores, if anything."""
        return ((), None) if self._late is None else self._late([_bare(y) for y in found], early)

    def give(self, leaves: Sequence[Any], found: Sequence[Any], scalars: Sequence[Any], early: Any) -> Any:
        """Leave behind what a call leaves, and give its result. found: the outputs of its graph."""
        returned, stored = self.computed(found, early)
        if self.orders:
            found = self._laid(found)
        for place in self.leaves:
            autograd.leaf(found_at(place, leaves))
        if self.writes or self.gradients:
            self._leave(leaves, found)
        made: list[Any] = []
        for kind in self.kinds:
            made.append(self._result(kind, leaves, found, returned, made))
        if stored is not None and self.stores:
            self._store(stored(made), scalars)
        return unflatten(self.tree, made if self.straight else [made[i] for i in self.order])

    def _laid(self, found: Sequence[Any]) -> Sequence[Any]:
        """The outputs of a call as they would lie in memory without the compiler."""
        found = list(found)
        for at, order in self.orders.items():
            y = found[at]
            if type(y) is _ndarray:
                found[at] = layout.laid(y, order)
            elif isinstance(y, Value) and type(y._a) is _ndarray:
                y._a = layout.laid(y._a, order)
        return found

    def _result(
        self, result: tuple[str, Any, Any], leaves: Sequence[Any], found: Sequence[Any], returned: Sequence[Any],
        made: Sequence[Any],
    ) -> Any:  # fmt: skip
        kind, what, more = result
        if kind == "new":
            at, wants, end = more
            y = values.as_value(what, found[at])
            if wants:
                autograd.leaf(y)
            elif end is not None and state.mode:
                y._node = calls.used_up(end)
            return y
        if kind == "number":
            return returned[what]
        if kind == "view":
            return _view(made[what[1]] if what[0] else found_at(what[1], leaves), *more)
        return what if kind == "other" else found_at(what, leaves)

    def _leave(self, leaves: Sequence[Any], found: Sequence[Any]) -> None:
        """Write into holders what the call leaves there."""
        targets, arrays = list[np.ndarray](), list[np.ndarray]()  # of what can be written together
        for place, at in self.writes:
            new, holder = found[at], found_at(place, leaves)
            if type(new) is _ndarray and isinstance(holder, Value) and type(holder._a) is _ndarray:
                if new.nbytes < _EXCHANGED or not mutation.exchanged(holder, new):
                    targets.append(holder._a)
                    arrays.append(new)
                continue
            mutation.write_all(targets, arrays)
            targets, arrays = [], []
            self._leave_one(holder, new)
        mutation.write_all(targets, arrays)
        with grad_mode(False):
            found = [y._a if isinstance(y, Value) else y for y in found]
            for place, left in self.gradients:
                holder = found_at(place, leaves)
                holder._grad = None if left is None else make(left[0], found[left[1]])

    def _leave_one(self, holder: Any, new: Any) -> None:
        if isinstance(new, Value) and new._node is not None:
            new = values.as_value(type(holder)._result, new)
            inplace.assign(self.name, holder, new, new._node.seq - 1)
            return
        if isinstance(new, Value):
            new = new._a
        if isinstance(holder, Value) and type(holder._a) is Traced:
            holder._a.trace.before_change(holder)
        if isinstance(holder, Value) and type(holder._a) is _ndarray:
            mutation.write(holder._a, new)
        else:
            holder._a = new

    # ---------------------------------------------------------------------------------------- both ways

    def unlike(self, tried: Tried, leaves: Sequence[Any], out: Any, historic: bool) -> str | None:
        """How what a call of the function itself gave and left differs from what was found for it; None where it does not.
        historic: whether results may have a history.

        Rounding may decide a value (Adam makes a whole step of a gradient that is nothing else): where the graph, operation by
        operation, gives what the function gives, or differs as much from compiled code, that is no difference."""
        found, returned, stored = tried.compiled
        others: list[Any] = []

        def agree(at: int, y: Any) -> bool:
            if close(found[at], y):
                x = _bare(found[at])
                if type(x) is type(y) is _ndarray and (order := layout.order_of(y)) != layout.order_of(x):
                    self.orders[at] = order
                return True
            if tried.again is None:
                return False
            others[:] = others or tried.again()
            return close(others[at], y) or _undetermined(found[at], others[at], y)

        results, tree = flatten(out)
        if tree != self.tree:
            return "a result of another structure"
        kept: list[Any] = [None] * len(self.kinds)
        """What each of `kinds` is here."""
        for i, y in zip(self.order, results):
            if kept[i] is not None and y is not kept[i]:
                return "two tensors in place of one"
            kept[i] = y
        left = [] if stored is None else stored([Kept(i) for i in range(len(kept))])
        for (place, _), x in zip(self.stores, left):
            if not place.there(tried.scalars) or not _same_but(x, place.now(tried.scalars), kept):
                return "another number or tensor in what it stores"
        for (kind, what, more), y in zip(self.kinds, kept):
            if y is None and kind != "other":  # that of which others are views
                continue
            if kind == "view":
                root = kept[what[1]] if what[0] else found_at(what[1], leaves)
                if root is None:
                    continue
                like = _view(root, *more)
                if not isinstance(y, Value) or not close(like._a, y._a) or _shares(like, root) is not _shares(y, root):
                    return "a tensor that shares no memory, or other memory"
            elif kind == "new":
                if not isinstance(y, Value) or not agree(more[0], y._a):
                    return "another value"
                if y._node is not None and not (more[1] or more[2] is not None or historic):
                    return "a history with what was made inside"
            elif kind == "number":
                if not _alike(returned[what], y):
                    return "another number"
            elif kind == "other":
                if not (y is what or (type(y) is type(what) and bool(np.all(y == what)))):
                    return f"{y!r} in place of {what!r}"
            elif y is not found_at(what, leaves):
                return "another object"
        for place, at in self.writes:
            if not agree(at, found_at(place, leaves)._a):
                return "another value of what it writes"
        for place, left in self.gradients:
            gradient = found_at(place, leaves)._grad
            if (gradient is None) != (left is None) or (left is not None and not agree(left[1], gradient._a)):
                return "another gradient"
        return None


def _root(y: Any) -> tuple[Any, Any]:
    """The tensor whose memory another one shares, and the steps from it; None and nothing where there is none."""
    return (y._memory or (y._base, y._view_steps)) if isinstance(y, Value) else (None, ())


def _roots(going: Sequence[Any]) -> list[Any]:
    """The tensors of which several that go out share the memory, or which go out themselves."""
    found = {id(y): y for y in going if isinstance(y, Value)}
    roots = {id(y): root for y in found.values() if (root := _root(y)[0]) is not None}
    counts: dict[int, int] = {}
    for root in roots.values():
        counts[id(root)] = counts.get(id(root), 0) + (2 if id(root) in found else 1)
    return list({id(root): root for root in roots.values() if counts[id(root)] > 1}.values())


def _view(root: Value, steps: Any, cut: type[Value] | None, recorded: bool | None, restriction: Any) -> Value:
    """What shares the memory of a tensor: of a class, without history (cut), or as a view; recorded: whether that is recorded,
    whatever the mode is."""
    if cut is not None:
        with grad_mode(False):
            return make(cut, inplace.replay(root, steps)._a)
    with contextlib.nullcontext() if recorded is None else grad_mode(recorded):
        y: Value = inplace.replay(root, steps)
    if restriction is not None:
        y._view_restriction = restriction
    return y


def _shares(x: Value, root: Any) -> bool:
    return isinstance(root, Value) and bool(np.may_share_memory(calls.elements(_bare(x)), calls.elements(_bare(root))))


def _same_but(x: Any, y: Any, kept: list[Any]) -> bool:
    """Whether what a call stores is what the function has stored; its tensors are put into `kept`, or are found there."""
    if type(x) is Kept:
        if kept[x.at] is None:
            kept[x.at] = y
        return y is kept[x.at]
    if type(x) in (tuple, list, dict):
        if type(y) is not type(x) or len(x) != len(y):
            return False
        if type(x) is dict:
            return all(key in y and _same_but(z, y[key], kept) for key, z in x.items())
        return all(_same_but(z, w, kept) for z, w in zip(x, y))
    return _alike(x, y)


def _bare(x: Any) -> Any:
    return x._a if isinstance(x, Value) else x


def _alike(x: Any, y: Any) -> bool:
    """Whether two numbers, or containers of numbers and such, are the same but for the rounding of float32."""
    if type(x) is not type(y):
        return False
    if type(x) in (tuple, list):
        return len(x) == len(y) and all(map(_alike, x, y))
    return same(x, y) or (isinstance(x, float) and close(np.asarray(x, np.float32), np.asarray(y, np.float32)))


def close(x: Any, y: Any) -> bool:
    """Whether two arrays hold the same numbers but for rounding."""
    if type(x) is not _ndarray or type(y) is not _ndarray:
        return calls.alike(x, y, close)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc" and x.dtype.name != "bfloat16":
        return bool(np.array_equal(x, y))
    digits = np.finfo(x.dtype).eps if x.dtype.kind in "fc" else 2.0**-8
    x, y = (np.asarray(z, np.complex128 if x.dtype.kind == "c" else np.float64) for z in (x, y))
    scale = float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
    return bool(np.allclose(x, y, rtol=float(digits) ** 0.5, atol=float(digits) ** 0.5 * scale, equal_nan=True))


def _undetermined(x: Any, y: Any, z: Any) -> bool:
    """Whether a third array differs from two that are the same but for rounding about as much as these do from each other."""
    if close(x, y) or x.shape != z.shape or x.dtype != z.dtype or x.dtype.kind != "f":
        return False
    apart, off = (float(np.max(np.abs(np.subtract(a, b, dtype=np.float64)), initial=0.0)) for a, b in ((x, y), (x, z)))
    return off <= 4 * apart


class GradientOf:
    """The place of a gradient: that of a tensor from outside, whatever tensor it is by now."""

    __slots__ = ("of",)

    def __init__(self, of: Value) -> None:
        self.of = of

    @property
    def _a(self) -> Any:
        return self.of._grad._a


def found_at(place: Any, leaves: Sequence[Any]) -> Any:
    """The holder at a place: an argument by its position, a gradient, or the holder itself."""
    if type(place) is int:
        return leaves[place]
    return place.of._grad if type(place) is GradientOf else place
