"""Why a computed value differs: from it back through what only its program has, to where the two programs part.

`PARTINGS` are the rules that say where that is, `REASONS` those that put it into words. Called by explain.py, which follows
gradients in the same way.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .align import Alignment
from .events import ABSENT, Event, Gradient, Operation, Reread, Source, Update, WithParameters, Write
from .history import is_computed, moved, operands
from .inside import is_known, values_inside
from .optimisers import steps_differ
from .policy import rounding
from .results import leaf_name
from .rules import Rules
from .side import ARRANGING, Side
from .values import RESHAPED, SAME, SQUEEZED, apart, norm_of

NEITHER = (ABSENT, ABSENT)
ANOTHER_VALUE = "the operation is the same, but it is given another value"


@dataclass(frozen=True)
class Finding:
    """The operations at which two programs part. All pairs are of A and B; -1 for a program that has none."""

    reason: str
    events: tuple[int, int]
    values: tuple[int, int] = NEITHER
    """What to show side by side, if not the operations' first results."""
    lines: tuple[int, int] = (-1, -1)
    """The events whose lines are named, where they are not the operations themselves."""
    kind: str = ""
    """How it was found, where that says how to go on after it: one of the kinds below."""
    at: tuple[int, int] = NEITHER
    """CUT: the values at which the gradients differ that arrive, although they agree on the other side of the operations."""
    rules: tuple[str, ...] = ()
    """The rules that have found it, the most general first."""

    def named(self) -> tuple[int, int]:
        """The events whose lines are named."""
        (i, j), (ea, eb) = self.lines, self.events
        return (i if i >= 0 else ea, j if j >= 0 else eb)

    def by(self, rule: str) -> Finding:
        """The same, of a rule that has asked others."""
        return replace(self, rules=(rule, *self.rules))


START, COMPUTED, CUT, CLEARED = "start", "computed", "gradient", "cleared"
"""A parameter that does not start alike; operations that compute another value; a gradient that one of them does not hand on
alike; a sum in `.grad` that was cleared on one side only."""


