"""Why a computed value differs: from it back through what only its program has, to where the two programs part.

Called by explain.py, which follows gradients in the same way.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .align import GROWN, Alignment
from .events import ABSENT, Event, Gradient, Operation, Reread, Source, Update, WithParameters, Write
from .history import is_computed, moved, operands
from .inside import is_known, values_inside
from .optimisers import steps_differ
from .results import leaf_name
from .side import ARRANGING, Side
from .values import RESHAPED, SAME, SQUEEZED, apart, default_rtol, norm_of


@dataclass
class Finding:
    """The operations at which two programs part; -1 for a side that has none."""

    reason: str
    a: int
    b: int
    values: tuple[int, int] = (ABSENT, ABSENT)
    """What to show side by side, if not the operations' first results."""
    lines: tuple[int, int] = (-1, -1)
    """The events whose lines are named, where they are not the operations themselves."""
    kind: str = ""
    """How it was found, where that says how to go on after it: one of the kinds below."""
    at: tuple[int, int] = (ABSENT, ABSENT)
    """GRADIENT: the values at which the gradients differ that arrive, although they agree on the other side of the operations."""

    def named(self) -> tuple[int, int]:
        """The events whose lines are named."""
        return (self.lines[0] if self.lines[0] >= 0 else self.a, self.lines[1] if self.lines[1] >= 0 else self.b)


START, COMPUTED, CUT, CLEARED = "start", "computed", "gradient", "cleared"
"""A parameter that does not start alike; operations that compute another value; a gradient that one of them does not hand on
alike; a sum in `.grad` that was cleared on one side only."""


NEAR = 1e-3
"""How far the norms of values may be apart that are looked at more closely."""


