"""Where two programs part: from the first result that is not the same back to the operations that make it so.

From a loss or parameter the way back goes through what the other program does not have, up to values that both have:
the first operations after those are where the programs part. A gradient is followed the other way, from the parameter
towards the loss, to where what arrives still agrees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .align import Alignment
from .history import aliases, cleared, is_computed, moved, operands, previous
from .kinds import ACCUMULATE, DETACH, OP, REREAD, SOURCE, UPDATE, WRITE
from .record import ABSENT, Event
from .results import GRADIENT, RETURNED, Result, leaf_name
from .side import ARRANGING, GRADIENTS, Side
from .values import RESHAPED, SQUEEZED


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


class Explanation:
    """Finds why a result differs."""

    def __init__(self, alignment: Alignment) -> None:
        self.alignment = alignment
        self.a, self.b = alignment.a, alignment.b
        self._places = (-1, -1)
        """The backward passes whose gradients are being followed."""

    def _place(self, side: Side) -> int:
        return self._places[0 if side is self.a else 1]

    def of(self, result: Result) -> Finding:
        """The first operations that make this result differ."""
        if result.kind in (GRADIENT, RETURNED):
            return self._gradient(result)
        assert result.a is not None
        assert result.b is not None
        # Of rows of a parameter, the operation that made the whole is looked for.
        va = result.a if result.a in self.a.producer else self.a.events[result.event_a].outs[0]
        vb = result.b if result.b in self.b.producer else self.b.events[result.event_b].outs[0]
        return self._computed(va, vb)

    # ------------------------------------------------------------------------------------------ values

    def _computed(self, va: int, vb: int) -> Finding:
        """Why a computed value differs."""
        start = self._different_start(va, vb)
        if start is not None:
            return start
        entries_a, entries_b = self._entries(self.a, va, True), self._entries(self.b, vb, False)
        ea, eb = self._facing(entries_a, entries_b)
        if ea < 0 and eb < 0:
            reason = "the values differ from the start"
            return Finding(reason, self.a.producer.get(va, -1), self.b.producer.get(vb, -1), (va, vb))
        ea = ea if ea >= 0 else self.a.producer.get(va, -1)
        eb = eb if eb >= 0 else self.b.producer.get(vb, -1)
        written = self._written(ea, eb) or self._overwritten(ea, eb)
        if written is not None:
            return written
        idle_a, idle_b = self._idle(ea, True), self._idle(eb, False)
        if min(idle_a, idle_b) < 0 <= max(idle_a, idle_b):
            ea, eb = (idle_a if idle_a >= 0 else ea), (idle_b if idle_b >= 0 else eb)
        elif self.a.events[ea].kind == self.b.events[eb].kind == OP:
            ea, eb = self._arranged(ea, eb) or self._born(ea, eb)
        return Finding(self._reason(ea, eb), ea, eb)

    def _entries(self, side: Side, value: int, is_a: bool) -> list[int]:
        """The first events, on the way to a value, of which the other program has all operands but not the results.

        What is only arranged otherwise counts as had: it is the next operation that makes something new of it.
        """
        matched = self.alignment.matched_a if is_a else self.alignment.matched_b

        def made(v: int) -> int:
            """The event of this program alone that makes a value; -1 for a value that both have."""
            if v == ABSENT or matched(v) or matched(self._root(v, is_a)):
                return -1
            return side.producer.get(v, -1)

        region: set[int] = set()
        stack = [side.producer.get(value, -1)]
        while stack:
            number = stack.pop()
            if number < 0 or number in region or side.events[number].kind == SOURCE:
                continue
            e = side.events[number]
            region.add(number)
            if e.kind in GRADIENTS or (e.kind == WRITE and len(e.ins) == 1 and not moved(side, e.ins[0])):
                continue
            stack += [made(x) for x in operands(e)]
        return [n for n in sorted(region) if not region.intersection(map(made, operands(side.events[n])))]

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
                return Finding(f"{names} has been reshaped where it should have been transposed", *lines, (p, q))
            if not self.alignment.matched_a(p) and not self.alignment.matched_b(q):
                return Finding(f"{names} does not start from the same values", *lines, (p, q))
        return None

    def _read(self, side: Side, value: int, is_a: bool) -> set[int]:
        """The values that this program reads on the way to one, up to those that both have."""
        matched = self.alignment.matched_a if is_a else self.alignment.matched_b
        read: set[int] = set()
        stack = [value]
        while stack:
            e = side.maker(stack.pop())
            if e is None or e.kind in GRADIENTS:
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
        side, matched = (self.a, self.alignment.matched_a) if is_a else (self.b, self.alignment.matched_b)
        path: list[int] = []
        while not matched(value):
            number = side.producer.get(value, -1)
            if number < 0 or side.events[number].name not in ARRANGING or side.events[number].kind != OP:
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
            if number < 0 or side.events[number].kind != OP or side.events[number].name not in ARRANGING:
                return path
            before = side.events[number].ins[0]
            if own(before) != own(root):
                return path
            path.insert(0, number)
            root = before

    def _facing(self, entries_a: list[int], entries_b: list[int]) -> tuple[int, int]:
        """The first entry of A that begins with what one of B begins with, and that one."""
        if not entries_a or not entries_b:
            return (entries_a or [-1])[0], (entries_b or [-1])[0]
        # What is computed of constants only (a mask, a scale) is often written otherwise, and seldom wrong.
        of_a, of_b = (
            [n for n in entries if self._depends(n, side)][:32]
            or [n for n in entries if side.events[n].kind == OP][:32] or entries[:32]
            for side, entries in ((self.a, entries_a), (self.b, entries_b))
        )  # fmt: skip
        for i in of_a:
            score, _, j = max((self._likeness(i, j), -n, j) for n, j in enumerate(of_b))
            if score > 1:
                return i, j
        return of_a[0], max((self._likeness(of_a[0], j), -n, j) for n, j in enumerate(of_b))[2]

    def _likeness(self, i: int, j: int) -> int:
        x, y = self.a.events[i], self.b.events[j]
        return 2 * len(self._roots(x, True) & self._roots(y, False)) + (x.name == y.name)

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
            if maker is None or maker.kind == SOURCE or (maker.kind == WRITE and len(maker.ins) == 1):
                if side.values.telling(v):
                    return True
            elif maker.kind not in (OP, WRITE) or len(seen) > 16:
                return True
            else:
                stack += operands(maker)
        return False

    def _idle(self, number: int, is_a: bool) -> int:
        """The operation that an event reads of and that has changed nothing this time, such as adding 0; -1 if none."""
        side, own = (self.a if is_a else self.b), self._class_of(is_a)
        for v in side.events[number].ins:
            maker = side.maker(v)
            if maker is not None and maker.kind == OP and maker.name not in ARRANGING and (
                own(v) in {own(x) for x in maker.ins if x != ABSENT}
            ):  # fmt: skip
                return side.producer[v]
        return -1

    def _arranged(self, ea: int, eb: int) -> tuple[int, int] | None:
        """The operations that arrange one operand in two ways, if that is all that two operations differ in."""
        x, y = self.a.events[ea], self.b.events[eb]
        if x.kind != OP or y.kind != OP:
            return None
        same = (x.name, x.params, len(x.ins)) == (y.name, y.params, len(y.ins))
        pairs = zip(x.ins, y.ins) if same else ((p, q) for p in x.ins for q in y.ins)
        for p, q in pairs:
            if p == ABSENT or q == ABSENT or self._same(p, q):
                continue
            if not self._same(self._root(p, True), self._root(q, False)) or self.alignment.distance(p, q).layout == SQUEEZED:
                continue
            left, right = self._way(p, True), self._way(q, False)
            whole = (left or right) and self._whole(p, True) and self._whole(q, False)
            if same or whole:
                ways = [[side.events[n][1:3] for n in way] for side, way in ((self.a, left), (self.b, right))]
                k = next((k for k, (m, n) in enumerate(zip(*ways)) if m != n), min(map(len, ways)))
                return left[k] if k < len(left) else ea, right[k] if k < len(right) else eb
        return None

    def _whole(self, value: int, is_a: bool) -> bool:
        """Whether a value has all elements of the one that it arranges."""
        values = (self.a if is_a else self.b).values
        return values.size(value) == values.size(self._root(value, is_a))

    def _written(self, ea: int, eb: int) -> Finding | None:
        """The change in place that makes two like operations read different things, if that is it."""
        x, y = self.a.events[ea], self.b.events[eb]
        if x.name != y.name or x.params != y.params or len(x.ins) != len(y.ins):
            return None
        for p, q in zip(x.ins, y.ins):
            if p == ABSENT or q == ABSENT or self._same(p, q):
                continue
            for value, other, is_a in ((p, q, True), (q, p, False)):
                side, across = (self.a, self.b) if is_a else (self.b, self.a)
                maker, there = side.maker(value), across.maker(other)
                if maker is None or maker.kind not in (WRITE, REREAD) or (there is not None and there.kind == WRITE):
                    continue
                own = self._writer(side, value)
                counterpart = self._counterpart(value, is_a)
                if counterpart < 0:
                    counterpart = eb if is_a else ea
                    if there is not None and there.kind == OP:
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
            wanted = {theirs(v) for v in across.events[reads].ins if v != ABSENT}
            wanted -= {own(v) for v in side.events[meets].ins if v != ABSENT}
            kept = {theirs(e.ins[0]) for e in across.events if e.kind == WRITE}
            for number in range(meets - 1, -1, -1):
                e = side.events[number]
                if e.kind == WRITE and len(e.ins) > 1 and own(e.ins[0]) in wanted - kept:
                    counterpart = self._counterpart(e.outs[0], is_a)
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
        if side.events[number].kind == REREAD:
            for n in range(number - 1, -1, -1):
                if side.events[n].kind == WRITE:
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

    def _same(self, va: int, vb: int) -> bool:
        return self.alignment.classes_a.get(va, va) == self.alignment.classes_b.get(vb, vb)

    def _born(self, ea: int, eb: int) -> tuple[int, int]:
        """Where a difference comes from that like operations on matching values have only made larger."""
        alignment = self.alignment
        for _ in range(100_000):
            x, y = self.a.events[ea], self.b.events[eb]
            if (x.name, x.params) != (y.name, y.params) or len(x.ins) != len(y.ins):
                break
            if not all(p == q == ABSENT or self._same(p, q) for p, q in zip(x.ins, y.ins)):
                break
            drifts = [(alignment.drift.get(q, 0.0), q) for q in y.ins if q != ABSENT]
            worst, q = max(drifts, default=(0.0, ABSENT))
            match = alignment.partner.get(q)
            if not worst or match is None:
                break
            i, j = self.a.producer.get(match.value, -1), self.b.producer.get(q, -1)
            if i < 0 or j < 0 or self.a.events[i].kind not in (OP, UPDATE) or self.b.events[j].kind not in (OP, UPDATE):
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
        if x.kind == UPDATE and y.kind == UPDATE:
            if x.name != y.name:
                return "the optimisers follow different rules"
            if x.params == y.params:
                return "the optimisers' steps differ"
            options = [re.split(r", (?=\w+=)", e.params) for e in (x, y)]
            only = [[o for o in mine if o not in other] for mine, other in (options, options[::-1])]
            told = [f"{', '.join(mine)} in {who}" for mine, who in zip(only, "AB") if mine]
            return f"the optimisers' options differ: {', '.join(told)}"
        if x.kind == WRITE and y.kind == WRITE:
            return "the two programs write different values into the same memory"
        if x.name != y.name:
            return "the operations differ"
        if x.params != y.params:
            return "the operation is the same, its parameters differ"
        for p, q in zip(x.ins, y.ins):
            if p != ABSENT and q != ABSENT and not self._same(p, q):
                left, right = self.a.maker(p), self.b.maker(q)
                if left is not None and right is not None and left.kind == right.kind == SOURCE:
                    return "the operation is the same, but it is given another value"
                return "the operation is the same, but it is fed differently"
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

    # ------------------------------------------------------------------------------------------ gradients

    def _gradient(self, result: Result) -> Finding:
        """Why a gradient differs although the forward computation agrees."""
        if result.kind == GRADIENT and result.a is not None and result.b is not None:
            accumulated = self._accumulated(result)
            if accumulated is not None:
                return accumulated
        passes = len(self.a.passes), len(self.b.passes)
        if (result.a is None or result.b is None) and passes[0] != passes[1] and -1 not in result.leaf:
            reason = f"A runs {passes[0]} backward passes, B {passes[1]}; this is the first that the other has not"
            return Finding(reason, result.event_a if result.a is not None else -1, result.event_b)
        start = self._start(result)
        if start is None:
            reason = "only one of the programs has this parameter"
            return Finding(reason, result.event_a if result.a is not None else -1, result.event_b)
        self._places = result.places
        found = self._towards_loss(*start, result)
        if found is not None:
            return found
        ends = (result.a if result.a is not None else ABSENT, result.b if result.b is not None else ABSENT)
        reason = "what arrives at this parameter differs, although every gradient on the way to it agrees"
        if result.a is None or result.b is None:
            reason = f"no gradient arrives at this parameter in {'A' if result.a is None else 'B'}"
        return Finding(reason, result.event_a if result.a is not None else -1, result.event_b, ends)

    def _accumulated(self, result: Result) -> Finding | None:
        """The finding where what a pass adds is the same, but not what it is added to."""
        x, y = self.a.events[result.event_a], self.b.events[result.event_b]
        had_a, had_b = (e.kind == ACCUMULATE and bool(e.detail[2]) for e in (x, y))
        p, q = (e.ins[0] if e.kind == ACCUMULATE else e.outs[0] for e in (x, y))
        if had_a == had_b or self.alignment.distance(p, q).relative > self._slack(p, q):
            return None
        late, clean, is_a = (self.a, self.b, True) if had_a else (self.b, self.a, False)
        number_late, number_clean = (
            (result.event_a, result.event_b) if is_a else (result.event_b, result.event_a)
        )  # fmt: skip
        clears = cleared(clean, number_clean) if clean.events[number_clean].kind == ACCUMULATE else number_clean
        who, other = ("A", "B") if is_a else ("B", "A")
        before = previous(late, number_late)
        reason = (
            f"{who} adds the gradient to the one that is left from"
            f" {'line ' + str(late.events[before].line) if before >= 0 else 'before'}; {other} "
            + ("has cleared it" if clean.events[number_clean].kind == ACCUMULATE else "returns it by itself")
        )
        lines = (number_late, clears) if is_a else (clears, number_late)
        return Finding(reason, result.event_a, result.event_b, (x.outs[0], y.outs[0]), lines)

    def _slack(self, va: int, vb: int) -> float:
        return self.alignment.tolerance(va, vb) * 4

    def _start(self, result: Result) -> tuple[int, int] | None:
        """The parameter's values in both programs before the pass."""
        i, j = result.leaf
        alignment = self.alignment
        if i >= 0 and j >= 0:
            ends = [s.passes[p] if 0 <= p < len(s.passes) else len(s.events)
                    for s, p in zip((self.a, self.b), result.places)]  # fmt: skip
            i = self.a.events[result.event_a].detail[1] if result.a is not None else i
            j = self.b.events[result.event_b].detail[1] if result.b is not None else j
            return (self.a.value_at(self.a.record.leaves[i].value, ends[0]),
                    self.b.value_at(self.b.record.leaves[j].value, ends[1]))  # fmt: skip
        if i >= 0:
            value = self.a.record.leaves[i].value
            found = alignment.found.get(alignment.classes_a.get(value, value), [])
            return (value, found[0]) if found else None
        if j >= 0:
            value = self.b.record.leaves[j].value
            match = alignment.partner.get(value)
            return (match.value, value) if match else None
        return None

    def _towards_loss(self, va: int, vb: int, result: Result) -> Finding | None:
        """From a value whose gradients differ to the operations behind which they agree."""
        seen: set[tuple[int, int]] = set()
        while (va, vb) not in seen:
            seen.add((va, vb))
            uses_a, uses_b = self._uses(self.a, va, True), self._uses(self.b, vb, False)
            onwards = None
            for key in [k for k in uses_a if k in uses_b]:
                left, right = uses_a[key], uses_b[key]
                if left.carries and not right.tracked and not self._comes_back(right, uses_b, False):
                    return self._cut(left, right, True)
                if right.carries and not left.tracked and not self._comes_back(left, uses_a, True):
                    return self._cut(right, left, False)
                if (left.carries or right.carries) and (left.tracked and right.tracked) and (
                    self._gradients_differ(left, right) and (onwards is None or left.event > onwards[0].event)
                ):  # fmt: skip
                    onwards = (left, right)
            only_a = [u for k, u in uses_a.items() if k not in uses_b and u.carries]
            only_b = [u for k, u in uses_b.items() if k not in uses_a and u.carries]
            if onwards is None:
                for uses, is_a in ((only_a, True), (only_b, False)):
                    for use in uses:
                        cut = self._left_tape(use, va if is_a else vb, is_a)
                        if cut is not None:
                            return cut
                if only_a or only_b:
                    ea = next((u.first for u in (*only_a, *uses_a.values())), -1)
                    eb = next((u.first for u in (*only_b, *uses_b.values())), -1)
                    return Finding("the value is used differently, and so is its gradient", ea, eb)
                pairs = [(uses_a[k], uses_b[k]) for k in uses_a if k in uses_b and uses_a[k].carries]
                if not pairs:
                    return None
                left, right = max(pairs, key=lambda pair: pair[0].event)
                values = (self._cotangent(self.a, left.into), self._cotangent(self.b, right.into))
                if values == (ABSENT, ABSENT) and result.a is not None and result.b is not None:  # it arrives at the leaf
                    ends = ((self.a.events[result.event_a], result.a), (self.b.events[result.event_b], result.b))
                    p, q = (e.ins[0] if e.kind == ACCUMULATE else v for e, v in ends)
                    values = (p, q)
                return self._derivative(left, right, values)
            va, vb = onwards[0].value, onwards[1].value
        return None

    def _comes_back(self, use: Use, uses: dict[int, Use], is_a: bool) -> bool:
        """Whether what is not recorded leads to a value from which a gradient comes back on another way.

        As inside a function with a derivative of its own.
        """
        side, own = (self.a if is_a else self.b), self._class_of(is_a)
        carried = {key for key, other in uses.items() if other.carries}
        stack, seen = [use.value], set[int]()
        while stack and len(seen) < 64:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            for number, _ in side.consumers.get(v, ()):
                e = side.events[number]
                if e.kind == OP and not e.detail[0]:
                    if not carried.isdisjoint(own(x) for x in e.outs):
                        return True
                    stack += e.outs
        return False

    def _left_tape(self, use: Use, value: int, is_a: bool) -> Finding | None:
        """The finding where the other program takes the same number out of a tensor and goes on with a copy."""
        alignment = self.alignment
        if is_a:
            found = alignment.found.get(alignment.classes_a.get(use.value, use.value), [])
            across, classes, mine = self.b, alignment.classes_b, alignment.classes_a.get(value, value)
        else:
            match = alignment.partner.get(use.value)
            found = [match.value] if match is not None else []
            across, classes, mine = self.a, alignment.classes_a, alignment.classes_b.get(value, value)
        for v in found:
            number = across.producer.get(v, -1)
            if number < 0 or across.events[number].kind != OP:
                continue
            e = across.events[number]
            for position, x in enumerate(e.ins):
                if x != ABSENT and classes.get(x, x) == mine and not e.detail[1 + position]:
                    who = "B" if is_a else "A"
                    reason = f"{who} goes on here with a copy of the value that carries no gradient"
                    cut = self._detached(across, number, x)
                    if cut >= 0:
                        number, reason = cut, f"{who} detaches the value here, so no gradient comes back through it"
                    if is_a:
                        return Finding(reason, use.first, number)
                    return Finding(reason, number, use.first)
        return None

    def _detached(self, side: Side, number: int, value: int) -> int:
        """Where the history of a value was cut off before an event; -1 if it was not."""
        shared = aliases(side, value)
        for n in range(number - 1, -1, -1):
            e = side.events[n]
            if e.kind == DETACH and e.ins[0] in shared:
                return n
        return -1

    def _derivative(self, left: Use, right: Use, values: tuple[int, int]) -> Finding:
        """The finding where operations agree and their derivatives do not: in the user's backward, if it is one."""
        finding = Finding("the operations give the same values, their derivatives differ", left.first, right.first, values)
        inner = [self._inside_pass(s, v) for s, v in zip((self.a, self.b), values)]
        if any(inner):
            entries = [
                self._entries(s, v, s is self.a) if known else [] for s, v, known in zip((self.a, self.b), values, inner)
            ]  # fmt: skip
            ea, eb = self._facing(*entries)
            if ea >= 0 or eb >= 0:
                finding.lines = (ea if ea >= 0 else left.first, eb if eb >= 0 else right.first)
                finding.reason += ": what user code does in the backward pass is not the same"
        return finding

    def _inside_pass(self, side: Side, value: int) -> bool:
        """Whether a line other than the one that started the pass computed a gradient: a custom backward, or a hook."""
        number = side.producer.get(value, -1)
        begun = side.within.get(number)
        return begun is not None and side.events[number][5:7] != side.events[begun][5:7]

    def _cotangent(self, side: Side, value: int) -> int:
        number = side.producer.get(value, -1)
        if number < 0 or side.events[number].kind != OP:
            return ABSENT
        return side.cotangents.get((self._place(side), number, list(side.events[number].outs).index(value)), ABSENT)

    def _gradients_differ(self, left: Use, right: Use) -> bool:
        ga, gb = self._cotangent(self.a, left.value), self._cotangent(self.b, right.value)
        if ga == ABSENT or gb == ABSENT:
            return ga != gb
        return self.alignment.distance(ga, gb).relative > self._slack(ga, gb)

    def _uses(self, side: Side, value: int, is_a: bool) -> dict[int, Use]:
        """The next values that both programs have after a value, by class, with whether a gradient comes back."""
        alignment = self.alignment
        matched = alignment.matched_a if is_a else alignment.matched_b
        classes = alignment.classes_a if is_a else alignment.classes_b
        place = self._place(side)
        end = side.passes[place] if 0 <= place < len(side.passes) else len(side.events)
        found: dict[int, Use] = {}
        stack = [(value, True, -1, -1, value)]
        seen: set[tuple[int, bool]] = set()
        while stack:
            v, carries, first, lost, lost_value = stack.pop()
            if (v, carries) in seen:
                continue
            seen.add((v, carries))
            for number, position in side.consumers.get(v, ()):
                e = side.events[number]
                if number >= end:
                    continue
                if e.kind == WRITE and position == 1:
                    stack.append((e.outs[0], carries, first, lost, lost_value))
                if e.kind != OP:
                    continue
                flag = carries and bool(e.detail[0]) and bool(e.detail[1 + position])
                broken = number if carries and not flag else lost
                broken_value = v if carries and not flag else lost_value
                begins = first if first >= 0 and side.events[first].name not in ARRANGING else number
                for output, out in enumerate(e.outs):
                    if matched(out) and classes.get(out, out) != classes.get(value, value):
                        reached = (place, number, output) in side.cotangents
                        use = Use(number, begins, out, v, flag and reached, flag, broken, broken_value)
                        key = classes.get(out, out)
                        known = found.get(key)
                        if known is None or (use.carries and not known.carries):
                            found[key] = use
                    else:
                        stack.append((out, flag, begins, broken, broken_value))
        return found

    def _cut(self, carrying: Use, cut: Use, cut_in_b: bool) -> Finding:
        """The finding where one program lets no gradient through."""
        side = self.b if cut_in_b else self.a
        who = "B" if cut_in_b else "A"
        number = cut.lost if cut.lost >= 0 else cut.event
        line = number
        e = side.events[number]
        if cut.tracked or cut.lost < 0:
            reason = f"no gradient comes back through this operation in {who}"
        elif e.kind == OP and not e.detail[0] and e.detail[1 + list(e.ins).index(cut.lost_value)]:
            reason = f"{who} does not record this operation, so no gradient comes back through it"
        else:
            reason = f"in {who} this operand carries no gradient"
            detached = self._detached(side, number, cut.lost_value)
            if detached >= 0:
                line = detached
                reason = f"{who} detaches the value here, so no gradient comes back through it"
        if cut_in_b:
            return Finding(reason, carrying.first, number, (carrying.value, cut.value), (carrying.first, line))
        return Finding(reason, number, carrying.first, (cut.value, carrying.value), (line, carrying.first))


@dataclass
class Use:
    """How one value leads to the next that both programs have."""

    event: int
    """The last operation on the way."""
    first: int
    """The first one."""
    value: int
    into: int
    """The operand of the last operation."""
    carries: bool
    """Whether a gradient came back this way in the pass."""
    tracked: bool
    lost: int
    """The operation at which it got lost, if any."""
    lost_value: int
