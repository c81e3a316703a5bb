"""Where two programs part: from the first result that is not the same back to the operations that make it so.

From a loss or parameter the way back goes through what the other program does not have, up to values that both have:
the first operations after those are where the programs part. A gradient is followed the other way, from the parameter
towards the loss, to where what arrives still agrees.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .align import Alignment
from .events import ABSENT, Accumulate, Detach, Event, Operation, Write
from .forward import CLEARED, CUT, Finding, Forward
from .history import aliases, cleared, previous
from .results import GRADIENT, RETURNED, Result, leaf_name
from .side import ARRANGING, Side


class Explanation(Forward):
    """Finds why a result differs."""

    def __init__(self, alignment: Alignment) -> None:
        super().__init__(alignment)
        self._places = (-1, -1)
        """The backward passes whose gradients are being followed."""
        self._at = (ABSENT, ABSENT)
        """The values at which they are."""

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
        return self.computed(va, vb)

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
        if passes[0] != passes[1] and result.a is not None and result.b is not None:
            roots = self._different_roots(*result.places)
            if roots is not None:
                finding = self.computed(*roots)
                counts = f"A runs {passes[0]} backward passes, B {passes[1]}"
                finding.reason = f"{counts}; from here on they do another thing: {finding.reason}"
                return finding
        start = self._start(result)
        if start is None:
            return self._alone(result)
        self._places = result.places
        self._at = start
        found = self._towards_loss(*start, result)
        if found is not None:
            if not found.kind:
                found.kind, found.at = CUT, self._at
            return found
        ends = (result.a if result.a is not None else ABSENT, result.b if result.b is not None else ABSENT)
        reason = "what arrives at this parameter differs, although every gradient on the way to it agrees"
        if result.a is None or result.b is None:
            reason = f"no gradient arrives at this parameter in {'A' if result.a is None else 'B'}"
        return Finding(reason, result.event_a if result.a is not None else -1, result.event_b, ends)

    def _different_roots(self, place_a: int, place_b: int) -> tuple[int, int] | None:
        """The losses at which two passes begin, if they are not the same."""
        if min(place_a, place_b) < 0:
            return None
        pairs = zip(self.a.roots(self.a.passes[place_a]), self.b.roots(self.b.passes[place_b]))
        return next(((p, q) for p, q in pairs if p is not None and q is not None and not self.alignment.agree(p, q)), None)

    def _alone(self, result: Result) -> Finding:
        """The finding where only one program has a parameter: the operation that reads it, and what the other has there."""
        in_a = result.a is not None
        side, leaf = (self.a, result.leaf[0]) if in_a else (self.b, result.leaf[1])
        own = result.event_a if in_a else result.event_b
        name = f"the parameter {leaf_name(side, leaf)}" if leaf >= 0 else "this gradient"
        reason = f"only {'A' if in_a else 'B'} has {name}"
        if leaf >= 0:
            readers = side.consumers.get(side.record.leaves[leaf].value, ())
            number = next((n for n, _ in readers if isinstance(side.events[n], Operation)), -1)
            if number >= 0:
                there = self._counterpart(side.events[number].outs[0], in_a)
                return Finding(reason, number if in_a else there, there if in_a else number)
        return Finding(reason, own if in_a else -1, -1 if in_a else own)

    def _accumulated(self, result: Result) -> Finding | None:
        """The finding where what a pass adds is the same, but not what it is added to."""
        x, y = self.a.events[result.event_a], self.b.events[result.event_b]
        had_a, had_b = (isinstance(e, Accumulate) and e.had for e in (x, y))
        p, q = (e.ins[0] if isinstance(e, Accumulate) else e.outs[0] for e in (x, y))
        if had_a == had_b or self.alignment.distance(p, q).relative > self._slack(p, q):
            return None
        late, clean, is_a = (self.a, self.b, True) if had_a else (self.b, self.a, False)
        number_late, number_clean = (
            (result.event_a, result.event_b) if is_a else (result.event_b, result.event_a)
        )  # fmt: skip
        clears = cleared(clean, number_clean) if isinstance(clean.events[number_clean], Accumulate) else number_clean
        who, other = ("A", "B") if is_a else ("B", "A")
        before = previous(late, number_late)
        reason = (
            f"{who} adds the gradient to the one that is left from"
            f" {'line ' + str(late.events[before].line) if before >= 0 else 'before'}; {other} "
            + ("has cleared it" if isinstance(clean.events[number_clean], Accumulate) else "returns it by itself")
        )
        lines = (number_late, clears) if is_a else (clears, number_late)
        return Finding(reason, result.event_a, result.event_b, (x.outs[0], y.outs[0]), lines, CLEARED)

    def _slack(self, va: int, vb: int) -> float:
        return self.alignment.tolerance(va, vb) * 4

    def _start(self, result: Result) -> tuple[int, int] | None:
        """The parameter's values in both programs before the pass."""
        i, j = result.leaf
        alignment = self.alignment
        if i >= 0 and j >= 0:
            ends = [s.passes[p] if 0 <= p < len(s.passes) else len(s.events)
                    for s, p in zip((self.a, self.b), result.places)]  # fmt: skip
            i = self.a.gradient(result.event_a).leaf if result.a is not None else i
            j = self.b.gradient(result.event_b).leaf if result.b is not None else j
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
            self._at = va, vb
            uses_a, uses_b = self._uses_in_sight(va, vb)
            onwards = None
            for key in [k for k in uses_a if k in uses_b]:
                left, right = uses_a[key], uses_b[key]
                if left.carries and not right.tracked:
                    return self._cut(left, right, True)
                if right.carries and not left.tracked:
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
                again = self._not_again(only_a, only_b)
                if again is not None:
                    return again
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
                    p, q = (e.ins[0] if isinstance(e, Accumulate) else v for e, v in ends)
                    values = (p, q)
                if values[0] == ABSENT or values[1] == ABSENT or not self.same(left.into, right.into):
                    starts = (self._cotangent(self.a, va), self._cotangent(self.b, vb))
                    values = starts if ABSENT not in starts else values
                return self._derivative(left, right, values)
            va, vb = onwards[0].value, onwards[1].value
        return None

    def _uses_in_sight(self, va: int, vb: int) -> tuple[dict[int, Use], dict[int, Use]]:
        """The uses of a value in both programs, without the values inside a function with a derivative of its own."""
        skipped: set[int] = set()
        while True:
            uses_a, uses_b = self._uses(self.a, va, True, skipped), self._uses(self.b, vb, False, skipped)
            inside = {
                k for k in uses_a if k in uses_b and (
                    (uses_a[k].carries and not uses_b[k].tracked and self._comes_back(uses_b[k], uses_b, False))
                    or (uses_b[k].carries and not uses_a[k].tracked and self._comes_back(uses_a[k], uses_a, True))
                )
            }  # fmt: skip
            if not inside:
                return uses_a, uses_b
            skipped |= inside

    def _not_again(self, only_a: list[Use], only_b: list[Use]) -> Finding | None:
        """The finding where one program differentiates gradients again that are constants in the other."""
        for uses, is_a in ((only_a, True), (only_b, False)):
            side, across = (self.a, self.b) if is_a else (self.b, self.a)
            for use in uses:
                begun = side.within.get(use.first, side.within.get(use.event))
                if begun is None:
                    continue
                place = side.passes.index(begun)
                pairs = [p[::1 if is_a else -1] for p in self.alignment.passes]
                other = next((across.passes[q] for p, q in pairs if p == place), -1)
                if other >= 0 and side.begins(begun).again and not across.begins(other).again:
                    who, there = ("A", "B") if is_a else ("B", "A")
                    reason = f"{who} differentiates these gradients again (create_graph); in {there} they are constants"
                    return Finding(reason, begun if is_a else other, other if is_a else begun)
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
                if isinstance(e, Operation) and not e.recorded:
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
            e = across.events[number] if number >= 0 else None
            if not isinstance(e, Operation):
                continue
            for position, x in enumerate(e.ins):
                if x != ABSENT and classes.get(x, x) == mine and not e.carries[position]:
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
            if isinstance(e, Detach) and e.ins[0] in shared:
                return n
        return -1

    def _derivative(self, left: Use, right: Use, values: tuple[int, int]) -> Finding:
        """The finding where operations agree and their derivatives do not: in the user's backward, if it is one."""
        x, y = self.a.events[left.first], self.b.events[right.first]
        apart = [[v for v in e.ins if v != ABSENT and not self._has(v, is_a)] for e, is_a in ((x, True), (y, False))]
        if len(apart[0]) <= 1 and len(apart[1]) <= 1 and any(apart):
            operands = self._between(x, y, apart)
            if operands is not None:
                return self.computed(*operands)
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

    def _between(self, x: Event, y: Event, apart: list[list[int]]) -> tuple[int, int] | None:
        """The operand of one operation that the other program has not, and what the other operation reads instead."""
        for mine, others, side, across in ((0, y.ins, self.a, self.b), (1, x.ins, self.b, self.a)):
            if not apart[1 - mine]:
                shape = side.values.shape(apart[mine][0])
                alike = [v for v in others if v != ABSENT and across.values.shape(v) == shape]
                if len(alike) != 1:
                    return None
                apart[1 - mine] = alike
        (p,), (q,) = apart
        return (p, q) if self.a.values.size(p) == self.b.values.size(q) else None

    def _inside_pass(self, side: Side, value: int) -> bool:
        """Whether a line other than the one that started the pass computed a gradient: a custom backward, or a hook."""
        number = side.producer.get(value, -1)
        begun = side.within.get(number)
        return begun is not None and not side.same_line(number, begun)

    def _cotangent(self, side: Side, value: int) -> int:
        number = side.producer.get(value, -1)
        if number < 0 or not isinstance(side.events[number], Operation):
            return ABSENT
        return side.cotangents.get((self._place(side), number, list(side.events[number].outs).index(value)), ABSENT)

    def _gradients_differ(self, left: Use, right: Use) -> bool:
        ga, gb = self._cotangent(self.a, left.value), self._cotangent(self.b, right.value)
        if ga == ABSENT or gb == ABSENT:
            return ga != gb
        return self.alignment.distance(ga, gb).relative > self._slack(ga, gb)

    def _uses(self, side: Side, value: int, is_a: bool, skipped: Collection[int]) -> dict[int, Use]:
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
                if isinstance(e, Write) and position == 1:
                    stack.append((e.outs[0], carries, first, lost, lost_value))
                if not isinstance(e, Operation):
                    continue
                flag = carries and e.recorded and e.carries[position]
                broken = number if carries and not flag else lost
                broken_value = v if carries and not flag else lost_value
                begins = first if first >= 0 and side.events[first].name not in ARRANGING else number
                for output, out in enumerate(e.outs):
                    key = classes.get(out, out)
                    if matched(out) and key != classes.get(value, value) and key not in skipped:
                        reached = (place, number, output) in side.cotangents
                        use = Use(number, begins, out, v, flag and reached, flag, broken, broken_value)
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
        elif isinstance(e, Operation) and not e.recorded and e.carries[list(e.ins).index(cut.lost_value)]:
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
