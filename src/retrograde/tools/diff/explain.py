"""Where two programs part: from the first result that is not the same back to the operations that make it so.

From a loss or parameter the way back goes through what the other program does not have, up to values that both have:
the first operations after those are where the programs part (forward.py). A gradient is followed the other way, from the
parameter towards the loss, to where what arrives still agrees. `RESULTS` are the rules for a gradient that differs, `ONWARDS`
those at each value on that way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from .events import ABSENT, Accumulate, Detach, Event, Operation, Write
from .forward import CLEARED, CUT, NEITHER, Finding, Forward
from .history import aliases, cleared, previous
from .results import GRADIENT, RETURNED, Result, leaf_name
from .rules import Rules
from .side import ARRANGING, Side


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


class Explanation(Forward):
    """Finds why a result differs."""

    def of(self, result: Result) -> Finding:
        """The first operations that make this result differ."""
        if result.kind in (GRADIENT, RETURNED):
            name, found = RESULTS.first(self, result) or ("", None)
            assert found is not None  # the last rule always knows something
            return found.by(name)
        assert result.known is not None
        # Of rows of a parameter, the operation that made the whole is looked for.
        va, vb = (v if v in side.producer else side.made(n) for side, v, n in zip(self.sides, result.known, result.events))
        return self.computed(va, vb)

    def close(self, va: int, vb: int) -> bool:
        """Whether two gradients on their way agree."""
        within = self.alignment.policy.arriving * self.alignment.tolerance(va, vb)
        return self.alignment.distance(va, vb).relative <= within

    def start(self, result: Result) -> tuple[int, int] | None:
        """The parameter's values in both programs before the pass; None where only one program has it."""
        if min(result.leaf) >= 0:
            before = [
                side.value_at(side.record.leaves[leaf if value is None else side.gradient(event).leaf].value, side.end(place))
                for side, leaf, value, event, place in zip(
                    self.sides, result.leaf, result.values, result.events, result.places)
            ]  # fmt: skip
            return before[0], before[1]
        side = self.a if result.leaf[0] >= 0 else self.b
        if side.of(result.leaf) < 0:
            return None
        value = side.record.leaves[side.of(result.leaf)].value
        there = self.alignment.counterpart(side, value)
        return None if there == ABSENT else side.both(value, there)

    def detached(self, side: Side, number: int, value: int) -> int:
        """Where the history of a value was cut off before an event; -1 if it was not."""
        shared = aliases(side, value)
        return next((n for n in range(number - 1, -1, -1)
                     if isinstance(e := side.events[n], Detach) and e.ins[0] in shared), -1)  # fmt: skip

    def uses(self, side: Side, value: int, place: int, skipped: Collection[int]) -> dict[int, Use]:
        """The next values that both programs have after a value, by class, with whether a gradient comes back."""
        end = side.end(place)
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
                    key = side.own(out)
                    if side.matched(out) and key != side.own(value) and key not in skipped:
                        reached = (place, number, output) in side.cotangents
                        use = Use(number, begins, out, v, flag and reached, flag, broken, broken_value)
                        known = found.get(key)
                        if known is None or (use.carries and not known.carries):
                            found[key] = use
                    else:
                        stack.append((out, flag, begins, broken, broken_value))
        return found


