"""A record computed anew with other values at some of its events: what a program would have computed from there on.

Operations, optimisers' steps, writes in place and the derivatives of backward passes are evaluated again wherever something
that they read has become another; everything else stays as it was recorded. Used to go on after a difference with the other
program's values (repairs.py). A record of a widened run (wide.py) is computed anew in double precision, as it is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from ...core.record import NOT_DIFFERENTIABLE, Primitive
from ...tape.engine import fit
from . import wide
from .events import (
    ABSENT,
    NOWHERE,
    Accumulate,
    Clear,
    Cotangent,
    Edge,
    Event,
    Gave,
    Operation,
    Pass,
    Passed,
    Reread,
    Returned,
    Update,
    WithParameters,
    Write,
)
from .policy import POLICY
from .record import Kept, Record, dtype_named, name_of, same_bits
from .values import Values, apart, as_wide
from .wide import FAILURES, rules, wide_option, wide_params, wider

E = TypeVar("E", Operation, Update)


@dataclass
class Force:
    """A value of the other program that is put in the place of one of this, under conditions."""

    value: int
    """Its number in the other program's record; ABSENT for zeros."""
    order: tuple[int, ...] | None = None
    """The order in which its axes are taken, if it lies otherwise there."""
    where: Sequence[tuple[int, int]] = ()
    """It is put there only where these values (of this record, as computed anew, or what is read in their place) are those of the
    other program."""
    more: Sequence[int] = ()
    """Values that are added to it."""