class Forward:
    """Finds the operations that make a value of one program differ from that of the other."""

    def __init__(self, alignment: Alignment) -> None:
        self.alignment, self.sides = alignment, alignment.sides
        self.a, self.b = alignment.sides
        self.inside: dict[Side, dict[int, int]] = {self.a: {}, self.b: {}}
        """Values of a side -> the operation of the other program that computes them inside."""

    def computed(self, va: int, vb: int) -> Finding:
        """Why a computed value differs."""
        name, found = PARTINGS.first(self, Parting(self, va, vb)) or ("", None)
        assert found is not None  # the last rule always knows something
        return replace(found.by(name), kind=found.kind or COMPUTED)

    def told(self, ea: int, eb: int) -> Finding:
        """The finding of two operations, with the reason that they themselves give."""
        name, reason = REASONS.first(self, ea, eb) or ("", "")
        return Finding(reason, (ea, eb), rules=(name,), lines=self._given(ea, eb) if reason == ANOTHER_VALUE else (-1, -1))

    def _given(self, ea: int, eb: int) -> tuple[int, int]:
        """Where what two like operations read was made of data; -1 twice where that is not known of both programs, or one of
        them has what the other reads, too: then another variable is read."""
        p, q = self.fed(ea, eb)[0]
        if self.known(self.a, p) or self.known(self.b, q):
            return -1, -1
        made = [side.producer.get(v, -1) for side, v in zip(self.sides, (p, q))]
        known = all(isinstance(e := side.events[n], Source) and e.entered for side, n in zip(self.sides, made))
        return (made[0], made[1]) if known else (-1, -1)

    # ------------------------------------------------------------------------------------------ what both programs have

    def known(self, side: Side, value: int) -> bool:
        """Whether the other program has a value, as a result or inside of an operation."""
        return side.matched(value) or value in self.inside[side]

    def has(self, side: Side, value: int) -> bool:
        """Whether the other program has what a value of this one consists of, in whatever arrangement."""
        return self.known(side, value) or self.known(side, self.root(side, value))

    def same(self, va: int, vb: int) -> bool:
        """Whether a value of A and one of B are known to be the same."""
        return self.alignment.same(va, vb)

    def counterpart(self, side: Side, value: int) -> int:
        """The operation of the other program that makes what is made here; -1 where none does."""
        return side.other.producer.get(self.alignment.counterpart(side, value), -1)

    def fed(self, ea: int, eb: int) -> list[tuple[int, int]]:
        """The operands of two events that are there in both, and not the same."""
        x, y = self.a.events[ea], self.b.events[eb]
        return [(p, q) for p, q in zip(x.ins, y.ins) if ABSENT not in (p, q) and not self.same(p, q)]

    def fed_alike(self, ea: int, eb: int) -> bool:
        """Whether two events have the same operands."""
        x, y = self.a.events[ea], self.b.events[eb]
        return len(x.ins) == len(y.ins) and all(p == q == ABSENT or self.same(p, q) for p, q in zip(x.ins, y.ins))

    def does_alike(self, ea: int, eb: int) -> bool:
        """Whether two events do the same, to as many operands."""
        x, y = self.a.events[ea], self.b.events[eb]
        return x.deed == y.deed and len(x.ins) == len(y.ins)

    # ------------------------------------------------------------------------------------------ the way back

    def parting(self, va: int, vb: int) -> tuple[int, int]:
        """The first operations that only one program has on the way to a value; -1 for a program that has none.

        Like operations that differ in a constant only, such as a mask, are followed to where that is made.
        """
        has = self.has(self.a, va), self.has(self.b, vb)
        ea, eb = self.facing([
            [] if side.of(has) and not side.other.of(has) else self.entries(side, v) for side, v in zip(self.sides, (va, vb))
        ])  # fmt: skip
        if ea < 0 or eb < 0 or self.a.operation(ea) is None:
            return ea, eb
        if self.does_alike(ea, eb):
            for p, q in self.fed(ea, eb):
                if self._is_constant(self.a, p) != self._is_constant(self.b, q):  # what one program has not made of data
                    i, j = self.facing([self.entries(side, v, True) for side, v in zip(self.sides, (va, vb))])
                    if min(i, j) >= 0 and (i, j) != (ea, eb) and self.likeness(i, j) > 1:
                        return i, j
                if self._is_constant(self.a, p) and self._is_constant(self.b, q):
                    i, j = self.parting(p, q)
                    if max(i, j) >= 0:
                        return (i if i >= 0 else ea), (j if j >= 0 else eb)
        x, y = self.a.events[ea], self.b.events[eb]
        alike = x.name == y.name and self.fed_alike(ea, eb)
        return self._spelled_out((va, vb), (ea, eb)) if self.b.operation(eb) is not None and not alike else (ea, eb)

    def _spelled_out(self, values: tuple[int, int], events: tuple[int, int]) -> tuple[int, int]:
        """Where two programs part if one of them spells out what is one operation in the other."""
        for side in self.sides[::-1]:
            if not self._look_inside(side, side.of(values), side.other.of(values)):
                continue
            found = self.inside[side]
            for n in self.entries(side, side.of(values)):
                ins = side.events[n].ins if side.operation(n) is not None else ()
                within = [found[r] for v in ins if v != ABSENT and (r := self.root(side, v)) in found]
                if within:
                    return side.both(n, max(within))
        return events

    def _look_inside(self, side: Side, own: int, other: int) -> bool:
        """Find the values that lead to `own` inside the operations of the other program that lead to `other`."""
        wanted: dict[int, list[tuple[float, int]]] = {}
        """Size -> norm and number of the values that are looked for."""
        across, region = side.other, self.region(side, own)
        for n in sorted(region):
            for v in side.events[n].outs if side.operation(n) is not None else ():
                if not self.known(side, v) and side.values.norm(v) < math.inf:
                    wanted.setdefault(side.values.size(v), []).append((side.values.norm(v), v))
        for entries in wanted.values():
            entries.sort()
        found, near = self.inside[side], self.alignment.policy.near
        before = len(found)
        names = {side.events[n].name for n in region}  # an operation that both programs have stands for itself
        several = [n for n in sorted(self.region(across, other)) if is_known(across.events[n].name)]
        for n in [n for n in several if across.events[n].name not in names][:32]:
            for array in self.inside_of(across, n):
                entries, norm = wanted.get(array.size, []), norm_of(array)
                low = bisect.bisect_left(entries, (norm * (1 - near), -1))
                for _, v in entries[low : bisect.bisect_right(entries, (norm * (1 + near), len(side.values)))]:
                    if v not in found and self._is_this(side, v, array):
                        found[v] = n
        return len(found) > before

    def inside_of(self, side: Side, number: int) -> list[np.ndarray]:
        """The values that an operation computes inside; none where an operand was too large to be kept."""
        e = side.operation(number)
        if e is None or not is_known(e.name):
            return []
        given = [None if v == ABSENT else side.values.array(v) for v in e.ins]
        if any(x is None and v != ABSENT for x, v in zip(given, e.ins)):
            return []
        return values_inside(e.name, e.given or {}, given)

    def _is_this(self, side: Side, value: int, array: np.ndarray) -> bool:
        """Whether a value is this array, but for rounding and layout; one that says little, exactly."""
        x = side.values.array(value)
        if x is None or x.dtype.kind != "f":
            return False
        rtol = self.alignment.policy.inside * rounding(side.values.kept(value).dtype)
        found = apart(x.astype(np.float64), array, rtol)
        if side.values.telling(value):
            return found.relative <= rtol
        return found.relative == 0.0 and found.layout in (SAME, SQUEEZED)

    def _is_constant(self, side: Side, value: int) -> bool:
        """Whether a program has computed a value by itself, and of constants only."""
        n = side.producer.get(value, -1)
        return side.operation(n) is not None and not self.known(side, value) and not self._depends(side, n)

    def entries(self, side: Side, value: int, constants: bool = False) -> list[int]:
        """The first events, on the way to a value, of which the other program has all operands but not the results.

        What is only arranged otherwise counts as had: it is the next operation that makes something new of it. What is computed
        of constants only (a mask, a scale) is often written otherwise, and seldom wrong: it comes into it where nothing else
        does, or where that is asked for.
        """
        region = self.region(side, value)
        if not constants:
            region = {n for n in region if self._depends(side, n)} or region
        return [n for n in sorted(region) if not any(self._made(side, v) in region for v in operands(side.events[n]))]

    def _made(self, side: Side, v: int) -> int:
        """The event of this program alone that makes a value; -1 for a value that both have."""
        if v == ABSENT or self.has(side, v):
            return -1
        return -1 if isinstance(side.maker(self._origin(side, v)), Source) else side.producer.get(v, -1)

    def region(self, side: Side, value: int) -> set[int]:
        """The events that lead to a value from what both programs have."""
        region: set[int] = set()
        stack = [side.producer.get(value, -1)]
        while stack:
            number = stack.pop()
            if number < 0 or number in region or isinstance(side.events[number], Source):
                continue
            e = side.events[number]
            region.add(number)
            if not isinstance(e, Gradient) and not (isinstance(e, Write) and len(e.ins) == 1 and not moved(side, e.ins[0])):
                stack += [self._made(side, x) for x in operands(e)]
        return region

    def read(self, side: Side, value: int) -> set[int]:
        """The values that this program reads on the way to one, up to those that both have."""
        read: set[int] = set()
        stack = [value]
        while stack:
            e = side.maker(stack.pop())
            if e is None or isinstance(e, Gradient):
                continue
            new = [x for x in operands(e) if x != ABSENT and x not in read]
            read.update(new)
            stack += [x for x in new if not side.matched(x)]
        return read

    def _depends(self, side: Side, number: int) -> bool:
        """Whether an event makes something of data or parameters, not of constants only."""
        stack, seen = list(side.events[number].outs), set[int]()
        while stack:
            v = stack.pop()
            maker = side.maker(v)
            if v in seen or v == ABSENT:
                continue
            seen.add(v)
            if maker is None or isinstance(maker, Source) or (isinstance(maker, Write) and len(maker.ins) == 1):
                if side.values.telling(v):
                    return True
            elif not isinstance(maker, (Operation, Write)) or len(seen) > 16:
                return True
            else:
                stack += operands(maker)
        return False

    # ------------------------------------------------------------------------------------------ arrangements

    def arranges(self, side: Side, number: int) -> bool:
        """Whether an operation only says which elements, in which order; a cast that drops digits does more."""
        e = side.operation(number)
        if e is None or e.name not in ARRANGING:
            return False
        return e.name != "cast" or rounding(side.values.kept(e.outs[0]).dtype) <= self.alignment.working

    def _arranged_of(self, side: Side, value: int) -> int:
        """The operation that only arranges another value into this one; -1 where none does."""
        number = side.producer.get(value, -1)
        return number if self.arranges(side, number) else -1

    def _origin(self, side: Side, value: int) -> int:
        """What a value shows some elements of, or all in another order: the first that was not only arranged."""
        while (number := self._arranged_of(side, value)) >= 0:
            value = side.events[number].ins[0]
        return value

    def root(self, side: Side, value: int) -> int:
        """The value that both programs have of which this one shows some elements, or all in another order; else itself."""
        path = self._arrangement(side, value)
        return side.events[path[0]].ins[0] if path else value

    def _arrangement(self, side: Side, value: int) -> list[int]:
        """The operations that arrange a value which both programs have into this one, the first one first."""
        path: list[int] = []
        while not self.known(side, value):
            number = self._arranged_of(side, value)
            if number < 0:
                return []
            path.append(number)
            value = side.events[number].ins[0]
        return path[::-1]

    def way(self, side: Side, value: int) -> list[int]:
        """The arrangement of a value, from the first value on that has the same elements."""
        path = self._arrangement(side, value)
        root = side.events[path[0]].ins[0] if path else value
        while (number := self._arranged_of(side, root)) >= 0 and side.own(before := side.events[number].ins[0]) == side.own(root):
            path.insert(0, number)
            root = before
        return path

    def whole(self, side: Side, value: int) -> bool:
        """Whether a value has all elements of the one that it arranges."""
        return side.values.size(value) == side.values.size(self.root(side, value))

    # ------------------------------------------------------------------------------------------ which operations face each other

    def facing(self, entries: Sequence[list[int]]) -> tuple[int, int]:
        """The first entry of A that begins with what one of B begins with, and that one."""
        if not all(entries):
            ea, eb = ((of or [-1])[0] for of in entries)
            return ea, eb
        of_a, of_b = ([n for n in of if side.operation(n) is not None][:32] or of[:32] for side, of in zip(self.sides, entries))
        for i in of_a:
            score, _, j = max((self.likeness(i, j), -n, j) for n, j in enumerate(of_b))
            if score > 1:
                return i, j
        return of_a[0], max((self.likeness(of_a[0], j), -n, j) for n, j in enumerate(of_b))[2]

    def likeness(self, i: int, j: int) -> int:
        """How much two operations of A and B have in common."""
        numbers = (i, j)
        of_a, of_b = (self._classes(side, side.of(numbers), self.root) for side in self.sides)
        score = 2 * len(of_a & of_b) + (self.a.events[i].name == self.b.events[j].name)
        if score == 1:  # of other elements of one value
            of_a, of_b = (self._classes(side, side.of(numbers), self._origin) for side in self.sides)
            return 3 if of_a & of_b else score
        return score

    def _classes(self, side: Side, number: int, what: Callable[[Side, int], int]) -> set[int]:
        return {side.own(what(side, v)) for v in side.events[number].ins if v != ABSENT}

    def is_extra(self, side: Side, value: int) -> bool:
        """Whether a program computes a value more often than the other one."""
        known = side.own(value)
        here, there = (len(one.members.get(known, ())) for one in (side, side.other))
        return here > there > 0

    def one_more(self, side: Side, more: int, other: int, read: int, last: int = -1) -> int:
        """The operation that reads what one program computes of a value, where the other reads the value itself; -1 where it does
        not do the same as the other, or that does what is more afterwards. last: the last of several operations that are more."""
        across, e, f = side.other, side.events[more], side.other.events[other]
        made = side.events[max(more, last)].outs
        if across.own(read) not in map(side.own, e.ins):
            return -1
        following = next((n for v in made for n in side.readers(v) if self._does_so(side, n, f, made, read)), -1)
        if following < 0:
            return -1
        own = {side.own(v) for v in e.ins if v != ABSENT} - {across.own(read)}
        for n in (n for v in f.outs for n in across.readers(v)):
            h = across.events[n]
            if h.name == e.name and not own.isdisjoint(across.own(v) for v in h.ins if v != ABSENT):
                return -1
        return following

    def _does_so(self, side: Side, number: int, f: Event, made: Sequence[int], read: int) -> bool:
        """Whether an operation does with what has been made what one of the other program does with the value read there."""
        g = side.events[number]
        rest = [v for v in g.ins if v not in made], [v for v in f.ins if v != read]
        return g.name == f.name and len(g.ins) == len(f.ins) and all(self._alike_operands(side, v, w) for v, w in zip(*rest))

    def _alike_operands(self, side: Side, v: int, w: int) -> bool:
        """Whether two operands are the same, or both numbers that are given."""
        return side.own(v) == side.other.own(w) or all(
            isinstance(one.maker(x), Source) and one.values.size(x) == 1 for one, x in ((side, v), (side.other, w))
        )

    def statement(self, side: Side, more: int, read: int) -> int:
        """The event of the other program at the line where the operation that it lacks would stand; -1 where nothing says so: the
        one that makes what that reads, if one line does both here."""
        across = side.other
        made = across.producer.get(read, -1)
        there = next((n for v in side.events[more].ins if v != ABSENT and side.own(v) == across.own(read)
                      for n in (side.producer.get(v, -1),)), -1)  # fmt: skip
        known = min(made, there) >= 0 and across.operation(made) is not None and side.operation(there) is not None
        return made if known and side.same_line(more, there) else -1

    def rounds(self, ea: int, eb: int) -> str:
        """The reason where one program drops digits that the other one keeps; "" where none does."""
        for side, n in zip(self.sides, (ea, eb)):
            e = side.events[n]
            if isinstance(e, Operation) and e.name == "cast" and not self.arranges(side, n):
                return f"{side.name} rounds this value to {side.values.kept(e.outs[0]).dtype}, and {side.other.name} does not"
        return ""