class Here:
    """A value of both programs at which gradients differ that arrive in a pass, and what is made of it."""

    def __init__(self, explanation: Explanation, result: Result, values: tuple[int, int]) -> None:
        self._explanation, self.result, self.values = explanation, result, values
        skipped: set[int] = set()
        while True:
            self.uses = tuple(explanation.uses(side, v, place, skipped)
                              for side, v, place in zip(explanation.sides, values, result.places))  # fmt: skip
            inside = {key for key, _, _ in self.shared if any(
                mine.carries and not theirs.tracked and self._comes_back(side.other, theirs)
                for side, mine, theirs in self.ways(key))}  # fmt: skip
            if not inside:
                break
            skipped |= inside

    @property
    def shared(self) -> Iterator[tuple[int, Use, Use]]:
        """The next values that both programs make of this one: what they are known by, and how A and B get there."""
        uses_a, uses_b = self.uses
        return ((key, use, uses_b[key]) for key, use in uses_a.items() if key in uses_b)

    def ways(self, key: int) -> Iterator[tuple[Side, Use, Use]]:
        """For each side, how it and the other one get to a value."""
        return ((side, side.of(self.uses)[key], side.other.of(self.uses)[key]) for side in self._explanation.sides)

    def alone(self, side: Side) -> list[Use]:
        """How only one program goes on, with a gradient that comes back."""
        return [use for key, use in side.of(self.uses).items() if key not in side.other.of(self.uses) and use.carries]

    def oftener(self, side: Side) -> Iterator[Use]:
        """What a program makes of the value more often than the other: how it does so once more."""
        for key, use in side.of(self.uses).items():
            mine, theirs = ([n for n in one.readers(v) if key in map(one.own, one.events[n].outs) and n < one.end(p)]
                            for one, v, p in zip((side, side.other), (side.of(self.values), side.other.of(self.values)),
                                                 (side.of(self.result.places), side.other.of(self.result.places))))  # fmt: skip
            if len(mine) > len(theirs) > 0:
                yield replace(use, first=mine[len(theirs)])

    def _comes_back(self, side: Side, use: Use) -> bool:
        """Whether what is not recorded leads to a value from which a gradient comes back on another way.

        As inside a function with a derivative of its own.
        """
        carried = {key for key, other in side.of(self.uses).items() if other.carries}
        stack, seen = [use.value], set[int]()
        while stack and len(seen) < 64:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            for number in side.readers(v):
                e = side.operation(number)
                if e is not None and not e.recorded:
                    if not carried.isdisjoint(side.own(x) for x in e.outs):
                        return True
                    stack += e.outs
        return False

    def cotangents(self, va: int, vb: int) -> tuple[int, int]:
        """The gradients that arrive at two values."""
        a, b = (side.cotangent(v, p) for side, v, p in zip(self._explanation.sides, (va, vb), self.result.places))
        return a, b

    @functools.cached_property
    def next(self) -> tuple[int, int] | None:
        """The last value made of this one at which gradients differ, too."""
        found: tuple[Use, Use] | None = None
        for _, left, right in self.shared:
            if (left.carries or right.carries) and left.tracked and right.tracked and (
                found is None or left.event > found[0].event
            ):  # fmt: skip
                ga, gb = self.cotangents(left.value, right.value)
                if (ga != gb) if ABSENT in (ga, gb) else not self._explanation.close(ga, gb):
                    found = left, right
        return None if found is None else (found[0].value, found[1].value)


# ------------------------------------------------------------------------------------------ a gradient that differs

RESULTS: Rules[Callable[[Explanation, Result], Finding | None]] = Rules()
"""Why a gradient differs although the forward computation agrees, in the order in which it is asked."""


@RESULTS
def not_cleared(f: Explanation, result: Result) -> Finding | None:
    """What a pass adds is the same, but not what it is added to."""
    if result.kind != GRADIENT or result.known is None:
        return None
    events = [side.events[n] for side, n in zip(f.sides, result.events)]
    had = [isinstance(e, Accumulate) and e.had for e in events]
    added = [e.ins[0] if isinstance(e, Accumulate) else e.outs[0] for e in events]
    if had[0] == had[1] or not f.close(added[0], added[1]):
        return None
    late = f.a if had[0] else f.b
    clean, number, clears = late.other, late.of(result.events), late.other.of(result.events)
    adds = isinstance(clean.events[clears], Accumulate)
    before = previous(late, number)
    left = f"line {late.events[before].line}" if before >= 0 else "before"
    reason = (
        f"{late.name} adds the gradient to the one that is left from {left};"
        f" {clean.name} {'has cleared it' if adds else 'returns it by itself'}"
    )
    lines = late.both(number, cleared(clean, clears) if adds else clears)
    return Finding(reason, result.events, (events[0].outs[0], events[1].outs[0]), lines, CLEARED)


def _passes(f: Explanation) -> str:
    a, b = (len(side.passes) for side in f.sides)
    return "" if a == b else f"A runs {a} backward passes, B {b}"


@RESULTS
def one_pass_more(f: Explanation, result: Result) -> Finding | None:
    """One program runs more backward passes, and only it has this gradient."""
    if result.known is not None or not _passes(f) or -1 in result.leaf:
        return None
    return Finding(f"{_passes(f)}; this is the first that the other has not", _there(result))


def _there(result: Result) -> tuple[int, int]:
    return (result.events[0] if result.values[0] is not None else -1), result.events[1]