class Forward:
    """Finds the operations that make a value of one program differ from that of the other."""

    def __init__(self, alignment: Alignment) -> None:
        self.alignment = alignment
        self.a, self.b = alignment.a, alignment.b
        self._inside: dict[bool, dict[int, int]] = {True: {}, False: {}}
        """Values of A (True) or B (False) -> the operation of the other program that computes them inside."""

    def _known(self, value: int, is_a: bool) -> bool:
        """Whether the other program has a value, as a result or inside of an operation."""
        matched = self.alignment.matched_a if is_a else self.alignment.matched_b
        return matched(value) or value in self._inside[is_a]

    def computed(self, va: int, vb: int) -> Finding:
        """Why a computed value differs."""
        found = self._different_start(va, vb)
        if found is not None:
            found.kind = START
            return found
        found = self._computed(va, vb)
        found.kind = COMPUTED
        return found

    def _computed(self, va: int, vb: int) -> Finding:
        ea, eb = self._stepping(va, vb) or self._parting(va, vb)
        if ea < 0 and eb < 0:
            reason = "the values differ from the start"
            return Finding(reason, self.a.producer.get(va, -1), self.b.producer.get(vb, -1), (va, vb))
        more = min(ea, eb) < 0
        ea = ea if ea >= 0 else self.a.producer.get(va, -1)
        eb = eb if eb >= 0 else self.b.producer.get(vb, -1)
        written = self._written(ea, eb) or self._overwritten(ea, eb)
        if written is not None:
            return written
        idle_a, idle_b = self._idle(ea, True), self._idle(eb, False)
        if min(idle_a, idle_b) < 0 <= max(idle_a, idle_b):
            ea, eb = (idle_a if idle_a >= 0 else ea), (idle_b if idle_b >= 0 else eb)
        elif more:
            return self._further(va, vb, ea, eb)
        elif isinstance(self.a.events[ea], Operation) and isinstance(self.b.events[eb], Operation):
            ea, eb = self._arranged(ea, eb) or self._repeated(ea, eb) or self._turned(*self._born(ea, eb))
        return Finding(self._reason(ea, eb), ea, eb)

    def _stepping(self, va: int, vb: int) -> tuple[int, int] | None:
        """The optimisers' steps that make a parameter of the same operands, even if one of them changes nothing."""
        ea, eb = self.a.producer.get(va, -1), self.b.producer.get(vb, -1)
        if min(ea, eb) < 0 or not (isinstance(self.a.events[ea], Update) and isinstance(self.b.events[eb], Update)):
            return None
        pairs = zip(self.a.events[ea].ins[:2], self.b.events[eb].ins[:2])  # the parameter, its gradient
        return (ea, eb) if all(self.same(p, q) for p, q in pairs) else None

    def _parting(self, va: int, vb: int) -> tuple[int, int]:
        """The first operations that only one program has on the way to a value; -1 for a program that has none.

        Like operations that differ in a constant only, such as a mask, are followed to where that is made.
        """
        has_a, has_b = self._has(va, True), self._has(vb, False)
        entries_a = [] if has_a and not has_b else self._entries(self.a, va, True)
        entries_b = [] if has_b and not has_a else self._entries(self.b, vb, False)
        ea, eb = self._facing(entries_a, entries_b)
        if ea < 0 or eb < 0:
            return ea, eb
        x, y = self.a.events[ea], self.b.events[eb]
        if x.deed == y.deed and len(x.ins) == len(y.ins) and isinstance(x, Operation):
            for p, q in zip(x.ins, y.ins):
                if p != ABSENT and q != ABSENT and not self.same(p, q) and self._is_constant(p, True) and (
                    self._is_constant(q, False)
                ):  # fmt: skip
                    i, j = self._parting(p, q)
                    if max(i, j) >= 0:
                        return (i if i >= 0 else ea), (j if j >= 0 else eb)
        alike = x.name == y.name and len(x.ins) == len(y.ins) and all(
            p == q or self.same(p, q) for p, q in zip(x.ins, y.ins)
        )  # fmt: skip
        operations = isinstance(x, Operation) and isinstance(y, Operation)
        return self._spelled_out(va, vb, ea, eb) if operations and not alike else (ea, eb)

    def _spelled_out(self, va: int, vb: int, ea: int, eb: int) -> tuple[int, int]:
        """Where two programs part if one of them spells out what is one operation in the other."""
        for is_a in (False, True):
            if not self._look_inside(va if is_a else vb, vb if is_a else va, is_a):
                continue
            side, found = (self.a if is_a else self.b), self._inside[is_a]
            entries = [n for n in self._entries(side, va if is_a else vb, is_a) if isinstance(side.events[n], Operation)]
            for n in entries:
                within = [found[r] for v in side.events[n].ins if v != ABSENT and (r := self._root(v, is_a)) in found]
                if within:
                    return (n, max(within)) if is_a else (max(within), n)
        return ea, eb

    def _look_inside(self, own: int, other: int, is_a: bool) -> bool:
        """Find the values that lead to `own` inside the operations of the other program that lead to `other`."""
        side, across = (self.a, self.b) if is_a else (self.b, self.a)
        wanted: dict[int, list[tuple[float, int]]] = {}
        """Size -> norm and number of the values that are looked for."""
        region = self._region(side, own, is_a)
        for n in sorted(region):
            for v in side.events[n].outs if isinstance(side.events[n], Operation) else ():
                if not self._known(v, is_a) and side.values.norm(v) < math.inf:
                    wanted.setdefault(side.values.size(v), []).append((side.values.norm(v), v))
        for entries in wanted.values():
            entries.sort()
        found = self._inside[is_a]
        before = len(found)
        names = {side.events[n].name for n in region}  # an operation that both programs have stands for itself
        several = [n for n in sorted(self._region(across, other, not is_a)) if is_known(across.events[n].name)]
        for n in [n for n in several if across.events[n].name not in names][:32]:
            e = across.events[n]
            assert isinstance(e, Operation)
            operands = [None if v == ABSENT else across.values.array(v) for v in e.ins]
            if any(x is None and v != ABSENT for x, v in zip(operands, e.ins)):  # too large to be kept
                continue
            for array in values_inside(e.name, e.given or {}, operands):
                entries, norm = wanted.get(array.size, []), norm_of(array)
                low = bisect.bisect_left(entries, (norm * (1 - NEAR), -1))
                for _, v in entries[low : bisect.bisect_right(entries, (norm * (1 + NEAR), len(side.values)))]:
                    if v not in found and self._is_this(side, v, array):
                        found[v] = n
        return len(found) > before

    def _is_this(self, side: Side, value: int, array: np.ndarray) -> bool:
        """Whether a value is this array, but for rounding and layout; one that says little, exactly."""
        x = side.values.array(value)
        if x is None or x.dtype.kind != "f":
            return False
        rtol = 4 * default_rtol(side.values.kept(value).dtype)
        found = apart(x.astype(np.float64), array, rtol)
        if side.values.telling(value):
            return found.relative <= rtol
        return found.relative == 0.0 and found.layout in (SAME, SQUEEZED)

    def _is_constant(self, value: int, is_a: bool) -> bool:
        """Whether a program has computed a value by itself, and of constants only."""
        side = self.a if is_a else self.b
        n = side.producer.get(value, -1)
        return n >= 0 and isinstance(side.events[n], Operation) and not self._known(value, is_a) and not self._depends(n, side)

    def _further(self, va: int, vb: int, ea: int, eb: int) -> Finding:
        """The finding where one program computes on from a value that the other one uses as it is."""
        in_a = self._has(va, True)  # A uses it as it is
        side, value = (self.a, va) if in_a else (self.b, vb)
        using = next((n for n, _ in side.consumers.get(value, ())), side.producer.get(value, -1))
        who, other = ("B", "A") if in_a else ("A", "B")
        reason = self._rounds(ea, eb) or f"{who} does something more with this value; {other} goes on with it as it is"
        return Finding(reason, using if in_a else ea, eb if in_a else using, (va, self._out(self.b, eb)) if in_a else (
            self._out(self.a, ea), vb))  # fmt: skip

    def _rounds(self, ea: int, eb: int) -> str:
        """The reason where one program drops digits that the other one keeps; "" where none does."""
        for side, n, who, other in ((self.a, ea, "A", "B"), (self.b, eb, "B", "A")):
            e = side.events[n]
            if isinstance(e, Operation) and e.name == "cast" and not self._arranges(side, n):
                dtype = side.values.kept(e.outs[0]).dtype
                return f"{who} rounds this value to {dtype}, and {other} does not"
        return ""

    def region(self, value: int) -> set[int]:
        """The events of B that lead to a value from what both programs have."""
        return self._region(self.b, value, False)

    def _has(self, value: int, is_a: bool) -> bool:
        """Whether the other program has what a value of this one consists of, in whatever arrangement."""
        return self._known(value, is_a) or self._known(self._root(value, is_a), is_a)

    def _out(self, side: Side, number: int) -> int:
        return side.events[number].outs[0] if number >= 0 and side.events[number].outs else ABSENT

    def _entries(self, side: Side, value: int, is_a: bool) -> list[int]:
        """The first events, on the way to a value, of which the other program has all operands but not the results.

        What is only arranged otherwise counts as had: it is the next operation that makes something new of it.
        """
        region = self._region(side, value, is_a)
        # What is computed of constants only (a mask, a scale) is often written otherwise, and seldom wrong.
        region = {n for n in region if self._depends(n, side)} or region
        return [n for n in sorted(region) if not any(self._made(v, is_a) in region for v in operands(side.events[n]))]

    def _made(self, v: int, is_a: bool) -> int:
        """The event of this program alone that makes a value; -1 for a value that both have."""
        if v == ABSENT or self._has(v, is_a):
            return -1
        side = self.a if is_a else self.b
        given = side.maker(self._origin(side, v))
        return -1 if given is not None and isinstance(given, Source) else side.producer.get(v, -1)

    def _origin(self, side: Side, value: int) -> int:
        """What a value shows some elements of, or all in another order: the first that was not only arranged."""
        number = side.producer.get(value, -1)
        while number >= 0 and self._arranges(side, number):
            value = side.events[number].ins[0]
            number = side.producer.get(value, -1)
        return value

    def _region(self, side: Side, value: int, is_a: bool) -> set[int]:
        """The events that lead to a value from what both programs have."""
        region: set[int] = set()
        stack = [side.producer.get(value, -1)]
        while stack:
            number = stack.pop()
            if number < 0 or number in region or isinstance(side.events[number], Source):
                continue
            e = side.events[number]
            region.add(number)
            if isinstance(e, Gradient) or (isinstance(e, Write) and len(e.ins) == 1 and not moved(side, e.ins[0])):
                continue
            stack += [self._made(x, is_a) for x in operands(e)]
        return region

    def _different_start(self, va: int, vb: int) -> Finding | None:
        """The finding where a parameter that a value is made of is not the same from the beginning."""
        read_a, read_b = self._read(self.a, va, True), self._read(self.b, vb, False)
        for i, j in self.alignment.leaves.pairs:
            p, q = self.a.record.leaves[i].value, self.b.record.leaves[j].value
            if p not in read_a or q not in read_b or is_computed(self.a, p) or is_computed(self.b, q):
                continue
            names = " / ".join(dict.fromkeys((leaf_name(self.a, i), leaf_name(self.b, j))))
            lines = self.a.producer.get(p, -1), self.b.producer.get(q, -1)
            found = self.alignment.distance(p, q)
            if found.layout == RESHAPED and self.alignment.agree(p, q, found) and (
                sorted(self.a.values.shape(p)) == sorted(self.b.values.shape(q))
            ):  # fmt: skip
                return Finding(f"the parameter {names} has been reshaped where it should have been transposed", *lines, (p, q))
            alone = not self.alignment.matched_a(p) and not self.alignment.matched_b(q)
            if alone or (found.relative > GROWN and leaf_name(self.a, i) == leaf_name(self.b, j)):
                return Finding(f"the parameter {names} does not start from the same values", *lines, (p, q))
        return None

    def _read(self, side: Side, value: int, is_a: bool) -> set[int]:
        """The values that this program reads on the way to one, up to those that both have."""
        matched = self.alignment.matched_a if is_a else self.alignment.matched_b
        read: set[int] = set()
        stack = [value]
        while stack:
            e = side.maker(stack.pop())
            if e is None or isinstance(e, Gradient):
                continue
            new = [x for x in operands(e) if x != ABSENT and x not in read]
            read.update(new)
            stack += [x for x in new if not matched(x)]
        return read

    def _root(self, value: int, is_a: bool) -> int:
        """The value that both programs have of which this one shows some elements, or all in another order; else itself."""
        path = self._arrangement(value, is_a)
        return (self.a if is_a else self.b).events[path[0]].ins[0] if path else value

    def _arrangement(self, value: int, is_a: bool) -> list[int]:
        """The operations that arrange a value which both programs have into this one, the first one first."""
        side = self.a if is_a else self.b
        path: list[int] = []
        while not self._known(value, is_a):
            number = side.producer.get(value, -1)
            if number < 0 or not self._arranges(side, number):
                return []
            path.append(number)
            value = side.events[number].ins[0]
        return path[::-1]

    def _way(self, value: int, is_a: bool) -> list[int]:
        """The arrangement of a value, from the first value on that has the same elements."""
        side, own = (self.a if is_a else self.b), self._class_of(is_a)
        path = self._arrangement(value, is_a)
        root = side.events[path[0]].ins[0] if path else value
        while True:
            number = side.producer.get(root, -1)
            if number < 0 or not self._arranges(side, number):
                return path
            before = side.events[number].ins[0]
            if own(before) != own(root):
                return path
            path.insert(0, number)
            root = before

    def _arranges(self, side: Side, number: int) -> bool:
        """Whether an operation only says which elements, in which order; a cast that drops digits does more."""
        e = side.events[number]
        if not isinstance(e, Operation) or e.name not in ARRANGING:
            return False
        return e.name != "cast" or default_rtol(side.values.kept(e.outs[0]).dtype) <= self.alignment.working

    def _facing(self, entries_a: list[int], entries_b: list[int]) -> tuple[int, int]:
        """The first entry of A that begins with what one of B begins with, and that one."""
        if not entries_a or not entries_b:
            return (entries_a or [-1])[0], (entries_b or [-1])[0]
        of_a, of_b = (
            [n for n in entries if isinstance(side.events[n], Operation)][:32] or entries[:32]
            for side, entries in ((self.a, entries_a), (self.b, entries_b))
        )
        for i in of_a:
            score, _, j = max((self._likeness(i, j), -n, j) for n, j in enumerate(of_b))
            if score > 1:
                return i, j
        return of_a[0], max((self._likeness(of_a[0], j), -n, j) for n, j in enumerate(of_b))[2]

    def _likeness(self, i: int, j: int) -> int:
        x, y = self.a.events[i], self.b.events[j]
        score = 2 * len(self._roots(x, True) & self._roots(y, False)) + (x.name == y.name)
        if score == 1 and self._origins(x, True) & self._origins(y, False):  # of other elements of one value
            return 3
        return score

    def _origins(self, e: Event, is_a: bool) -> set[int]:
        side, own = (self.a if is_a else self.b), self._class_of(is_a)
        return {own(self._origin(side, v)) for v in e.ins if v != ABSENT}

    def _roots(self, e: Event, is_a: bool) -> set[int]:
        own = self._class_of(is_a)
        return {own(self._root(v, is_a)) for v in e.ins if v != ABSENT}

    def _depends(self, number: int, side: Side) -> bool:
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

    def _idle(self, number: int, is_a: bool) -> int:
        """What an event reads of and what has changed nothing this time, such as adding 0 or clipping what is small; -1 if
        there is nothing of the kind."""
        side, own = (self.a if is_a else self.b), self._class_of(is_a)
        for v in side.events[number].ins:
            maker = side.maker(v)
            if maker is None or maker.name in ARRANGING or not isinstance(maker, (Operation, Write)):
                continue
            before = maker.ins
            if isinstance(maker, Write):  # of a gradient: parameters are filled with what they held, or are frozen
                held = side.maker(maker.ins[0])
                before = maker.ins[:1] if held is not None and isinstance(held, Gradient) else ()
            if own(v) in {own(x) for x in before if x != ABSENT}:
                return side.producer[v]
        return -1

    def _arranged(self, ea: int, eb: int) -> tuple[int, int] | None:
        """The operations that arrange one operand in two ways, if that is all that two operations differ in."""
        x, y = self.a.events[ea], self.b.events[eb]
        if not isinstance(x, Operation) or not isinstance(y, Operation):
            return None
        same = x.deed == y.deed and len(x.ins) == len(y.ins)
        pairs = zip(x.ins, y.ins) if same else ((p, q) for p in x.ins for q in y.ins)
        for p, q in pairs:
            if p == ABSENT or q == ABSENT or self.same(p, q):
                continue
            if not self.same(self._root(p, True), self._root(q, False)) or self.alignment.distance(p, q).layout == SQUEEZED:
                continue
            left, right = self._way(p, True), self._way(q, False)
            whole = (left or right) and self._whole(p, True) and self._whole(q, False)
            if same or whole:
                ways = [[side.events[n].deed for n in way] for side, way in ((self.a, left), (self.b, right))]
                k = next((k for k, (m, n) in enumerate(zip(*ways)) if m != n), min(map(len, ways)))
                return left[k] if k < len(left) else ea, right[k] if k < len(right) else eb
        return None

    def _repeated(self, ea: int, eb: int) -> tuple[int, int] | None:
        """The operations that part where one program computes something a second time instead of something new.

        The value that comes out is one that both have; only what is made of it is new.
        """
        for number, other, is_a in ((eb, ea, False), (ea, eb, True)):
            side = self.a if is_a else self.b
            region: set[int] = set()
            stack = [number]
            while stack and len(region) < 64:
                for v in side.events[stack.pop()].ins:
                    maker = side.producer.get(v, -1)
                    if maker < 0 or maker in region or not isinstance(side.events[maker], Operation):
                        continue
                    if self._is_extra(v, is_a):
                        region.add(maker)
                        stack.append(maker)
            first = min((n for n in region if not region.intersection(
                side.producer.get(v, -1) for v in side.events[n].ins)), default=-1)  # fmt: skip
            if first < 0:
                continue
            rest = {self._class_of(is_a)(v) for v in side.events[number].ins if v != ABSENT and not self._is_extra(v, is_a)}
            wanted = self._roots((self.b if is_a else self.a).events[other], not is_a)
            i, j = (first, other) if is_a else (other, first)
            if not rest & wanted and self._likeness(i, j) > 1:
                return i, j
        return None

    def _is_extra(self, value: int, is_a: bool) -> bool:
        """Whether a program computes a value more often than the other one."""
        alignment = self.alignment
        known = self._class_of(is_a)(value)
        in_a, in_b = len(alignment.members.get(known, ())), len(alignment.found.get(known, ()))
        return in_a > in_b > 0 if is_a else in_b > in_a

    def _turned(self, ea: int, eb: int) -> tuple[int, int]:
        """Where an operand got transposed by like operations on the same operands, as broadcasting a row for a column."""
        x, y = self.a.events[ea], self.b.events[eb]
        if (x.name, x.text) == (y.name, y.text):
            for p, q in zip(x.ins, y.ins):
                i, j = self.a.producer.get(p, -1), self.b.producer.get(q, -1)
                if min(i, j) < 0 or self.alignment.distance(p, q).layout in (SAME, SQUEEZED, RESHAPED):
                    continue
                v, w = self.a.events[i], self.b.events[j]
                if isinstance(v, Operation) and v.name not in ARRANGING and v.deed == w.deed and len(v.ins) == len(w.ins) and all(
                    self.same(r, s) for r, s in zip(v.ins, w.ins)):  # fmt: skip
                    return self._turned(i, j)
        return ea, eb

    def _whole(self, value: int, is_a: bool) -> bool:
        """Whether a value has all elements of the one that it arranges."""
        values = (self.a if is_a else self.b).values
        return values.size(value) == values.size(self._root(value, is_a))

    def _written(self, ea: int, eb: int) -> Finding | None:
        """The change in place that makes two like operations read different things, if that is it."""
        x, y = self.a.events[ea], self.b.events[eb]
        if x.name != y.name or x.text != y.text or len(x.ins) != len(y.ins):
            return None
        for p, q in zip(x.ins, y.ins):
            if p == ABSENT or q == ABSENT or self.same(p, q):
                continue
            for value, other, is_a in ((p, q, True), (q, p, False)):
                side, across = (self.a, self.b) if is_a else (self.b, self.a)
                maker, there = side.maker(value), across.maker(other)
                if maker is None or not isinstance(maker, (Write, Reread)) or (there is not None and isinstance(there, Write)):
                    continue
                own = self._writer(side, value)
                counterpart = self._counterpart(value, is_a)
                if counterpart < 0:
                    counterpart = eb if is_a else ea
                    if there is not None and isinstance(there, Operation):
                        counterpart = across.producer[other]
                who, line = ("A", "B") if is_a else ("B", "A")
                reason = (
                    f"{who} changes memory in place here that is read again later; {line} leaves the old value as it is"
                )
                lines = (own, counterpart) if is_a else (counterpart, own)
                return Finding(reason, ea, eb, (ABSENT, ABSENT), lines)
        return None

    def _overwritten(self, ea: int, eb: int) -> Finding | None:
        """The change in place after which a program no longer has what the other one reads here, if that is it."""
        for reads, meets, is_a in ((ea, eb, False), (eb, ea, True)):  # is_a: whether it is A that has overwritten it
            side, across = (self.a, self.b) if is_a else (self.b, self.a)
            own, theirs = self._class_of(is_a), self._class_of(not is_a)
            kept = {e.ins[0] for e in across.events if isinstance(e, Write)}
            read = {x for v in across.events[reads].ins if v != ABSENT for x in (v, self._origin(across, v))}
            wanted = {theirs(v) for v in read - kept if across.values.telling(v)}
            wanted -= {own(v) for v in side.events[meets].ins if v != ABSENT}
            for number in range(meets - 1, -1, -1) if wanted else ():
                e = side.events[number]
                if not isinstance(e, Write):
                    continue
                counterpart = self._counterpart(e.outs[0], is_a)
                held = own(e.ins[0])
                if e.ins[0] == ABSENT and counterpart >= 0 and isinstance(across.events[counterpart], Write):
                    held = theirs(across.events[counterpart].ins[0])  # nothing has read it before: what the other one held
                elif len(e.ins) < 2:
                    continue
                if held in wanted:
                    who, other = ("A", "B") if is_a else ("B", "A")
                    reason = f"{who} changes memory in place here; {other} goes on to read what it held before"
                    lines = (number, counterpart) if is_a else (counterpart, number)
                    return Finding(reason, ea, eb, (ABSENT, ABSENT), lines)
        return None

    def _class_of(self, is_a: bool) -> Callable[[int], int]:
        classes = self.alignment.classes_a if is_a else self.alignment.classes_b
        return lambda v: classes.get(v, v)

    def _writer(self, side: Side, value: int) -> int:
        """The event that wrote a value into memory; for one read through another view, the write before."""
        number = side.producer[value]
        if isinstance(side.events[number], Reread):
            for n in range(number - 1, -1, -1):
                if isinstance(side.events[n], Write):
                    return n
        return number

    def _counterpart(self, value: int, is_a: bool) -> int:
        """The operation of the other program that makes what is written here."""
        alignment = self.alignment
        if is_a:
            found = alignment.found.get(alignment.classes_a.get(value, value), [])
            return self.b.producer.get(found[0], -1) if found else -1
        match = alignment.partner.get(value)
        return self.a.producer.get(match.value, -1) if match else -1

    def same(self, va: int, vb: int) -> bool:
        return self.alignment.classes_a.get(va, va) == self.alignment.classes_b.get(vb, vb)

    def _born(self, ea: int, eb: int) -> tuple[int, int]:
        """Where a difference comes from that like operations on matching values have only made larger."""
        alignment = self.alignment
        for _ in range(100_000):
            x, y = self.a.events[ea], self.b.events[eb]
            if (x.name, x.text) != (y.name, y.text) or len(x.ins) != len(y.ins):
                break
            if not all(p == q == ABSENT or self.same(p, q) for p, q in zip(x.ins, y.ins)):
                break
            drifts = [(alignment.drift.get(q, 0.0), q) for q in y.ins if q != ABSENT]
            worst, q = max(drifts, default=(0.0, ABSENT))
            match = alignment.partner.get(q)
            if not worst or match is None:
                break
            i, j = self.a.producer.get(match.value, -1), self.b.producer.get(q, -1)
            if i < 0 or j < 0 or not all(isinstance(e, WithParameters) for e in (self.a.events[i], self.b.events[j])):
                break
            if not match.alike:
                found = self._facing(self._ways(self.a, i, True), self._ways(self.b, j, False))
                return (found[0] if found[0] >= 0 else i), (found[1] if found[1] >= 0 else j)
            ea, eb = i, j
        return ea, eb

    def _ways(self, side: Side, number: int, is_a: bool) -> list[int]:
        """The entries of the stretch that ends with an event whose result both programs have."""
        return self._entries(side, side.events[number].outs[0], is_a)

    def _reason(self, ea: int, eb: int) -> str:
        x, y = self.a.events[ea], self.b.events[eb]
        if isinstance(x, Update) and isinstance(y, Update):
            return steps_differ(x, y)
        if isinstance(x, Write) and isinstance(y, Write):
            return "the two programs write different values into the same memory"
        if any(isinstance(e, Write) for e in (x, y)) and any(isinstance(e, WithParameters) for e in (x, y)):
            who, other = ("A", "B") if isinstance(x, Write) else ("B", "A")
            return f"{who} changes this in place first; {other} goes on with it as it is"
        if x.name != y.name:
            for n, inside, is_a in ((eb, ea, False), (ea, eb, True)):
                side, (who, other) = (self.a, "AB") if is_a else (self.b, "BA")
                roots = {self._root(v, is_a) for v in side.events[n].ins if v != ABSENT}
                if inside in {self._inside[is_a].get(r) for r in roots}:
                    return f"{who} spells out what {other} computes as one operation; up to here it does the same"
            return self._rounds(ea, eb) or "the operations differ"
        if x.text != y.text:
            return "the operation is the same, its parameters differ"
        for p, q in zip(x.ins, y.ins):
            if p != ABSENT and q != ABSENT and not self.same(p, q):
                left, right = self.a.maker(p), self.b.maker(q)
                if left is not None and right is not None and isinstance(left, Source) and isinstance(right, Source):
                    return "the operation is the same, but it is given another value"
                return "the operation is the same, but it is fed differently"
        for p, q in zip(x.ins, y.ins):
            if (p == ABSENT) != (q == ABSENT):
                return f"the operation is the same, but {'B' if p == ABSENT else 'A'} gives it one operand more"
        shapes = [
            (self.a.values.shape(p), self.b.values.shape(q))
            for p, q in zip(x.ins, y.ins) if p != ABSENT and q != ABSENT
        ]  # fmt: skip
        if any(p != q for p, q in shapes):
            return "the operation is the same, but its operands have other shapes"
        for p, q in zip(x.ins, y.ins):
            if p != ABSENT and q != ABSENT and self.alignment.distance(p, q).layout:
                return "the operation is the same, but one of its operands is transposed"
        return "the same operation on the same operands gives different values"