class Parting:
    """Where two programs part on the way to a value of each."""

    def __init__(self, forward: Forward, va: int, vb: int) -> None:
        self._forward, self.values = forward, (va, vb)

    @functools.cached_property
    def first(self) -> tuple[int, int]:
        """The first operations that only one program has; -1 for a program that has none."""
        return self._stepping() or self._forward.parting(*self.values)

    def _stepping(self) -> tuple[int, int] | None:
        """The optimisers' steps that make a parameter of the same operands, even if one of them changes nothing."""
        x, y = (side.maker(v) for side, v in zip(self._forward.sides, self.values))
        if not (isinstance(x, Update) and isinstance(y, Update)):
            return None
        pairs = zip(x.ins[:2], y.ins[:2])  # the parameter, its gradient
        alike = x.deed == y.deed and not self._forward.fed_alike(*self._makers)  # its state differs: of an earlier step
        return self._makers if not alike and all(self._forward.same(p, q) for p, q in pairs) else None

    @property
    def _makers(self) -> tuple[int, int]:
        (a, b), (va, vb) = self._forward.sides, self.values
        return a.producer.get(va, -1), b.producer.get(vb, -1)

    @functools.cached_property
    def events(self) -> tuple[int, int]:
        """The first operations, and what makes the value for a program that has none."""
        (i, j), (ea, eb) = self.first, self._makers
        return (i if i >= 0 else ea, j if j >= 0 else eb)