@RESULTS
def another_loss(f: Explanation, result: Result) -> Finding | None:
    """The programs run different numbers of passes, and these two begin at different losses."""
    if result.known is None or not _passes(f) or min(result.places) < 0:
        return None
    roots = zip(*(side.roots(place) for side, place in zip(f.sides, result.places)))
    apart = next(((p, q) for p, q in roots if p is not None and q is not None and not f.alignment.agree(p, q)), None)
    if apart is None:
        return None
    found = f.computed(*apart)
    return replace(found, reason=f"{_passes(f)}; from here on they do another thing: {found.reason}")


@RESULTS
def only_one_has_it(f: Explanation, result: Result) -> Finding | None:
    """Only one program has the parameter: the operation that reads it, and what the other has there."""
    if f.start(result) is not None:
        return None
    side = f.b if result.values[0] is None else f.a
    leaf = side.of(result.leaf)
    reason = f"only {side.name} has " + (f"the parameter {leaf_name(side, leaf)}" if leaf >= 0 else "this gradient")
    for number in side.readers(side.record.leaves[leaf].value)[:1] if leaf >= 0 else ():
        return Finding(reason, side.both(number, f.counterpart(side, side.made(number))))
    return Finding(reason, side.both(side.of(result.events), -1))


@RESULTS
def on_the_way_to_the_loss(f: Explanation, result: Result) -> Finding | None:
    """From the parameter, whose gradients differ, to the operations behind which they agree."""
    values = f.start(result)
    seen: set[tuple[int, int]] = set()
    while values is not None and values not in seen:
        seen.add(values)
        here = Here(f, result, values)
        name, found = ONWARDS.first(f, here) or ("", None)
        if isinstance(found, Finding):
            return (found if found.kind else replace(found, kind=CUT, at=here.values)).by(name)
        values = found
    return None


@RESULTS
def not_on_the_way(f: Explanation, result: Result) -> Finding:
    """Gradients on the way agree, or there are none."""
    reason = "what arrives at this parameter differs, although every gradient on the way to it agrees"
    if result.known is None:
        reason = f"no gradient arrives at this parameter in {'A' if result.values[0] is None else 'B'}"
    a, b = (ABSENT if v is None else v for v in result.values)
    return Finding(reason, _there(result), (a, b))


# ------------------------------------------------------------------------------------------ at a value on the way

ONWARDS: Rules[Callable[[Explanation, Here], Finding | tuple[int, int] | None]] = Rules()
"""Why gradients differ that arrive at a value, or the next value to look at, in the order in which it is asked."""


@ONWARDS
def no_gradient_comes_back(f: Explanation, here: Here) -> Finding | None:
    """One program lets no gradient through on a way on which the other does."""
    for key, _, _ in here.shared:
        for side, carrying, other in here.ways(key):
            if carrying.carries and not other.tracked:
                return _cut(f, side.other, other, carrying)
    return None


def _cut(f: Explanation, side: Side, cut: Use, carrying: Use) -> Finding:
    number = cut.lost if cut.lost >= 0 else cut.event
    line, e = number, side.operation(number)
    if cut.tracked or cut.lost < 0:
        reason = f"no gradient comes back through this operation in {side.name}"
    elif e is not None and not e.recorded and e.carries[list(e.ins).index(cut.lost_value)]:
        reason = f"{side.name} does not record this operation, so no gradient comes back through it"
    else:
        reason = f"in {side.name} this operand carries no gradient"
        detached = f.detached(side, number, cut.lost_value)
        if detached >= 0:
            line, reason = detached, f"{side.name} detaches the value here, so no gradient comes back through it"
    events, values = side.both(number, carrying.first), side.both(cut.value, carrying.value)
    return Finding(reason, events, values, side.both(line, carrying.first))


@ONWARDS
def they_differ_further_on(f: Explanation, here: Here) -> tuple[int, int] | None:
    """Gradients differ at something that is made of the value, too."""
    return here.next


@ONWARDS
def a_copy_that_left_the_tape(f: Explanation, here: Here) -> Finding | None:
    """The other program takes the same number out of a tensor and goes on with a copy."""
    for side in f.sides:
        for use in here.alone(side):
            across = side.other
            there = side.there(use.value) if side.is_a else [f.alignment.counterpart(side, use.value)]
            for number in (across.producer.get(v, -1) for v in there):
                e = across.operation(number)
                for position, x in enumerate(e.ins if e is not None else ()):
                    if e is None or x == ABSENT or across.own(x) != side.own(side.of(here.values)) or e.carries[position]:
                        continue
                    reason = f"{across.name} goes on here with a copy of the value that carries no gradient"
                    cut = f.detached(across, number, x)
                    if cut >= 0:
                        number, reason = cut, f"{across.name} detaches the value here, so no gradient comes back through it"
                    return Finding(reason, side.both(use.first, number))
    return None


