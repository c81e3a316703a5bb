"""What B has to be given to go on as A does after a difference, so that the next one can be seen.

`Repairs.after(finding, result)` says which values of A take the place of which of B's (`Changes` of replay.py): where the two
programs come together again behind the operations that differ, what the gradients are before these, the steps of an
optimiser with other options, the values at a start. What happens again in later steps of a loop, at the same lines, is given
at once, but only where B reads there what A does: so that another mistake in between is not covered up. Called by onward.py.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .align import Alignment
from .events import ABSENT, Accumulate, Event, Operation, Update, WithParameters, Write
from .explain import Explanation
from .forward import CLEARED, CUT, START, Finding
from .history import operands
from .record import Record
from .replay import Changes, Force
from .results import GRADIENT, Result
from .side import ARRANGING, Side
from .values import apart, as_wide, is_telling, norm_of, orders, same_bits
from .wide import FAILURES, wide_params, wider

AHEAD, NEAR, MANY, ENOUGH, MORE = 24, 8, 64, 2, 6
"""How many operations behind a difference are looked at, how many of those the programs may come together at, how many ways of
that are tried, and how many values on end have to be A's for it: right behind the operations that differ, and further on."""


Receivers = dict[int, tuple[int, int, int]]
"""Values at which a gradient arrives in a pass -> that, the operation that makes the value, and which of its outputs it is."""

END, ANOTHER, UNKNOWN = "end", "another difference", "unknown"
"""What follows on values that are A's: nothing that is not; an operation that makes another value of what A has; other things."""