# ------------------------------------------------------------------------------------------ where programs part

PARTINGS: Rules[Callable[[Forward, Parting], Finding | None]] = Rules()
"""Where two programs part on the way to a value, in the order in which it is asked."""


@PARTINGS
def different_start(f: Forward, at: Parting) -> Finding | None:
    """A parameter that the value is made of is not the same from the beginning."""
    a, b = f.sides
    read_a, read_b = (f.read(side, v) for side, v in zip(f.sides, at.values))
    for leaf in f.alignment.leaves.pairs:
        p, q = (side.record.leaves[n].value for side, n in zip(f.sides, leaf))
        if p not in read_a or q not in read_b or is_computed(a, p) or is_computed(b, q):
            continue
        names = dict.fromkeys(leaf_name(side, n) for side, n in zip(f.sides, leaf))
        found, shapes = f.alignment.distance(p, q), (a.values.shape(p), b.values.shape(q))
        apart = ""
        if found.layout == RESHAPED and f.alignment.agree(p, q, found) and sorted(shapes[0]) == sorted(shapes[1]):
            apart = "has been reshaped where it should have been transposed"
        elif not (a.matched(p) or b.matched(q)) or (found.relative > f.alignment.policy.grown and len(names) == 1):
            apart = "does not start from the same values"
        if apart:
            lines = a.producer.get(p, -1), b.producer.get(q, -1)
            return Finding(f"the parameter {' / '.join(names)} {apart}", lines, (p, q), kind=START)
    return None


