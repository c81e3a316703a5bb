"""Looks for a proof that two records are one function of their inputs.

The values that both programs have, as the alignment found them, are the places where a proof is cut into lemmas: between them,
operations are unfolded by their definitions (meaning.py), and two values are the same where the normal forms are (algebra.py).
From there on both are one tensor that is not looked into. Gradients are the same where what is differentiated is the same
function of the same leaves, what is stopped included: a derivative follows from its function. A value that is stopped, or made
without the tape, is one of which no derivative is taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..align import Alignment
from ..events import (
    ABSENT,
    Accumulate,
    Cotangent,
    Event,
    Gradient,
    Operation,
    Pass,
    Reread,
    Source,
    Update,
    Write,
)
from ..record import dtype_named
from ..results import Result
from ..side import Side
from ..values import as_wide, orders
from .algebra import Algebra
from .definitions import DEFINITIONS, meaning_of
from .meaning import Meaning, Tensor, Unknown, step
from .rules import TooLarge

ELEMENTWISE_STEPS = frozenset(
    ("sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "radam", "asgd", "rprop")
)
"""Rules of optimisers that compute each element from those at its place."""

STEPS, STEPS_EACH = 10_000, 3
"""How many applications of rules a proof may have, and how many more for each event of both programs."""

EVENTS = 20_000
"""How many events of both programs are looked at, at most."""


@dataclass
class Lemma:
    """Two values that are the same, and why."""

    a: int
    b: int
    term: int
    """What both are, before it becomes a tensor that is not looked into, in one of its layouts."""
    shape: tuple[int, ...]


@dataclass
class Proof:
    """What was proven, and what was not."""

    proven: bool
    lemmas: list[Lemma]
    algebra: Algebra
    unproven: list[Result]
    reason: str = ""
    """Why nothing was looked for."""
    operations: set[str] = field(default_factory=set)
    """Operations of one program that the other has not in the same form, and that are not looked into."""


class Prover:
    """The state of a search."""

    def __init__(self, alignment: Alignment, algebra: Algebra | None = None) -> None:
        self.alignment = alignment
        self.a, self.b = self.sides = alignment.sides
        self.algebra = algebra or Algebra()
        self.meaning = Meaning(self.algebra, self._named)
        self.tensors: dict[tuple[Side, int], Tensor] = {}
        self.lemmas: list[Lemma] = []
        self._cuts: dict[tuple[Side, int], tuple[int, tuple[int, ...]]] = {}
        """A value that is cut -> its term, in the first of its layouts, and the shape of that."""
        self.opaque: set[str] = set()
        self._inside = False
        """Whether operations were found to have something within that nobody has looked for."""
        self._layouts: dict[Tensor, tuple[Tensor, list[int]]] = {}
        """Tensors -> the first of their layouts, and the order of the axes in it."""
        self._shapes_of, self._inner = 0, set[tuple[int, ...]]()
        self._leaves = {side: self._leaf_values(side) for side in self.sides}
        self._passes = {side: _passes(side) for side in self.sides}
        self._first = {side: {leaf.value: n for n, leaf in enumerate(side.record.leaves)} for side in self.sides}
        self._starts = {side: {v for v in first if self._is_start(side, v)} for side, first in self._first.items()}
        """What parameters hold at first, where that is not computed from other parameters."""

    def prove(self, results: Sequence[Result]) -> Proof:
        """Prove that all results are the same, as far as that goes."""
        if sum(len(side.events) for side in self.sides) > EVENTS:
            return Proof(False, [], self.algebra, list(results), "the programs are too long")
        if not results or not self.alignment.all_passes:
            return Proof(False, [], self.algebra, list(results), "the programs do not run the same backward passes")
        self.algebra.most = STEPS + STEPS_EACH * sum(len(side.events) for side in self.sides)
        while True:
            try:
                unproven, reason = self._round(results), ""
            except TooLarge:
                unproven, reason = list(results), "it would take too many steps"
            if not unproven or not self.algebra.next_round():
                break
        if reason:
            return Proof(False, [], self.algebra, unproven, reason, self.opaque)
        return Proof(not unproven, self.lemmas, self.algebra, unproven, "", self.opaque if unproven else set())

    def _round(self, results: Sequence[Result]) -> list[Result]:
        """Look at all values once; the results that are not the same then."""
        self.tensors, self._cuts, self.lemmas, self.opaque, self._layouts = {}, {}, [], set(), {}
        self._inside = False
        for side in self.sides:
            for e in side.events:
                if not isinstance(e, (Cotangent, Pass)):
                    for v in e.outs:
                        self.tensor(side, v)
            if self._inside and self.algebra.next_round():  # no need to see the other program without these
                return self._round(results)
        self._lemmas()
        return [r for r in results if not self._is_same(r)]

    def _is_same(self, result: Result) -> bool:
        if any(v not in side.producer for side, v in zip(self.sides, result.values)) or result.known is None:
            return False
        pairs = [[self.tensor(side, v) for side, v in zip(self.sides, result.known)],
                 [self._differentiated(side, v, n) for side, v, n in zip(self.sides, result.known, result.events)]]  # fmt: skip
        return any(x == self._seen(y, order) for x, y in pairs for order in orders(y.shape, x.shape))

    def _differentiated(self, side: Side, value: int, event: int) -> Tensor:
        """A value as the gradient that an event says that it is, where its elements may be spelled out, too."""
        e = side.events[event]
        if isinstance(e, Gradient) and value in e.outs:
            return self._gradient(side, value, e, side.values.shape(value))
        return self.tensor(side, value)

    def _seen(self, x: Tensor, order: Sequence[int]) -> Tensor:
        return x if list(order) == list(range(len(x.shape))) else self.meaning.permuted(x, order)

    def _lemmas(self) -> None:
        """Note which values that agree are one tensor."""
        for vb, match in self.alignment.partner.items():
            cut, theirs = self._cuts.get((self.a, match.value)), self._cuts.get((self.b, vb))
            if cut is not None and theirs is not None and cut[0] == theirs[0]:
                self.lemmas.append(Lemma(match.value, vb, cut[0], cut[1]))

    def _cut(self, side: Side, value: int, x: Tensor) -> Tensor:
        """A value that both programs have, as a tensor that is not looked into from here on."""
        names = self.algebra.names
        if self._is_simple(x) or not (side.matched(value) or (names and self._sizes(x) in self._shapes())):
            return x
        x = Tensor(x.shape, self.algebra.fold(x.term))
        first, back = self._first_layout(x)
        if side.matched(value):
            self._cuts[side, value] = (first.term, first.shape)
            self.algebra.noted.add((first.shape, first.term))
        elif (first.shape, first.term) not in names:
            return x
        return back(self._standing(first))

    def _named(self, x: Tensor) -> Tensor:
        """What an operation has computed on the way, as a tensor that is not looked into."""
        if self._is_simple(x):
            return x
        first, back = self._first_layout(x)
        self._inside = self._inside or (first.shape, first.term) not in self.algebra.names
        self.algebra.noted.add((first.shape, first.term))
        return back(self._standing(first))

    def _sizes(self, x: Tensor) -> tuple[int, ...]:
        return tuple(sorted(n for n in x.shape if n != 1))

    def _shapes(self) -> set[tuple[int, ...]]:
        """The sizes that a value can have that an operation has within."""
        if self._shapes_of != len(self.algebra.names):
            self._shapes_of = len(self.algebra.names)
            self._inner = {tuple(sorted(shape)) for shape, _ in self.algebra.names}
        return self._inner

    def _standing(self, x: Tensor) -> Tensor:
        """The tensor that stands for a term; for one that is a single element of one, that."""
        terms = self.algebra.terms[x.term]
        if len(terms) == 1 and all(c == 1.0 and len(m) == 1 and m[0][1] == 1.0 and self.algebra.factors[m[0][0]][0] == "at"
                                   for m, c in terms.items()):  # fmt: skip
            return x
        moves = self.algebra.moves(x.term)
        atom = self._atom(x.shape, "cut", x.shape, x.term, moves=moves)
        if moves:
            number = self.algebra.numbered["cut", x.shape, x.term]
            if number not in self.algebra.stopped:
                still = self._standing(Tensor(x.shape, self.algebra.stop(x.term)))
                ((m, _),) = self.algebra.terms[still.term].items()
                factor = self.algebra.factors[m[0][0]]
                self.algebra.stopped[number] = factor[1]
        return atom

    def _first_layout(self, x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The same layout of a tensor, however it lies: without axes of one element, those that are read as quotient and rest as
        two, in one order; with what makes of a tensor that lies so one that lies as this."""
        parts = self._axes_of(x)
        sizes = [n for part in parts for n in part]
        inner = x if sizes == list(x.shape) else self.meaning.reshaped(x, sizes)
        known = self._layouts.get(inner)
        if known is None:
            own = tuple(range(len(sizes)))
            orders = [*itertools.permutations(own)] if len(own) < 4 else [own, own[::-1]]
            seen = [(self._seen(inner, order), order) for order in orders]
            first, best = min(seen, key=lambda pair: (pair[0].term, pair[0].shape))
            self._layouts.update((y, (first, [order.index(k) for k in best])) for y, order in seen)
            known = self._layouts[inner]
        first, order = known

        def back(y: Tensor) -> Tensor:
            y = self._seen(y, [order.index(k) for k in range(len(order))])
            return y if y.shape == x.shape else self.meaning.reshaped(y, x.shape)

        return first, back

    def _axes_of(self, x: Tensor) -> list[list[int]]:
        """Of each axis, the sizes of those of which it is made."""
        found = [[n] if n != 1 else [] for n in x.shape]
        read = {pair for m in self.algebra.terms[x.term] for f, _ in m for pair in self.algebra.quotients(f)}
        for (kind, axis, n), by in sorted(read, key=repr):
            if kind == "v" and found[axis] == [n] and 1 < by < n:
                found[axis] = [n // by, by]
        return found

    def _is_simple(self, x: Tensor) -> bool:
        """Whether a term is short enough to be looked into wherever it is used."""
        terms, factors = self.algebra.terms[x.term], self.algebra.factors
        if len(terms) <= 8 and all(factors[f][0] in ("case", "infinite") for m in terms for f, _ in m):
            return True
        return len(terms) <= 4 and all(
            len(m) <= 3 and all(self.algebra.factors[f][0] == "at" and e in (1.0, 2.0) for f, e in m) for m in terms
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ values

    def tensor(self, side: Side, value: int) -> Tensor:
        """What a value is."""
        known = self.tensors.get((side, value))
        if known is not None:
            return known
        stack = [value]
        while stack:
            v = stack[-1]
            missing = [w for w in self._needs(side, v) if (side, w) not in self.tensors]
            if missing:
                stack += missing
                continue
            stack.pop()
            if (side, v) not in self.tensors:
                self.tensors[side, v] = self._made(side, v)
        return self.tensors[side, value]

    def _needs(self, side: Side, value: int) -> list[int]:
        e = side.maker(value)
        if e is None or value in self._starts[side] or self._is_input(side, value):
            return []
        if isinstance(e, Gradient):
            run = self._passes[side].get(e.run)
            needs = [v for pair in (run.roots if run is not None else ()) for v in pair]
            if e.leaf >= 0:
                needs.append(side.value_at(side.record.leaves[e.leaf].value, run.begun if run is not None else 0))
            if isinstance(e, Accumulate) and e.had:
                needs.append(e.before)
            return [v for v in needs if v != ABSENT and v != value]
        return [v for v in e.ins if v != ABSENT and v != value]

    def _made(self, side: Side, value: int) -> Tensor:
        e, shape = side.maker(value), side.values.shape(value)
        try:
            found = self._seed(side, value, shape) if e is None else self._by(side, value, e, shape)
            if value not in self._leaves[side]:
                return self._cut(side, value, found)
            return found if value in self._starts[side] else self._leaf(found)
        except RecursionError:
            return self._unknown(side, value)

    def _leaf(self, x: Tensor) -> Tensor:
        """A tensor that derivatives are taken with respect to, whatever it was made of; known by the first of its layouts."""
        first, back = self._first_layout(x)
        first = self._standing(Tensor(first.shape, self.algebra.stop(first.term)))
        return back(self._atom(first.shape, "leaf", first.shape, first.term, moves=True))

    def _by(self, side: Side, value: int, e: Event, shape: tuple[int, ...]) -> Tensor:
        if self._is_input(side, value):
            return self._given(side, value, e, shape)
        if isinstance(e, Operation):
            return self._operation(side, value, e, shape)
        if isinstance(e, Write) and len(e.ins) > 1 and e.ins[1] != ABSENT:
            new = self.tensors.get((side, e.ins[1]))
            if new is not None and new.shape == shape:
                return new
            if new is not None and len(new.shape) <= len(shape) and all(
                n in (1, m) for n, m in zip(new.shape[::-1], shape[::-1])
            ):  # fmt: skip
                return Tensor(shape, self.meaning.broadcast(new, shape))
        if isinstance(e, Update):
            return self._step(side, value, e, shape)
        if isinstance(e, Gradient) and side.producer.get(value) is not None:
            return self._gradient(side, value, e, shape)
        return self._unknown(side, value)

    def _atom(self, shape: Sequence[int], *key: Any, moves: bool = False, whole: bool = False) -> Tensor:
        """A tensor that is not looked into, known by a key."""
        number = self.algebra.numbered.setdefault(key, len(self.algebra.numbered))
        if moves:
            self.algebra.moving_atoms.add(number)
        if whole:
            self.algebra.whole.add(number)
        places = [(0, ()) if n == 1 else i for n, i in zip(shape, self.meaning.axes(shape))]
        return Tensor(tuple(shape), self.algebra.element(number, places))

    def _unknown(self, side: Side, value: int) -> Tensor:
        return self._atom(side.values.shape(value), "only", side.name, value, moves=True)

    def _is_input(self, side: Side, value: int) -> bool:
        """Whether a value comes from outside: all that is said of it is that it is there."""
        e = side.maker(value)
        if value in self._starts[side]:
            return True
        if e is None or isinstance(e, Source):
            return e is not None
        return (isinstance(e, Write) and (list(e.ins) == [ABSENT] or (len(e.ins) == 1 and value in self._first[side]))) or (
            isinstance(e, Reread) and value in self._first[side])  # fmt: skip

    def _seed(self, side: Side, value: int, shape: tuple[int, ...]) -> Tensor:
        """A gradient with which a backward pass begins."""
        array = side.values.array(value)
        if array is None or array.dtype.kind != "f" or not array.size or not (array == array.flat[0]).all():
            return self._unknown(side, value)
        return Tensor(shape, self.algebra.number(float(array.flat[0])))

    def _given(self, side: Side, value: int, e: Event, shape: tuple[int, ...]) -> Tensor:
        array = side.values.array(value)
        constant = None if array is None or value in self._first[side] else self._constant(e, array)
        if constant is not None:
            return Tensor(shape, constant)
        leaf = self._first[side].get(value)
        if leaf is not None and value in self._starts[side]:
            return self._start(side, value, leaf, shape)
        whole = array is not None and array.dtype.kind in "iu"
        if side.is_a:
            return self._atom(shape, "input", self._alike(value, array), whole=whole)
        match = self.alignment.partner.get(value)
        known = ABSENT if match is None else self._alike(match.value, self.a.values.array(match.value))
        x = None if known == ABSENT else self.a.values.array(known)
        if x is None or array is None or not self._is_input(self.a, known) or known in self._first[self.a]:
            return self._unknown(side, value)
        return self._lying(
            self._atom(x.shape, "input", known, whole=whole and x.dtype.kind in "iu"), x, array
        ) or self._unknown(side, value)

    def _constant(self, e: Event, array: np.ndarray) -> int | None:
        """What is part of the program: its numbers, and what it has filled with one, or with a range."""
        if not array.size or array.dtype.kind not in "fiub":
            return None
        made = e.made if isinstance(e, Source) else ""
        first = array.reshape(-1)[0]
        if (e.name == "number" and array.size == 1) or (made == "filled" and bool((array == first).all())):
            return self.algebra.number(_written(first))
        if made != "range" or array.ndim != 1 or array.dtype.kind not in "iu":
            return None
        step = int(array[1]) - int(first) if len(array) > 1 else 0
        if not np.array_equal(array, int(first) + step * np.arange(len(array))):
            return None
        places = self.algebra.element("count", self.meaning.axes(array.shape))
        return self.algebra.add(self.algebra.number(float(first)), self.meaning.scaled(places, float(step)))

    def _alike(self, value: int, array: np.ndarray | None) -> int:
        """The first input of A with the content of one, that is no parameter; one that is none by itself."""
        for v in self.a.members.get(self.a.own(value), ()):
            if v not in self._first[self.a] and self._is_input(self.a, v) and array is not None:
                x = self.a.values.array(v)
                if (
                    x is not None
                    and x.shape == array.shape
                    and np.array_equal(x, array, equal_nan=x.dtype.kind in "fc")
                ):
                    return v
        return value

    def _start(self, side: Side, value: int, leaf: int, shape: tuple[int, ...]) -> Tensor:
        """What a parameter starts from: the same in both programs where these are a pair and hold the same."""
        if side.is_a:
            return self._atom(shape, "start", leaf, moves=True)
        other = next((i for i, j in self.alignment.leaves.pairs if j == leaf), -1)
        if other >= 0:
            start = self.a.record.leaves[other].value
            x, y = self.a.values.array(start), self.b.values.array(value)
            if x is not None and y is not None and self._is_input(self.a, start):
                found = self._lying(self._atom(x.shape, "start", other, moves=True), x, y)
                if found is not None:
                    return found
        return self._unknown(side, value)

    def _lying(self, mine: Tensor, x: np.ndarray, y: np.ndarray) -> Tensor | None:
        """A tensor as it lies in an array of the same content; None where the content is another."""
        for order in orders(mine.shape, y.shape):
            if np.array_equal(as_wide(x.transpose(order)), as_wide(y), equal_nan=True):
                return self._seen(mine, order)
        return None

    def _operation(self, side: Side, value: int, e: Operation, shape: tuple[int, ...]) -> Tensor:
        if e.name not in side.record.modules:
            self.opaque.add(e.name)
            return self._unknown(side, value)
        operands: list[Tensor | None] = []
        for i, v in enumerate(e.ins):
            x = None if v == ABSENT else self.tensors[side, v]
            if x is not None and e.recorded and not e.carries[i]:
                x = Tensor(x.shape, self.algebra.stop(x.term))
            operands.append(x)
        output = list(e.outs).index(value)
        params = e.given
        if params is None:
            return self._unknown(side, value)
        if e.name == "cast" and operands[0] is not None:
            if self._keeps_numbers(side, e):
                return operands[0]
            if dtype_named(side.values.kept(value).dtype).kind == "b":
                return Tensor(shape, self.algebra.function("nonzero", operands[0].term))
        prim = side.record.primitive(e.name)
        self.meaning.ignoring = self._ignores(side, e)
        self.meaning.kinds = [dtype_named(side.values.kept(v).dtype).kind for v in e.ins if v != ABSENT]
        try:
            if prim is not None and prim.kind == "elementwise" and not prim.multi and e.name not in DEFINITIONS:
                present = [x for x in operands if x is not None]
                name = f"{e.name} {_said(params)} {[x is None for x in operands]}" if params else e.name
                return self.meaning.elementwise(lambda *terms: self.algebra.function(name, *terms), *present)
            return meaning_of(self.meaning, e.name, params, operands, shape, output)
        except (Unknown, TooLarge, TypeError, IndexError, OverflowError):  # parameters that a definition does not know
            self.opaque.add(e.name)
        key = tuple(None if x is None else (x.shape, x.term) for x in operands)
        moves = any(x is not None and self.algebra.moves(x.term) for x in operands)
        return self._atom(shape, "operation", e.name, _said(params), key, output, shape, moves=moves)

    def _ignores(self, side: Side, e: Operation) -> bool:
        """Whether there are labels among the operands that the operation ignores: then the answer is for such, too."""
        ignored = (e.given or {}).get("ignore_index")
        arrays = [side.values.array(v) for v in e.ins if v != ABSENT] if ignored is not None else []
        return any(x is None or (x.dtype.kind in "iu" and bool((x == ignored).any())) for x in arrays)

    def _keeps_numbers(self, side: Side, e: Event) -> bool:
        """Whether a cast leaves numbers what they are, but for rounding to single precision."""
        old, new = (dtype_named(side.values.kept(v).dtype) for v in (e.ins[0], e.outs[0]))
        if old.kind in "iub":
            return new.kind in "iu" or new.name in ("float32", "float64")
        return old.name in ("float32", "float64") and new.name in ("float32", "float64")

    def _step(self, side: Side, value: int, e: Update, shape: tuple[int, ...]) -> Tensor:
        operands = [None if v == ABSENT else self.tensors[side, v] for v in e.ins]
        output = list(e.outs).index(value)
        options = e.given or {}
        stopped = [None if x is None else Tensor(x.shape, self.algebra.stop(x.term)) for x in operands]
        try:
            return step(self.meaning, e.name, {key: _plain(x) for key, x in options.items()}, stopped, output)
        except (Unknown, TypeError):
            self.opaque.add(f"{e.name} step")
        present = [x for x in stopped if x is not None]
        key = (e.name, e.text, tuple(x is None for x in stopped), output)
        if e.name in ELEMENTWISE_STEPS and all(x.shape == shape for x in present):
            return Tensor(shape, self.algebra.function(repr(key), *(x.term for x in present)))
        return self._atom(shape, "step", key, tuple((x.shape, x.term) for x in present))

    def _gradient(self, side: Side, value: int, e: Gradient, shape: tuple[int, ...]) -> Tensor:
        run = self._passes[side].get(e.run)
        if run is None or run.own or e.leaf < 0 or not run.roots or any(ABSENT in pair for pair in run.roots):
            return self._unknown(side, value)
        leaf = self.tensors[side, side.value_at(side.record.leaves[e.leaf].value, run.begun)]
        terms = self.algebra.terms[leaf.term]
        if len(terms) != 1 or leaf.shape != shape:
            return self._unknown(side, value)
        ((m, c),) = terms.items()
        if c != 1.0 or len(m) != 1 or m[0][1] != 1.0 or self.algebra.factors[m[0][0]][0] != "at":
            return self._unknown(side, value)
        _, tensor, places = self.algebra.factors[m[0][0]]
        roots = tuple(sorted(
            (x.shape, x.term, s.term) for x, s in ((self.tensor(side, v), self.tensor(side, w)) for v, w in run.roots)
        ))  # fmt: skip
        number = self.algebra.numbered.setdefault(("gradient", roots, tensor), len(self.algebra.numbered))
        if run.again and any(self.algebra.moves(term) for _, term, _ in roots):
            self.algebra.moving_atoms.add(number)
        found = self.algebra.element(number, places)
        if isinstance(e, Accumulate) and e.had and value not in e.ins:  # not what was added by itself
            before = self.tensors.get((side, e.before)) if e.before != ABSENT else None
            if before is None or before.shape != shape:
                return self._unknown(side, value)
            found = self.algebra.add(found, before.term)
        return Tensor(shape, found)

    def _is_start(self, side: Side, value: int) -> bool:
        leaves = {leaf.value for leaf in side.record.leaves} - {value}
        stack, seen = [value], {value}
        while stack:
            e = side.maker(stack.pop())
            if e is not None and isinstance(e, (Gradient, Update)):
                return False
            for v in e.ins if e is not None else ():
                if v in leaves:
                    return False
                if v not in seen and v != ABSENT:
                    seen.add(v)
                    stack.append(v)
        return True

    def _leaf_values(self, side: Side) -> set[int]:
        """What leaves hold, at first and after each change."""
        found: set[int] = set()
        for leaf in side.record.leaves:
            value = leaf.value
            while value not in found:
                found.add(value)
                after = [n for n, position in side.consumers.get(value, ())
                         if position == 0 and isinstance(side.events[n], (Write, Update))]  # fmt: skip
                if after:
                    value = side.events[after[0]].outs[0]
        return found


@dataclass
class _Pass:
    begun: int
    again: bool
    roots: list[tuple[int, int]]
    """The values at which it begins, with the gradients that are given."""
    own: bool = False
    """Whether the user's code has to do with the gradients on their way."""


def _passes(side: Side) -> dict[int, _Pass]:
    found: dict[int, _Pass] = {}
    for place, begun in enumerate(side.passes):
        e, roots = side.begins(begun), side.roots(place)
        found[e.run] = _Pass(begun, e.again, [(ABSENT if v is None else v, s) for v, s in zip(roots, e.outs)])
    before = [e for n, e in enumerate(side.events) if isinstance(e, Operation) and n not in side.within]
    done = {(e.name, e.text, tuple(e.ins)) for e in before}
    on_their_way = {v for e in side.events if isinstance(e, (Cotangent, Gradient)) for v in (*e.ins, *e.outs)}
    for number, begun in side.within.items():
        run, inside = found[side.begins(begun).run], side.events[number]
        if isinstance(inside, Operation) and (not run.again or not side.same_line(number, begun)):
            again = (inside.name, inside.text, tuple(inside.ins)) in done and on_their_way.isdisjoint(inside.outs)
            run.own = run.own or not again  # what a checkpoint computes again is no gradient
    return found


def _written(x: Any) -> float:
    """A number as somebody has written it."""
    return float(str(x)) if x.dtype == np.float32 else float(x)


def _plain(x: Any) -> Any:
    """An option as a number, where it is one."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        return _written(np.asarray(x)[()]) if x.dtype.kind == "f" else x.item()
    return tuple(map(_plain, x)) if isinstance(x, tuple) else x


def _said(x: Any) -> Any:
    """Parameters as a key: equal where they are the same."""
    if isinstance(x, dict):
        return tuple((key, _said(value)) for key, value in sorted(x.items()))
    if isinstance(x, (tuple, list)):
        return tuple(map(_said, x))
    if isinstance(x, np.ndarray):
        return (x.dtype.name, x.shape, x.tobytes())
    if isinstance(x, (np.dtype, np.generic)):
        return str(x)
    if isinstance(x, slice):
        return ("slice", x.start, x.stop, x.step)
    return x if isinstance(x, (int, float, str, bool, type(None), complex)) else ("object", id(x))