@ONWARDS
def differentiated_again(f: Explanation, here: Here) -> Finding | None:
    """One program differentiates gradients again that are constants in the other."""
    for side in f.sides:
        across = side.other
        for use in here.alone(side):
            begun = side.within.get(use.first, side.within.get(use.event))
            if begun is None:
                continue
            place = side.passes.index(begun)
            other = next((across.passes[across.of(p)] for p in f.alignment.passes if side.of(p) == place), -1)
            if other >= 0 and side.begins(begun).again and not across.begins(other).again:
                reason = f"{side.name} differentiates these gradients again (create_graph); in {across.name} they are constants"
                return Finding(reason, side.both(begun, other))
    return None


@ONWARDS
def used_differently(f: Explanation, here: Here) -> Finding | None:
    """What is made of the value is not the same in both programs."""
    if not any(here.alone(side) for side in f.sides):
        return None
    uses = ((*here.alone(side), *here.oftener(side), *side.of(here.uses).values()) for side in f.sides)
    ea, eb = (next((use.first for use in of), -1) for of in uses)
    return Finding("the value is used differently, and so is its gradient", (ea, eb))


@ONWARDS
def another_derivative(f: Explanation, here: Here) -> Finding | None:
    """Operations agree and their derivatives do not: in the user's backward, if it is one."""
    pairs = [(left, right) for _, left, right in here.shared if left.carries]
    if not pairs:
        return None
    left, right = max(pairs, key=lambda pair: pair[0].event)
    operands = _between(f, left.first, right.first)
    if operands is not None:
        return f.computed(*operands)
    values = _arriving(f, here, left, right)
    found = Finding("the operations give the same values, their derivatives differ", (left.first, right.first), values)
    inner = [_inside_pass(side, v) for side, v in zip(f.sides, values)]
    if any(inner):
        ea, eb = f.facing([f.entries(side, v) if known else [] for side, v, known in zip(f.sides, values, inner)])
        if ea >= 0 or eb >= 0:
            lines = (ea if ea >= 0 else left.first), (eb if eb >= 0 else right.first)
            return replace(found, lines=lines, reason=f"{found.reason}: what user code does in the backward pass is not the same")
    return found


def _arriving(f: Explanation, here: Here, left: Use, right: Use) -> tuple[int, int]:
    """The gradients to be shown of two operations whose derivatives differ."""
    values = here.cotangents(left.into, right.into)
    if values == NEITHER and here.result.known is not None:  # it arrives at the leaf
        events = (side.events[n] for side, n in zip(f.sides, here.result.events))
        a, b = (e.ins[0] if isinstance(e, Accumulate) else v for e, v in zip(events, here.result.known))
        values = a, b
    if ABSENT in values or not f.same(left.into, right.into):
        starts = here.cotangents(*here.values)
        return starts if ABSENT not in starts else values
    return values


def _between(f: Explanation, ea: int, eb: int) -> tuple[int, int] | None:
    """The operand of one operation that the other program has not, and what the other operation reads instead."""
    events: tuple[Event, Event] = (f.a.events[ea], f.b.events[eb])
    apart = [[v for v in e.ins if v != ABSENT and not f.has(side, v)] for side, e in zip(f.sides, events)]
    if max(map(len, apart)) != 1:
        return None
    for side in f.sides:
        if not side.other.of(apart):
            shape = side.values.shape(side.of(apart)[0])
            others = side.other.of(events).ins
            alike = [v for v in others if v != ABSENT and side.other.values.shape(v) == shape]
            if len(alike) != 1:
                return None
            apart[1 if side.is_a else 0] = alike
    (p,), (q,) = apart
    return (p, q) if f.a.values.size(p) == f.b.values.size(q) else None


def _inside_pass(side: Side, value: int) -> bool:
    """Whether a line other than the one that started the pass computed a gradient: a custom backward, or a hook."""
    number = side.producer.get(value, -1)
    begun = side.within.get(number)
    return begun is not None and not side.same_line(number, begun)