@PARTINGS
def from_the_start(f: Forward, at: Parting) -> Finding | None:
    """Neither program has an operation of its own on the way."""
    return Finding("the values differ from the start", at.events, at.values) if max(at.first) < 0 else None


@PARTINGS
def written_before_it_is_read(f: Forward, at: Parting) -> Finding | None:
    """A change in place makes two like operations read different things."""
    (ea, eb), (x, y) = at.events, (side.events[n] for side, n in zip(f.sides, at.events))
    if (x.name, x.text, len(x.ins)) != (y.name, y.text, len(y.ins)):
        return None
    for pair in f.fed(ea, eb):
        for side in f.sides:
            value, across = side.of(pair), side.other
            maker, there = side.maker(value), across.maker(across.of(pair))
            if not isinstance(maker, (Write, Reread)) or isinstance(there, Write):
                continue
            counterpart = f.counterpart(side, value)
            if counterpart < 0:
                counterpart = across.producer[across.of(pair)] if isinstance(there, Operation) else across.of((ea, eb))
            left = f"{across.name} leaves the old value as it is"
            reason = f"{side.name} changes memory in place here that is read again later; {left}"
            return Finding(reason, (ea, eb), lines=side.both(_writer(side, value), counterpart))
    return None


def _writer(side: Side, value: int) -> int:
    """The event that wrote a value into memory; for one read through another view, the write before."""
    number = side.producer[value]
    if not isinstance(side.events[number], Reread):
        return number
    return next((n for n in range(number - 1, -1, -1) if isinstance(side.events[n], Write)), number)