class Repairs:
    """What follows from one finding about the records in an alignment."""

    def __init__(self, alignment: Alignment, explanation: Explanation, own: Record) -> None:
        """own: B's own record; values that it does not have stand for what was put in their place."""
        self._own, self._known = own, len(own.values)
        self.touched: set[tuple[Side, int]] = set()
        """The events that have been passed over."""
        self.loose = False
        """Whether what comes right behind the difference is known to differ, too."""
        self.alignment, self.policy, self.a, self.b = alignment, alignment.policy, alignment.a, alignment.b
        self._explanation = explanation
        self._norms: dict[int, tuple[list[float], list[int]]] = {}
        self._insides: dict[int, dict[int, list[tuple[float, np.ndarray]]]] = {}
        self._alike: dict[Any, list[int]] | None = None

    def after(self, finding: Finding, result: Result) -> Changes:
        """The changes after which the result does not differ for this reason."""
        changes, events = Changes(), finding.events
        x, y = (None if n < 0 else side.events[n] for side, n in zip(self.alignment.sides, events))
        if finding.kind == START:
            p, q = finding.values
            if q in self.b.producer:
                turned = len(self.a.values.shape(p)) == 2 and self._lies_across()
                changes.results[self.b.output(q)] = Force(p, (1, 0) if turned else self._order(p, q))
        elif finding.kind == CLEARED:
            self._clearings(changes)
        elif finding.kind == CUT:
            self._gradients(changes, *finding.at, result)
        elif isinstance(x, Update) and isinstance(y, Update):
            self._steps(changes, x, y)
        elif x is not None and y is not None:
            self._before_steps(changes, x, y)
            if changes.is_empty:
                self._together(changes, *events)
        return changes

    def result(self, result: Result) -> Changes:
        """The changes after which a result is as in A, whatever made it differ."""
        changes = Changes()
        if result.known is None:
            if min(result.leaf) >= 0:
                self._drive(changes, *result.leaf)
            return changes
        va, vb = result.known
        if result.kind == GRADIENT:
            x, y = (side.record.events[n] for side, n in zip(self.alignment.sides, result.events))
            if isinstance(x, Accumulate) and isinstance(y, Accumulate):
                changes.arrivals[result.events[1]] = Force(x.ins[0], self._order(x.ins[0], y.ins[0]))
                changes.adds[result.events[1]] = x.had
        number, output = self.b.output(vb)
        if number >= 0 and va in self.a.producer:
            changes.results[number, output] = Force(va, self._order(va, vb))
            self._before(changes, vb, number)
        return changes

    # ------------------------------------------------------------------------------------------ layouts

    def _order(self, va: int, vb: int) -> tuple[int, ...] | None:
        """The order in which A's value has to be read to lie as B's does; None where it lies so."""
        fits = list(orders(self.a.values.shape(va), self.b.values.shape(vb)))
        x, y = self.a.values.array(va), self.b.values.array(vb)
        if len(fits) > 1 and x is not None and y is not None:
            wide_x, wide_y = as_wide(x), as_wide(y)
            with np.errstate(all="ignore"):
                fits.sort(key=lambda o: float(np.abs(wide_x.transpose(o) - wide_y).max(initial=0.0)))  # ties: as they were
        return None if not fits or fits[0] == tuple(range(len(fits[0]))) else fits[0]

    def _lies_across(self) -> bool:
        """Whether the weights that are the same in both programs lie the other way round in B."""
        pairs = [(self.a.record.leaves[i].value, self.b.record.leaves[j].value) for i, j in self.alignment.leaves.pairs]
        return any(self.b.matched(q) and self._order(p, q) == (1, 0) for p, q in pairs)

    # ------------------------------------------------------------------------------------------ what is the same again

    def _place(self, side: Side, number: int) -> int:
        """How many backward passes have begun before an event."""
        return bisect.bisect_right(side.passes, number)

    def _like(self, side: Side, number: int, place: int) -> list[int]:
        """The events of one kind and line between two backward passes."""
        if self._alike is None:
            self._alike = {}
            for one in self.alignment.sides:
                for n, e in enumerate(one.events):
                    if isinstance(e, (WithParameters, Write)):
                        self._alike.setdefault(self._likeness(one, e, self._place(one, n)), []).append(n)
        return self._alike.get(self._likeness(side, side.events[number], place), [])

    def _likeness(self, side: Side, e: Event, place: int) -> object:
        return side.is_a, place, type(e), e.name, e.file, e.line, tuple(e.caller)

    def _again(self, numbers: Sequence[tuple[Side, int]]) -> Iterator[tuple[int, ...]]:
        """These events, and those that are the same to each other at the same lines, here and between later backward passes."""
        first = tuple(n for _, n in numbers)
        yield first
        within = [found.index(n) if n in (found := self._like(side, n, self._place(side, n))) else 0 for side, n in numbers]
        for p, q in [*self.alignment.passes, (len(self.a.passes), len(self.b.passes))]:
            lists = [self._like(side, n, side.of((p, q))) for side, n in numbers]
            times = min(map(len, lists))
            if times and all(len(found) % times == 0 for found in lists):  # several times, maybe, in each round of a loop
                strides = [len(found) // times for found in lists]
                rounds = [at // k for at, k in zip(within, strides)]
                for shift in range(-min(rounds), times - max(rounds)):
                    entry = tuple(found[(i + shift) * k + at % k] for found, i, k, at in zip(lists, rounds, strides, within))
                    if entry != first:
                        yield entry
                continue
            at = [found.index(n) if n in (found := self._like(side, n, self._place(side, n))) else -1 for side, n in numbers]
            if all(0 <= i < len(found) for i, found in zip(at, lists)):
                entry = tuple(found[i] for i, found in zip(at, lists))
                if entry != first:
                    yield entry

    # ------------------------------------------------------------------------------------------ where programs come together

    def _together(self, changes: Changes, ea: int, eb: int) -> None:
        """Find where both programs go on alike behind two operations, and give B what A has there."""
        x, y = self.a.events[ea], self.b.events[eb]
        direct = [(i, j) for j, w in enumerate(y.ins) for i, v in enumerate(x.ins)
                  if ABSENT not in (v, w) and self._explanation.same(v, w)]  # fmt: skip
        if set(direct) >= {(j, j) for j, w in enumerate(y.ins) if w != ABSENT} and self._parameters(changes, ea, eb):
            return
        found = self._meeting(ea, eb)
        if found is None:
            return
        (na, ia), value, (nb, ib), is_operand, order = found
        reached = self.b.events[nb].ins[ib] if is_operand else self.b.events[nb].outs[ib]
        resized = self.a.values.size(value) != self.b.values.size(reached)
        read = self._before(changes, reached, eb)
        numbers = [(self.a, ea), (self.a, na), (self.b, eb), (self.b, nb)]
        self.touched |= {*numbers, *((self.b, n) for n in self._explanation.region(self.b, reached))}
        makers = []
        for v, w in read:
            (i, x_out), (j, y_out) = self.a.output(v), self.b.output(w)
            if self.a.operation(i) is not None and self.b.operation(j) is not None:
                makers.append((x_out, y_out))
                numbers += [(self.a, i), (self.b, j)]
        for n, (p, m, q, at, *made) in enumerate(self._again(numbers)):
            source = self.a.events[m].outs if ia >= 0 else self.a.events[m].ins
            slots = self.b.events[at].ins if is_operand else self.b.events[at].outs
            k = max(ia, -1 - ia)
            if k >= len(source) or ib >= len(slots) or source[k] == ABSENT or slots[ib] == ABSENT:
                continue
            if not resized and self.a.values.size(source[k]) != self.b.values.size(slots[ib]):
                continue
            operands = [(self.b.events[j].outs[y], self.a.events[i].outs[x])
                        for (x, y), i, j in zip(makers, made[::2], made[1::2])]  # fmt: skip
            if not operands:
                mine, theirs = self.a.events[p], self.b.events[q]
                operands = [(theirs.ins[j], mine.ins[i]) for i, j in direct
                            if i < len(mine.ins) and j < len(theirs.ins) and theirs.ins[j] < self._known]  # fmt: skip
            if n and not operands:  # nothing says that it is the same there
                break
            where = operands if n else ()
            (changes.operands if is_operand else changes.results)[at, ib] = Force(source[k], order, where)
            for w, v in operands:
                self._arriving(changes, v, w, self._place(self.a, p), self._place(self.b, q))

    def _parameters(self, changes: Changes, ea: int, eb: int) -> bool:
        """Give an operation of B that reads what A's does the parameters of that, there and wherever these lines run again; False
        where that is not what makes them differ, or changes more than values."""

        def fits(m: int, n: int) -> bool:
            x, y = self.a.operation(m), self.b.operation(n)
            return x is not None and y is not None and x.name == y.name and x.text != y.text and len(x.ins) == len(y.ins) and (
                x.given is not None and y.given is not None and self.b.record.primitive(y.name) is not None
            ) and [self.a.values.shape(v) for v in x.outs] == [self.b.values.shape(v) for v in y.outs]  # fmt: skip

        if self.a.events[ea].name in ARRANGING or not fits(ea, eb):
            return False
        self.touched |= {(self.a, ea), (self.b, eb)}
        changes.parameters.update((n, m) for m, n in self._again([(self.a, ea), (self.b, eb)]) if fits(m, n))
        return True

    def _before(self, changes: Changes, value: int, number: int) -> list[tuple[int, int]]:
        """Let the gradients be A's of what both programs have and this value is made of; gives that, in A and in B."""
        pairs_read: list[tuple[int, int]] = []
        place_b = self._place(self.b, number)
        place_a = next((p for p, q in self.alignment.passes if q == place_b), -1)
        read = {value} if self.b.matched(value) else set()
        for n in self._explanation.region(self.b, value):
            read.update(v for v in self.b.events[n].ins if v != ABSENT and self.b.matched(v))
        leaves = {leaf.value: j for j, leaf in enumerate(self.b.record.leaves)}
        of_leaf = {self.b.value_at(v, len(self.b.events)): j for v, j in leaves.items()}
        pairs = {j: i for i, j in self.alignment.leaves.pairs}
        for w in read:
            match = self.alignment.partner.get(w)
            if match is None:
                continue
            if w < self._known:
                pairs_read.append((match.value, w))
            self._arriving(changes, match.value, w, place_a, place_b)
            end = self.b.value_at(w, len(self.b.events)) if w in self.b.consumers else w
            j = leaves.get(w, of_leaf.get(end, -1))
            if j in pairs:
                self._leaf(changes, pairs[j], j)
        return pairs_read

    def _arriving(self, changes: Changes, va: int, vb: int, place_a: int, place_b: int) -> bool:
        """Let the gradient that arrives at a value in a pass be A's."""
        return self._hand_over(changes, *self._receivers(va, vb, place_a, place_b), vb, place_b)

    def _receivers(self, va: int, vb: int, place_a: int, place_b: int) -> tuple[Receivers, Receivers]:
        """Where gradients arrive at a value in a pass, in A and in B."""
        mine = self._receiving(self.a, self.a.members.get(self.a.own(va), [va]), place_a)
        theirs = self._receiving(self.b, self.a.there(va), place_b)
        return mine, theirs if vb in theirs else self._receiving(self.b, [vb], place_b)

    def _hand_over(self, changes: Changes, mine: Receivers, theirs: Receivers, vb: int, place_b: int) -> bool:
        """Let the gradients that arrive in B be those that arrive in A."""
        if not mine or not theirs or self.a.values.size(next(iter(mine))) != self.b.values.size(vb):
            return False
        if len(mine) == len(theirs):
            v = list(mine)[list(theirs).index(vb)]
            changes.gradients.setdefault((place_b, *theirs[vb][1:]), Force(mine[v][0], self._order(v, vb)))
            return True
        # What one program computes more often than the other: the sum arrives at the first.
        for n, (w, (_, operation, output)) in enumerate(theirs.items()):
            all_of_it = Force(ABSENT) if n else Force(
                next(iter(mine.values()))[0], self._order(next(iter(mine)), w), more=[g for g, _, _ in list(mine.values())[1:]]
            )  # fmt: skip
            changes.gradients.setdefault((place_b, operation, output), all_of_it)
        return True

    def _receiving(self, side: Side, values: Sequence[int], place: int) -> Receivers:
        """Those of some values at which a gradient arrives in a pass, with that, and the operation and output; not one that is
        made of another."""
        found: Receivers = {}
        for v in values:
            n, output = side.output(v)
            g = side.cotangents.get((place, n, output))
            if g is not None and found.keys().isdisjoint(side.events[n].ins):
                found[v] = (g, n, output)
        return found

    def _leaf(self, changes: Changes, i: int, j: int) -> None:
        """Let what arrives at a leaf be A's, in all passes."""
        order = self._order(self.a.record.leaves[i].value, self.b.record.leaves[j].value)
        for m, n in self.alignment.facing_gradients(self.a.gradients().get(i, []), self.b.gradients().get(j, []), (i, j)):
            if min(m, n) >= 0:
                x, y = self.a.record.events[m], self.b.record.events[n]
                if isinstance(y, Accumulate):
                    changes.arrivals.setdefault(n, Force(x.ins[0] if isinstance(x, Accumulate) else x.outs[0], order))
                elif not isinstance(x, Accumulate) or not x.had:  # returned in B, where A has added it to nothing else
                    changes.results.setdefault((n, 0), Force(x.outs[0], order))

    def _meeting(self, ea: int, eb: int) -> tuple[tuple[int, int], int, tuple[int, int], bool, Any] | None:
        """Where B goes on as A does if it is given a value of A there.

        As (event of A, its output or, below 0, operand), value of A, (event of B, position), whether that is an operand, order.
        """
        later = self._later(self.b, eb, AHEAD)
        x, y = self.a.events[ea], self.b.events[eb]
        sources = [(ea, o, v) for o, v in enumerate(x.outs)]
        sources += [(ea, -1 - i, v) for i, v in enumerate(x.ins) if v != ABSENT]
        sources += [(n, o, v) for n in self._later(self.a, ea, NEAR) for o, v in enumerate(self.a.events[n].outs)]
        places = [(eb, o, False, v) for o, v in enumerate(y.outs)]
        places += [(eb, j, True, v) for j, v in enumerate(y.ins) if v != ABSENT]
        places += [(n, o, False, v) for n in later[:NEAR] for o, v in enumerate(self.b.events[n].outs)]
        ways = sorted((m + n, m, n) for m in range(len(places)) for n in range(len(sources)))
        best: tuple[int, Any] = (0, None)
        tried = 0
        for _, m, n in ways:
            (nb, ib, is_operand, w), (na, ia, v) = places[m], sources[n]
            given, have = self.a.values.array(v), self.b.values.array(w)
            if given is None or have is None or given.dtype.kind != have.dtype.kind or tried >= MANY:
                continue
            for order in self._arrangements(given, have, not m and not n and x.name == y.name):
                put = (given if order is None else given.transpose(order)).astype(have.dtype, copy=False)
                if put.size == have.size:
                    put = put.reshape(have.shape)
                    if given.size > 1 and apart(as_wide(put), as_wide(have), self.policy.put).relative <= self.policy.put:
                        continue
                tried += 1
                run, ends, last = self._goes_on(ea, eb, later, nb, ib, is_operand, put)
                way = (na, ia), v, (nb, ib), is_operand, order
                if run > best[0]:
                    best = run, way
                enough = ENOUGH if n == 0 and nb == eb else MORE
                if ends == ANOTHER:
                    enough = self._evidence(ea, eb, (na, ia), (nb, ib, is_operand), last)
                if run >= enough or (run and ends == END):
                    return self._of_one_kind(ea, eb, na, nb) or (best[1] if run else way)
        if best[1] is None and x.outs and y.outs and self.a.values.size(x.outs[0]) == self.b.values.size(y.outs[0]) and (
            x.name == y.name or not any(v in self.b.consumers for v in y.outs)
        ):  # fmt: skip
            return (ea, 0), x.outs[0], (eb, 0), False, self._order(x.outs[0], y.outs[0])
        return best[1]

    def _evidence(self, ea: int, eb: int, source: tuple[int, int], place: tuple[int, int, bool], last: int) -> int:
        """How many values have to be A's before an operation of B (`last`) that differs by itself, for that to be another
        mistake: fewer where one program has one operation more than the other, and goes on at another line."""
        if source == (ea, 0) and place == (eb, 0, False):
            alike = self.a.events[ea].name == self.b.events[eb].name
            return 1 if alike or not self.b.same_line(eb, last) else ENOUGH
        if (source[1] >= 0) != place[2] or (place[0] != eb if place[2] else source[0] != ea):
            return ENOUGH
        side, more, other, end = (self.a, ea, eb, source[0]) if place[2] else (self.b, eb, ea, place[0])
        read = self.b.events[eb].ins[place[1]] if place[2] else self.a.events[ea].ins[-1 - source[1]]
        chain = self._chain(side, more, end)
        following = self._explanation.one_more(side, more, other, read, end) if chain else -1
        if following < 0 or not all(side.same_line(more, n) for n in chain):
            return ENOUGH
        if not side.same_line(more, following):
            return 0 if last == (other if side.is_a else following) else 1
        return ENOUGH if self.b.same_line(eb, last) else 1

    def _of_one_kind(self, ea: int, eb: int, na: int, nb: int) -> tuple[tuple[int, int], int, tuple[int, int], bool, Any] | None:
        """The results of two operations, where the next ones correspond to each other as these do: all differ by themselves."""
        chains = [self._chain(self.a, ea, na), self._chain(self.b, eb, nb)]
        if len(chains[0]) != len(chains[1]) or len(chains[0]) < 2:
            return None
        names = [[side.events[n].name for n in chain] for side, chain in zip((self.a, self.b), chains)]
        if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):  # in another order: one difference
            return None
        sorts = [[(side.values.shape(e.outs[0]), (prim := side.record.primitive(e.name)) and prim.kind, len(e.ins))
                  for e in (side.events[n] for n in chain)] for side, chain in zip((self.a, self.b), chains)]  # fmt: skip
        if sorts[0] != sorts[1]:
            return None
        self.loose = True
        v, w = self.a.events[ea].outs[0], self.b.events[eb].outs[0]
        return (ea, 0), v, (eb, 0), False, None if self.alignment.agree(v, w) else self._order(v, w)

    def _chain(self, side: Side, start: int, end: int) -> list[int]:
        """The operations from one to another, where each reads what the one before it makes, and makes nothing else."""
        found = [start]
        while found[-1] != end and len(found) < NEAR:
            e = side.events[found[-1]]
            readers = {n for v in e.outs for n, _ in side.consumers.get(v, ()) if isinstance(side.events[n], Operation) and (
                side.within.get(n) == side.within.get(start))}  # fmt: skip
            if not isinstance(e, Operation) or len(e.outs) != 1 or len(readers) != 1:
                return []
            found.append(readers.pop())
        return found if found[-1] == end else []

    def _arrangements(self, given: np.ndarray, have: np.ndarray, of_any_size: bool) -> Sequence[tuple[int, ...] | None]:
        """The orders of axes in which one array may take the place of the other."""
        if given.shape == have.shape or (of_any_size and given.size != have.size and given.ndim == have.ndim):
            return [None]
        if given.size != have.size:
            return []
        if given.size == 1 or [n for n in given.shape if n != 1] == [n for n in have.shape if n != 1]:
            return [None]
        return list(itertools.islice(orders(given.shape, have.shape), 2))

    def _later(self, side: Side, number: int, count: int) -> list[int]:
        """The next operations that read, directly or not, what an event makes, before the next backward pass."""
        end = side.end(self._place(side, number))
        within = side.within.get(number)
        found: list[int] = []
        heap = list(side.events[number].outs)
        seen: set[int] = set()
        queue: list[int] = []
        while len(found) < count:
            for v in heap:
                for n, position in side.consumers.get(v, ()):
                    e = side.events[n]
                    if n < end and n not in seen and side.within.get(n) == within and (isinstance(e, Operation) or (
                        isinstance(e, Write) and position == 1)):  # fmt: skip
                        seen.add(n)
                        heapq.heappush(queue, n)
            if not queue:
                break
            found.append(heapq.heappop(queue))
            heap = list(side.events[found[-1]].outs)
        return found

    def _goes_on(
        self, ea: int, eb: int, later: Sequence[int], nb: int, ib: int, is_operand: bool, put: np.ndarray
    ) -> tuple[int, str, int]:  # fmt: skip
        """How many of the next values on end are A's if one is given, what follows then, and at which event."""
        widened = self.alignment.widened
        new: dict[int, np.ndarray] = {}
        run = 0
        for n in (eb, *later):
            e = self.b.events[n]
            if n == nb and not is_operand:
                new[e.outs[ib]] = put
                continue
            if not (n == nb or any(v in new for v in e.ins)):
                continue
            if isinstance(e, Write):
                if len(e.ins) > 1 and e.ins[1] in new:
                    new[e.outs[0]] = new[e.ins[1]]
                continue
            if not isinstance(e, Operation):
                return run, UNKNOWN, n
            prim, params = self.b.record.primitive(e.name), e.given
            arrays = [None if v == ABSENT else new.get(v, self.b.values.array(v)) for v in e.ins]
            if n == nb:
                arrays[ib] = put
            if prim is None or any(a is None and v != ABSENT for a, v in zip(arrays, e.ins)) or params is None:
                return run, UNKNOWN, n
            if widened:
                arrays = [None if a is None else a.astype(wider(a.dtype), copy=False) for a in arrays]
                params = wide_params(params)
            try:
                with np.errstate(all="ignore"):
                    out = prim.numpy_kernel(*arrays, **params)
            except FAILURES:
                return run, UNKNOWN, n
            for v, array in zip(e.outs, map(np.asarray, out if type(out) is tuple else (out,))):
                new[v] = array
                if e.name in ARRANGING or array.dtype.kind not in "fc" or not is_telling(array):
                    continue
                if any(x is not None and same_bits(x, array) for x in arrays):  # it changes nothing here, which proves nothing
                    continue
                if not self._is_in_a(array, ea):
                    fed = all(v == ABSENT or v in new or self.b.matched(v) or self._comes_of(v, eb) for v in e.ins)
                    return run, ANOTHER if fed else UNKNOWN, n
                run += 1
        return run, END, eb

    def _comes_of(self, value: int, eb: int) -> bool:
        """Whether a value of B is made by what differs there, at another time."""
        y = self.b.events[eb]
        region = self._explanation.region(self.b, value)
        return any((e.name, e.file, e.line) == (y.name, y.file, y.line) for e in (self.b.events[n] for n in region))

    def _is_in_a(self, array: np.ndarray, ea: int) -> bool:
        """Whether A computes an array behind an event."""
        if array.dtype.kind != "f":
            return False
        if not self._norms:
            found: dict[int, list[tuple[float, int]]] = {}
            for e in self.a.events:
                if isinstance(e, Operation):
                    for v in e.outs:
                        norm = self.a.values.norm(v)
                        if norm < math.inf:
                            found.setdefault(self.a.values.size(v), []).append((norm, v))
            for size, entries in found.items():
                entries.sort()
                self._norms[size] = [norm for norm, _ in entries], [v for _, v in entries]
        norms, numbers = self._norms.get(array.size, ([], []))
        wide = as_wide(array)
        norm, met = norm_of(wide), self.policy.met
        low, high = bisect.bisect_left(norms, norm * (1 - met / 2)), bisect.bisect_right(norms, norm * (1 + met / 2))
        for v in numbers[low : min(high, low + 32)]:
            x = self.a.values.array(v)
            if x is not None and self.a.producer[v] >= ea and apart(as_wide(x), wide, met).relative <= met:
                return True
        return any(
            abs(norm - known) <= met * norm and apart(x, wide, met).relative <= met
            for known, x in self._inside_a(ea).get(array.size, ())
        )  # fmt: skip

    def _inside_a(self, ea: int) -> dict[int, list[tuple[float, np.ndarray]]]:
        """What A's next operations compute inside, where they do several things at once: by size, with the norms."""
        found = self._insides.get(ea)
        if found is None:
            found = self._insides[ea] = {}
            for n in self._later(self.a, ea, AHEAD):
                for array in self._explanation.inside_of(self.a, n):
                    found.setdefault(array.size, []).append((norm_of(array), array))
        return found

    # ------------------------------------------------------------------------------------------ other kinds

    def _gradients(self, changes: Changes, va: int, vb: int, result: Result) -> None:
        """Let the gradient at a value be A's, in this pass and at the same line in later ones."""
        mine, theirs = self._receivers(va, vb, *result.places)
        if not self._hand_over(changes, mine, theirs, vb, result.places[1]):
            if min(result.leaf) >= 0 and result.known is not None:
                self._leaf(changes, *result.leaf)
            return
        numbers = [(side, n) for side, found in ((self.a, mine), (self.b, theirs)) for _, n, _ in found.values()]
        self.touched.update(numbers)
        for again in self._again(numbers):
            places = self._place(self.a, again[0]), self._place(self.b, again[-1])
            later: list[Receivers] = [{}, {}]
            for (side, _), n, (_, _, output) in zip(numbers, again, (*mine.values(), *theirs.values())):
                g = side.cotangents.get((side.of(places), n, output))
                if g is not None:
                    side.of(later)[side.events[n].outs[output]] = (g, n, output)
            if len(later[1]) == len(theirs) and places > result.places:
                at = list(theirs).index(vb)
                self._hand_over(changes, later[0], later[1], list(later[1])[at], places[1])

    def _clearings(self, changes: Changes) -> None:
        """Let gradients be added to what was there before where A does that."""
        for m, n in self.alignment.facing_events():
            x, y = self.a.record.events[m], self.b.record.events[n]
            if isinstance(x, Accumulate) and isinstance(y, Accumulate) and x.had != y.had:
                changes.adds[n] = x.had

    def _steps(self, changes: Changes, x: Event, y: Event) -> None:
        """Let the steps of an optimiser be A's, from these on, where they begin with the same."""
        for vb, va in self.alignment.changed().items():
            m, n = self.a.producer.get(va, -1), self.b.producer.get(vb, -1)
            if min(m, n) < 0:
                continue
            mine, theirs = self.a.events[m], self.b.events[n]
            if any((type(e), e.name, e.line) != (type(f), f.name, f.line) for e, f in ((mine, x), (theirs, y))):
                continue
            order = self._order(mine.ins[0], theirs.ins[0])
            read = self._own.events[n].ins
            where = [(read[i], mine.ins[i]) for i in (0, 1) if not i or vb not in self.alignment.noise]
            outs = zip(mine.outs, theirs.outs) if mine.name == theirs.name else ((va, vb),)
            for k, (p, q) in enumerate(outs):
                if self.a.values.size(p) == self.b.values.size(q):
                    changes.results[n, k] = Force(p, order if len(self.a.values.shape(p)) > 1 else None, where)

    def _before_steps(self, changes: Changes, x: Event, y: Event) -> None:
        """Let an optimiser's steps follow A's gradients, where one line is all that makes something of them before, and they
        begin with the same."""
        of_a, of_b = self.a.gradients(), self.b.gradients()
        for i, j in self.alignment.leaves.pairs:
            left, right = self.a.changes[0].get(i, []), self.b.changes[0].get(j, [])
            for va, vb in zip(left, right) if len(left) == len(right) else ():
                m, n = self.a.producer[va], self.b.producer[vb]
                mine, theirs = self.a.events[m], self.b.events[n]
                if not (isinstance(mine, Update) and isinstance(theirs, Update)):
                    continue
                lines = [_lines_to(side, e.ins[1]) for side, e in ((self.a, mine), (self.b, theirs))]
                raw = [next((g for g in reversed(of) if g < at), -1) for of, at in ((of_a.get(i, []), m), (of_b.get(j, []), n))]
                if min(raw) < 0 or lines[0] - {(x.file, x.line)} or lines[1] != {(y.file, y.line)}:
                    continue
                where = [(self.b.made(raw[1]), self.a.made(raw[0]))]
                changes.operands[n, 1] = Force(mine.ins[1], self._order(mine.ins[1], theirs.ins[1]), where)

    def _drive(self, changes: Changes, i: int, j: int) -> None:
        """Let B read A's parameter wherever it reads its own: nothing changes that as in A."""
        mine, theirs = self.a.record.leaves[i].value, self.b.record.leaves[j].value
        order = self._order(mine, theirs)
        ends = [*self.b.passes, len(self.b.events)]
        facing = {q: p for p, q in self.alignment.passes}
        versions = {self.b.value_at(theirs, end) for end in ends} | {theirs}
        for v in versions:
            for n, position in self.b.consumers.get(v, ()):
                place = self._place(self.b, n)
                if isinstance(self.b.events[n], Operation) and facing.get(place, -1) > 0:
                    now = self.a.value_at(mine, self.a.end(facing[place]))
                    changes.operands[n, position] = Force(now, order)


def _lines_to(side: Side, value: int) -> set[tuple[int, int]]:
    """The lines that make a value of gradients."""
    found: set[tuple[int, int]] = set()
    stack, seen = [value], set[int]()
    while stack:
        number = side.producer.get(stack.pop(), -1)
        if number < 0 or number in seen:
            continue
        seen.add(number)
        e = side.events[number]
        if isinstance(e, (Operation, Write)):
            found.add((e.file, e.line))
            stack += operands(e)
    return found