@dataclass
class Changes:
    """What is other than in the record."""

    results: dict[tuple[int, int], Force] = field(default_factory=dict)
    """(event, output) -> what it makes."""
    operands: dict[tuple[int, int], Force] = field(default_factory=dict)
    """(event, position) -> what it reads."""
    gradients: dict[tuple[int, int, int], Force] = field(default_factory=dict)
    """(place of the pass, operation, output) -> the gradient that arrives there."""
    arrivals: dict[int, Force] = field(default_factory=dict)
    """The event at which a gradient arrives at a leaf -> what arrives there."""
    parameters: dict[int, int] = field(default_factory=dict)
    """An operation -> the one of the other program whose parameters it has."""
    adds: dict[int, bool] = field(default_factory=dict)
    """The same -> whether it is added to what was there before."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        return not any(vars(self).values())

    def update(self, other: Changes) -> None:
        """Take over what another one changes."""
        for mine, others in zip(vars(self).values(), vars(other).values()):
            mine.update(others)


class Replay:
    """One evaluation of a record anew; `record` is the outcome."""

    def __init__(self, original: Record, changes: Changes, other: Values, *, widened: bool = False,
                 everything: bool = False, until: int | None = None) -> None:  # fmt: skip
        """other: the values of the other program, which take the place of this one's.

        until: the event at which to stop, where what follows is not asked for.

        everything: compute all anew, whether it can have become another or not.
        """
        self._original, self._changes, self._widened = original, changes, widened
        self._values, self._other = Values(original), other
        self.new: dict[int, np.ndarray] = {}
        """Values that have become others."""
        self.assumed: dict[int, int] = {}
        """Values that were put there -> what they are in the other program."""
        self.lost: set[str] = set()
        """What could not be computed anew, and stands as it was."""
        self._sums: dict[tuple[int, int, int], np.ndarray] = {}
        self._places: dict[int, int] = {}
        """Passes by the engine's number -> their places."""
        self._ended: set[int] = set()
        self._plain: dict[int, bool] = {}
        """Passes that run -> whether their derivatives are not recorded as operations themselves."""
        self._parts: dict[int, np.ndarray] = {}
        """Which result of an operation -> the gradient that has arrived there, until all of that operation have."""
        self._made: set[int] = set()
        self._sums_held: dict[int, int] = {}
        """A leaf -> the sum that its `.grad` holds, since it was cleared."""
        self._events = list(original.events)
        self._kept = list(original.values)
        self._everything = self._stirred = everything
        """stirred: whether anything is other than in the record by now."""
        self._at = 0
        for self._at, e in enumerate(itertools.islice(original.events, until)):
            self._event(self._at, e)
        self.record = Record(
            self._events, self._kept, original.leaves, original.files, original.content, original.modules, self.new,
        )  # fmt: skip
        self.record.norms = {value: norm for value, norm in original.norms.items() if value not in self.new}
        self.record.keys = {value: key for value, key in original.keys.items() if value not in self.new}

    def array(self, value: int) -> np.ndarray | None:
        """What a value is now; None for one that is not there, or was too large to be kept."""
        if value == ABSENT:
            return None
        known = self.new.get(value)
        found = self._values.array(value) if known is None else known
        return found.astype(wider(found.dtype), copy=False) if self._widened and found is not None else found

    def _event(self, number: int, e: Event) -> None:
        match e:
            case Operation():
                self._operation(number, self._fed(number, e))
            case Update():
                self._update(self._fed(number, e))
            case Write() | Reread():
                self._sums_held = {leaf: v for leaf, v in self._sums_held.items() if v not in e.ins[:1]}
                self._write(e)
            case Clear():
                self._sums_held.pop(e.leaf, None)
            case Pass():
                self._begin(e)
            case Cotangent():
                self._cotangent(e)
            case Gave():
                self._gave(e)
            case Accumulate():
                self._accumulate(number, e)
            case Returned():
                if e.edge is not None:
                    self._arrived(e, e.outs[0], (e.run, *e.edge))
            case Passed():
                self._ended.add(e.run)
        for output, value in enumerate(e.outs):
            force = self._changes.results.get((number, output))
            if force is not None and self._holds(force, number) and self._force(value, force):
                self.assumed[value] = force.value
        self._made.update(e.outs)

    def _holds(self, force: Force, number: int) -> bool:
        read = dict(zip(self._original.events[number].ins, self._events[number].ins))
        for own, known in force.where:
            value = read.get(own, own)
            have, wanted = self.array(value), self._other.array(known)
            if have is None or wanted is None or have.size != wanted.size:
                return False
            if apart(as_wide(have), as_wide(wanted), POLICY.condition).relative > POLICY.condition:
                return False
        return True

    def _force(self, value: int, force: Force) -> bool:
        """Put the other program's value in the place of one; False where that cannot be."""
        if self._widened and force.value != ABSENT and self._other.kept(force.value).dtype == "float64":
            self._widen(value)  # data have single precision, and not what A has made of them
        shape, own = tuple(self._kept[value].shape), dtype_named(self._kept[value].dtype)
        array = np.zeros(shape, own) if force.value == ABSENT else self._other.array(force.value)
        for other in force.more:
            more = self._other.array(other)
            array = None if array is None or more is None else array + more.reshape(array.shape)
        if array is None:
            self.lost.add("a value too large to be kept")
            return False
        array = array.transpose(force.order) if force.order is not None else array
        self._put(value, (array.reshape(shape) if array.size == math.prod(shape) else array).astype(own))
        return True

    def _widen(self, value: int) -> None:
        """Let a value have double precision that had single."""
        kept = self._kept[value]
        if kept.dtype == "float32":
            self._kept[value] = Kept(kept.shape, "float64", kept.offset, kept.digest)

    def _put(self, value: int, array: np.ndarray) -> None:
        kept = self._kept[value]
        shape = tuple(kept.shape)
        before = self.array(value) if value < len(self._original.values) else None
        if self._widened and kept.dtype == "float32":  # of single precision there, too, such as data
            array = array.astype(np.float32)
        array = array.reshape(shape) if array.shape != shape and array.size == math.prod(shape) else array
        if before is not None and same_bits(before, array):
            return
        self._stirred = True
        self.new[value] = array
        self._kept[value] = Kept(array.shape, name_of(array.dtype), -1)

    # ------------------------------------------------------------------------------------------ forward

    def _fed(self, number: int, e: E) -> E:
        """An event with the operands that are put in the place of its own."""
        ins = list(e.ins)
        for position, value in enumerate(ins):
            force = self._changes.operands.get((number, position))
            if force is not None and self._holds(force, number):
                self._kept.append(self._kept[value])
                if self._force(len(self._kept) - 1, force):
                    ins[position] = len(self._kept) - 1
                    self.assumed[ins[position]] = force.value
        if ins != list(e.ins):
            self._events[number] = e = replace(e, ins=ins)
        return e

    def _operation(self, number: int, e: Operation) -> None:
        other = self._changes.parameters.get(number)
        if other is not None:
            made = self._other.record.events[other]
            assert isinstance(made, Operation)
            self._events[number] = e = replace(e, params=made.params)
        if not (self._everything or other is not None or any(v in self.new for v in e.ins)):
            return
        prim = self._original.primitive(e.name)
        if prim is None:  # a user's function: what it computes inside has been recorded by itself
            for value in e.outs:
                source = self._late(value, e)
                if source in self.new:
                    self._put(value, self.new[source])
            return
        had = [self._original.values[v].dtype for v in self._original.events[number].ins if v != ABSENT]
        has = [self._kept[v].dtype for v in e.ins if v != ABSENT]
        if self._widened and "float64" in has and "float64" not in had:  # data were read, and now something that was computed
            for value in e.outs:
                self._widen(value)
        found = self._computed(e, prim, e.ins)
        for value, array in zip(e.outs, found or ()):
            self._put(value, array)

    def _params(self, e: WithParameters) -> dict[str, Any]:
        params = dict(e.given or {})
        return wide_params(params) if self._widened else params

    def _computed(self, e: Operation, prim: Primitive, ins: Sequence[int]) -> Sequence[np.ndarray] | None:
        arrays = [self.array(v) for v in ins]
        if any(a is None and v != ABSENT for a, v in zip(arrays, ins)) or e.given is None:
            self.lost.add(e.name)
            return None
        try:
            with np.errstate(all="ignore"):
                out = prim.numpy_kernel(*arrays, **self._params(e))
        except FAILURES:
            self.lost.add(e.name)
            return None
        return [np.asarray(y) for y in (out if type(out) is tuple else (out,))]

    def _update(self, e: Update) -> None:
        if not (self._everything or any(v in self.new for v in e.ins)):
            return
        rule, given = rules().get(e.rule), e.given
        arrays = [self.array(v) for v in e.ins]
        if rule is None or given is None or any(a is None and v != ABSENT for a, v in zip(arrays, e.ins)):
            self.lost.add(e.name)
            return
        columns: list[Any] = [None if a is None else [np.array(a)] for a in arrays]
        alone = rule.step.prim.vjps is NOT_DIFFERENTIABLE  # of one parameter at a time
        try:
            options = {key: wide_option(x) for key, x in given.items()} if self._widened else given
            with np.errstate(all="ignore"):
                rule(*([None if c is None else c[0] for c in columns] if alone else columns), **options)
        except FAILURES:
            self.lost.add(e.name)
            return
        after = [c[0] for j, c in enumerate(columns) if c is not None and j != 1]
        for value, array in zip(e.outs, after):
            self._put(value, array)

    def _write(self, e: Event) -> None:
        if not self._stirred:
            return
        value = e.outs[0]
        source = e.ins[1] if len(e.ins) > 1 else ABSENT
        if source == ABSENT:  # not said what was written: a value of late that was just that
            source = self._late(value, e)
        if source not in self.new:
            constant = source == ABSENT and (a := self._values.array(value)) is not None and a.size and (a == a.flat[0]).all()
            if source == ABSENT and not constant and any(v in self.new for v in e.ins):
                self.lost.add(e.name)
            return
        shape, array = tuple(self._kept[value].shape), self.new[source]
        try:
            array = array.reshape(shape) if array.size == math.prod(shape) else np.broadcast_to(array, shape)
        except ValueError:
            self.lost.add(e.name)
            return
        self._put(value, array)

    def _late(self, value: int, e: Event) -> int:
        """A value that has become another of late, and was what an event has made; ABSENT where there is none."""
        old = self._values.key(value)
        late = [v for v in list(self.new)[-64:] if v < len(self._original.values) and v not in e.outs]
        return next((v for v in reversed(late) if self._values.key(v) == old), ABSENT)

    # ------------------------------------------------------------------------------------------ backward

    def _begin(self, e: Pass) -> None:
        run = e.run
        self._sums = {key: g for key, g in self._sums.items() if key[0] not in self._ended}
        self._plain[run] = not e.again
        self._places[run] = len(self._places)
        for value, edge in zip(e.outs, e.roots):
            self._hand_on(run, edge, self.array(value))

    def _hand_on(self, run: int, edge: Edge, g: np.ndarray | None) -> None:
        if g is not None and edge[0] != NOWHERE:
            before = self._sums.get((run, *edge))
            self._sums[run, *edge] = g if before is None else before + g

    def _arrived(self, e: Event, value: int, key: tuple[int, int, int]) -> None:
        """Let a gradient be the sum of what has arrived, where that can have become another."""
        total = self._sums.pop(key, None)
        if self._stirred and total is not None and value not in self._made and self._plain.get(key[0], False):
            self._put(value, total)

    def _cotangent(self, e: Cotangent) -> None:
        run, operation, output = e.run, e.operation, e.output
        value = e.outs[0]
        self._arrived(e, value, (run, operation, output))
        forced = self._changes.gradients.get((self._places[run], operation, output))
        if forced is not None:
            self._force(value, forced)
        g = self.array(value)
        made = self._original.events[operation]
        if g is None or not self._plain.get(run, False):
            return
        self._parts[output] = g
        # All that arrive at an operation are shown one after the other.
        follows = self._original.events[self._at + 1] if self._at + 1 < len(self._original.events) else None
        if len(made.outs) == 1 or not isinstance(follows, Cotangent) or (follows.run, follows.operation) != (run, operation):
            parts, self._parts = self._parts, {}
            self._pull(run, operation, parts)

    def _pull(self, run: int, operation: int, parts: dict[int, np.ndarray]) -> None:
        """Hand on what the derivative of an operation makes of the gradients that have arrived at it."""
        e = self._events[operation]
        prim = self._original.primitive(e.name)
        if prim is None or not isinstance(e, Operation) or not e.edges:
            return
        arrays = [self.array(v) for v in e.ins]
        outs = [self.array(v) for v in e.outs]
        if any(a is None and v != ABSENT for a, v in zip((*arrays, *outs), (*e.ins, *e.outs))):
            self.lost.add(e.name)
            return
        edges = [None if edge[0] == NOWHERE or a is None else wide.Seen(a.shape, a.dtype) for edge, a in zip(e.edges, arrays)]
        node = wide.SeenNode(prim, self._params(e), edges, [(a.shape, a.dtype) for a in outs if a is not None])
        several = prim.multi
        out: Any = tuple(outs) if several else outs[0]
        g: Any = tuple(parts.get(i) for i in range(len(outs))) if several else parts[0]
        try:
            with np.errstate(all="ignore"):
                results = prim.pull(node, prim.saved(arrays, edges, out), g, node.edges)
                for to, edge, r in zip(e.edges, edges, results):
                    if edge is not None and r is not None:
                        self._hand_on(run, to, np.asarray(fit(r.dense() if hasattr(r, "dense") else r, edge)))
        except FAILURES:
            self.lost.add(e.name)

    def _gave(self, e: Gave) -> None:
        made = self._original.events[e.operation]
        if self._plain.get(e.run, False) and isinstance(made, Operation):
            for value, edge in zip(e.ins, made.edges or ()):
                self._hand_on(e.run, edge, self.array(value))

    def _accumulate(self, number: int, e: Accumulate) -> None:
        contribution, before = e.ins[0], e.before
        if e.edge is not None:
            self._arrived(e, contribution, (e.run, *e.edge))
        forced = self._changes.arrivals.get(number)
        if forced is not None:
            self._force(contribution, forced)
        held = self._sums_held.get(e.leaf, ABSENT)
        if not e.had and held in self.new:  # there were zeros, which are none any more
            before = held
            self._events[number] = e = replace(e, had=True, before=before)
        self._sums_held[e.leaf] = e.outs[0]
        adds = self._changes.adds.get(number, e.had)
        if not (self._everything or contribution in self.new or before in self.new or adds != e.had):
            return
        g, had = self.array(contribution), self.array(before)
        if g is not None:
            self._put(e.outs[0], g + had if adds and had is not None and had.shape == g.shape else g)