@PARTINGS
def overwritten(f: Forward, at: Parting) -> Finding | None:
    """A program no longer has, after a change in place, what the other one reads."""
    for side in f.sides[::-1]:
        across = side.other
        kept = {e.ins[0] for e in across.events if isinstance(e, Write)}
        reads, meets = across.events[across.of(at.events)], side.of(at.events)
        read = {x for v in reads.ins if v != ABSENT for x in (v, f._origin(across, v))}
        wanted = {across.own(v) for v in read - kept if across.values.telling(v)}
        wanted -= {side.own(v) for v in side.events[meets].ins if v != ABSENT}
        for number in range(meets - 1, -1, -1) if wanted else ():
            e = side.events[number]
            if not isinstance(e, Write):
                continue
            counterpart, held = f.counterpart(side, e.outs[0]), side.own(e.ins[0])
            if e.ins[0] == ABSENT and counterpart >= 0 and isinstance(there := across.events[counterpart], Write):
                held = across.own(there.ins[0])  # nothing has read it before: what the other one held
            elif len(e.ins) < 2:
                continue
            if held in wanted:
                reason = f"{side.name} changes memory in place here; {across.name} goes on to read what it held before"
                return Finding(reason, at.events, lines=side.both(number, counterpart))
    return None


@PARTINGS
def changes_nothing_this_time(f: Forward, at: Parting) -> Finding | None:
    """Only one program reads what it has changed by nothing this time, such as adding 0 or clipping what is small; or both do, in
    another way."""
    idle = [_idle(f, side, at) for side in f.sides]
    both = min(idle) >= 0 and f.fed_alike(*idle) and not f.does_alike(*idle)  # as the smaller of two numbers, and the larger
    if min(idle) < 0 <= max(idle) or both:
        ea, eb = (n if n >= 0 else e for n, e in zip(idle, at.events))
        return f.told(ea, eb)
    return None


def _idle(f: Forward, side: Side, at: Parting) -> int:
    """What an event reads of and what has changed nothing, where an operation of the other program reads that, too; -1 if there
    is nothing of the kind. What has been put there does not count."""
    there = f._classes(side.other, side.other.of(at.events), f.root)
    operations = all(one.operation(one.of(at.first)) is not None for one in f.sides)
    assumed = f.alignment.assumed if side is f.b else ()
    for v in side.events[side.of(at.events)].ins:
        if operations and side.own(v) not in there and side.own(f.root(side, v)) not in there:
            continue
        maker = side.maker(v)
        if maker is None or v in assumed or maker.name in ARRANGING or not isinstance(maker, (Operation, Write)):
            continue
        before = maker.ins
        if isinstance(maker, Write):  # of a gradient: parameters are filled with what they held, or are frozen
            before = maker.ins[:1] if isinstance(side.maker(maker.ins[0]), Gradient) else ()
        if _keeps(side, before, v) and not any(
            other.name == maker.name and _keeps(side.other, other.ins, w)
            for w in side.there(v) if (other := side.other.maker(w))
        ):  # fmt: skip
            return side.producer[v]
    return -1


def _keeps(side: Side, ins: Sequence[int], out: int) -> bool:
    """Whether what an event makes is what it reads."""
    return side.own(out) in {side.own(x) for x in ins if x != ABSENT}


@PARTINGS
def something_more(f: Forward, at: Parting) -> Finding | None:
    """One program computes on from a value that the other one uses as it is."""
    if min(at.first) >= 0:
        return None
    side = f.a if f.has(f.a, at.values[0]) else f.b  # uses it as it is
    value, own = side.of(at.values), side.other.of(at.events)
    using = next((n for n, _ in side.consumers.get(value, ())), side.producer.get(value, -1))
    line = f.statement(side.other, own, value) if side.other.operation(own) is not None else -1
    more = f"{side.other.name} does something more with this value; {side.name} goes on with it as it is"
    lines = side.both(line, -1)
    return Finding(f.rounds(*at.events) or more, side.both(using, own), side.both(value, side.other.made(own)), lines)


@PARTINGS
def arranged_in_two_ways(f: Forward, at: Parting) -> Finding | None:
    """Two operations are fed the same elements in different arrangements."""
    ea, eb = at.events
    x, y = f.a.operation(ea), f.b.operation(eb)
    if x is None or y is None:
        return None
    same = f.does_alike(ea, eb)
    for p, q in zip(x.ins, y.ins) if same else ((p, q) for p in x.ins for q in y.ins):
        if ABSENT in (p, q) or f.same(p, q):
            continue
        if not f.same(f.root(f.a, p), f.root(f.b, q)):
            continue
        found = f.alignment.distance(p, q)
        if found.layout == SQUEEZED or (found.layout == SAME and f.alignment.agree(p, q, found)):
            continue
        left, right = f.way(f.a, p), f.way(f.b, q)
        if same or ((left or right) and f.whole(f.a, p) and f.whole(f.b, q)):
            ways = [[side.events[n].deed for n in way] for side, way in zip(f.sides, (left, right))]
            k = next((k for k, (m, n) in enumerate(zip(*ways)) if m != n), min(map(len, ways)))
            return f.told(left[k] if k < len(left) else ea, right[k] if k < len(right) else eb)
    return None


@PARTINGS
def computed_a_second_time(f: Forward, at: Parting) -> Finding | None:
    """One program computes a value that both have once more, where the other computes something new."""
    if any(side.operation(n) is None for side, n in zip(f.sides, at.events)):
        return None
    for side in f.sides[::-1]:
        number, other = side.of(at.events), side.other.of(at.events)
        region: set[int] = set()
        stack = [number]
        while stack and len(region) < 64:
            for v in side.events[stack.pop()].ins:
                maker = side.producer.get(v, -1)
                if maker not in region and side.operation(maker) is not None and f.is_extra(side, v):
                    region.add(maker)
                    stack.append(maker)
        first = min((n for n in region if not region.intersection(
            side.producer.get(v, -1) for v in side.events[n].ins)), default=-1)  # fmt: skip
        if first < 0:
            continue
        rest = {side.own(v) for v in side.events[number].ins if v != ABSENT and not f.is_extra(side, v)}
        events = side.both(first, other)
        if not rest & f._classes(side.other, other, f.root) and f.likeness(*events) > 1:
            return f.told(*events)
    return None


@PARTINGS
def where_it_was_born(f: Forward, at: Parting) -> Finding | None:
    """Like operations have only made a difference larger, or turned it; where it comes from."""
    if any(side.operation(n) is None for side, n in zip(f.sides, at.events)):
        return None
    events = _turned(f, *_born(f, *at.events))
    return f.told(*events) if events != at.events else None


def _born(f: Forward, ea: int, eb: int) -> tuple[int, int]:
    """Where a difference comes from that like operations on matching values have only made larger."""
    for _ in range(100_000):
        x, y = f.a.events[ea], f.b.events[eb]
        if (x.name, x.text) != (y.name, y.text) or not f.fed_alike(ea, eb):
            break
        worst, q = max(((f.alignment.drift.get(q, 0.0), q) for q in y.ins if q != ABSENT), default=(0.0, ABSENT))
        match = f.alignment.partner.get(q)
        if not worst or match is None:
            break
        pair = match.value, q
        i, j = (side.producer.get(v, -1) for side, v in zip(f.sides, pair))
        if not all(n >= 0 and isinstance(side.events[n], WithParameters) for side, n in zip(f.sides, (i, j))):
            break
        if not match.alike:
            found = f.facing([f.entries(side, side.made(n)) for side, n in zip(f.sides, (i, j))])
            return (found[0] if found[0] >= 0 else i), (found[1] if found[1] >= 0 else j)
        ea, eb = i, j
    return ea, eb


def _turned(f: Forward, ea: int, eb: int) -> tuple[int, int]:
    """Where an operand got transposed by like operations on the same operands, as broadcasting a row for a column."""
    x, y = f.a.events[ea], f.b.events[eb]
    for p, q in zip(x.ins, y.ins) if (x.name, x.text) == (y.name, y.text) else ():
        i, j = f.a.producer.get(p, -1), f.b.producer.get(q, -1)
        if min(i, j) < 0 or f.alignment.distance(p, q).layout in (SAME, SQUEEZED, RESHAPED):
            continue
        v = f.a.operation(i)
        if v is not None and v.name not in ARRANGING and f.does_alike(i, j) and f.fed_alike(i, j):
            return _turned(f, i, j)
    return ea, eb


@PARTINGS
def chosen_otherwise(f: Forward, at: Parting) -> Finding | None:
    """What one program computes takes the place of elements that the other one has chosen, on another line than it reads them."""
    for side in f.sides:
        own, theirs = side.of(at.first), side.other.of(at.first)
        reads = side.other.operation(theirs)
        made = side.operation(own)
        if reads is None or made is None:
            continue
        for n, position in side.consumers.get(made.outs[0], ()):
            e = side.operation(n)
            if e is None or e.deed != reads.deed or len(e.ins) != len(reads.ins):
                continue
            value = reads.ins[position]
            chosen = side.other.producer.get(value, -1)
            if f.arranges(side.other, chosen) and not side.other.same_line(chosen, theirs) and not (
                f._classes(side, own, f.root) & {side.other.own(value), side.other.own(f.root(side.other, value))}
            ):  # fmt: skip
                return f.told(*side.both(own, chosen))
    return None


@PARTINGS
def these_operations(f: Forward, at: Parting) -> Finding | None:
    """The first operations that only one program has."""
    found = f.told(*at.events)
    if any(side.operation(n) is None for side, n in zip(f.sides, at.events)):
        return found
    for side in f.sides:
        more, other = side.of(at.events), side.other.of(at.events)
        for v in side.other.events[other].ins:
            if v != ABSENT and f.one_more(side, more, other, v) >= 0 and (line := f.statement(side, more, v)) >= 0:
                return replace(found, lines=side.both(more, line))
    return found


# ------------------------------------------------------------------------------------------ reasons

REASONS: Rules[Callable[[Forward, int, int], str | None]] = Rules()
"""Why two operations give different results, in the order in which it is asked."""


def _kinds(f: Forward, ea: int, eb: int) -> tuple[Event, Event]:
    return f.a.events[ea], f.b.events[eb]


@REASONS
def steps(f: Forward, ea: int, eb: int) -> str | None:
    """Steps of optimisers with other options or rules."""
    x, y = _kinds(f, ea, eb)
    return steps_differ(x, y) if isinstance(x, Update) and isinstance(y, Update) else None


@REASONS
def writes(f: Forward, ea: int, eb: int) -> str | None:
    """Two changes in place."""
    both = all(isinstance(e, Write) for e in _kinds(f, ea, eb))
    return "the two programs write different values into the same memory" if both else None


@REASONS
def write_first(f: Forward, ea: int, eb: int) -> str | None:
    """A change in place, and an operation or step."""
    x, y = _kinds(f, ea, eb)
    for side, e, other in ((f.a, x, y), (f.b, y, x)):
        if isinstance(e, Write) and isinstance(other, WithParameters):
            return f"{side.name} changes this in place first; {side.other.name} goes on with it as it is"
    return None


@REASONS
def spelled_out(f: Forward, ea: int, eb: int) -> str | None:
    """One program spells out what is one operation in the other."""
    x, y = _kinds(f, ea, eb)
    for side in f.sides[::-1] if x.name != y.name else ():
        roots = [f.root(side, v) for v in side.events[side.of((ea, eb))].ins if v != ABSENT]
        if side.other.of((ea, eb)) in [f.inside[side].get(r) for r in roots]:
            return f"{side.name} spells out what {side.other.name} computes as one operation; up to here it does the same"
    return None


@REASONS
def other_operation(f: Forward, ea: int, eb: int) -> str | None:
    """Operations of another name; a cast that drops digits says so."""
    x, y = _kinds(f, ea, eb)
    return None if x.name == y.name else f.rounds(ea, eb) or "the operations differ"


@REASONS
def other_parameters(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation with other parameters."""
    x, y = _kinds(f, ea, eb)
    return "the operation is the same, its parameters differ" if x.text != y.text else None


@REASONS
def other_operands(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation on other operands."""
    for p, q in f.fed(ea, eb)[:1]:
        given = isinstance(f.a.maker(p), Source) and isinstance(f.b.maker(q), Source)
        return ANOTHER_VALUE if given else "the operation is the same, but it is fed differently"
    return None


@REASONS
def more_operands(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation with one operand more."""
    x, y = _kinds(f, ea, eb)
    more = next(("B" if p == ABSENT else "A" for p, q in zip(x.ins, y.ins) if (p == ABSENT) != (q == ABSENT)), None)
    return None if more is None else f"the operation is the same, but {more} gives it one operand more"


def _operands(f: Forward, ea: int, eb: int) -> Iterable[tuple[int, int]]:
    x, y = _kinds(f, ea, eb)
    return ((p, q) for p, q in zip(x.ins, y.ins) if ABSENT not in (p, q))


@REASONS
def other_shapes(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation on operands of other shapes."""
    shapes = any(f.a.values.shape(p) != f.b.values.shape(q) for p, q in _operands(f, ea, eb))
    return "the operation is the same, but its operands have other shapes" if shapes else None


@REASONS
def transposed_operand(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation on an operand that lies otherwise."""
    layouts = any(f.alignment.distance(p, q).layout for p, q in _operands(f, ea, eb))
    return "the operation is the same, but one of its operands is transposed" if layouts else None


@REASONS
def same_on_the_same(f: Forward, ea: int, eb: int) -> str | None:
    """The same operation on the same operands: what it draws or reads besides is another."""
    return "the same operation on the same operands gives different values"
