"""Which difference that is known a finding belongs to: one mistake shows at several places.

A module with another epsilon is called at two lines; an optimiser takes a step for each parameter; the derivative of what is
another operation is another one, too. `BELONGINGS` are the rules that say so, asked with what has been found by then. Called by
onward.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .align import Alignment
from .answer import Difference
from .events import Cotangent, Event, Gradient, Operation, Update, WithParameters
from .forward import CUT, Finding
from .history import operands
from .replay import Changes
from .rules import Rules
from .side import Side

Line = tuple[bool, str, int]
"""Whether it is A's, file, line."""

CERTAIN = frozenset(("no gradient comes back", "a copy that left the tape", "differentiated again"))
"""Rules that find where a program cuts a gradient off itself: that does not come of something else at one of its lines."""


@dataclass
class Apart:
    """One difference: how it was first seen, and what mends it."""

    difference: Difference
    changes: Changes
    identity: object
    names: tuple[str, str]
    """What the operations of A and B are called, "" where there is none."""
    leaves: tuple[frozenset[int], frozenset[int]]
    """The leaves that these read, as A has them."""
    times: int = 1
    """At how many places of the records it was met."""
    lines: set[Line] = field(default_factory=set)
    """The lines that it has to do with."""
    pairs: set[tuple[Line, ...]] = field(default_factory=set)
    """The lines of A and B at which it was named."""
    options: set[object] = field(default_factory=set)
    """Options that differ there: which, and A's and B's."""


@dataclass(frozen=True)
class Found:
    """A finding with what is asked of it here."""

    alignment: Alignment
    finding: Finding

    @functools.cached_property
    def identity(self) -> object:
        """B's line and operation, and A's operation; A's line where B has none."""
        at_a, at_b = (_at(side, n) for side, n in zip(self.alignment.sides, self.finding.named()))
        if at_b is None:
            return at_a, None
        return (None if at_a is None else at_a[-1]), at_b

    @functools.cached_property
    def pair(self) -> tuple[Line, ...]:
        """The lines that are named."""
        return lines_of(zip(self.alignment.sides, self.finding.named()))

    @functools.cached_property
    def events(self) -> list[tuple[Side, Event]]:
        """The events of A and B, where both have one."""
        pairs = [(side, side.events[n]) for side, n in zip(self.alignment.sides, self.finding.events) if n >= 0]
        return pairs if len(pairs) == 2 else []

    @functools.cached_property
    def names(self) -> tuple[str, str]:
        """What the operations of A and B are called, "" where there is none."""
        a, b = (side.events[n].name if n >= 0 else "" for side, n in zip(self.alignment.sides, self.finding.events))
        return a, b

    @functools.cached_property
    def leaves(self) -> tuple[frozenset[int], frozenset[int]]:
        """The leaves that these read, as A has them."""
        pairs = {j: i for i, j in self.alignment.leaves.pairs}
        a, b = (_read(side, n) for side, n in zip(self.alignment.sides, self.finding.events))
        return frozenset(a), frozenset(pairs[j] for j in b if j in pairs)

    @functools.cached_property
    def options(self) -> set[object]:
        """The options, numbers with a fraction, in which an operation of A and B differ."""
        mine, theirs = (
            e.given if isinstance(e, WithParameters) else None for _, e in self.events or ((None, None),) * 2
        )
        if mine is None or theirs is None:
            return set()
        return {(key, x, theirs[key]) for key, x in mine.items()
                if isinstance(x, float) and isinstance(theirs.get(key), float) and x != theirs[key]}  # fmt: skip


def _at(side: Side, number: int) -> tuple[str, int, str] | None:
    if number < 0:
        return None
    e = side.events[number]
    return (side.record.files[e.file] if e.file < len(side.record.files) else "", e.line, e.name)


def _read(side: Side, number: int) -> list[int]:
    """The leaves that an event reads."""
    ins = side.events[number].ins if number >= 0 else ()
    return [n for n, leaf in enumerate(side.record.leaves) if ins and side.value_at(leaf.value, number) in ins]


def lines_of(events: Iterable[tuple[Side, int]]) -> tuple[Line, ...]:
    """The lines of some events, without those that are none (-1)."""
    return tuple((side.is_a, *at[:2]) for side, n in events if (at := _at(side, n)) is not None)


# ------------------------------------------------------------------------------------------ the rules

BELONGINGS: Rules[Callable[[Apart, Found], bool | None]] = Rules()
"""Why a finding belongs to a difference that is known, in the order in which it is asked of all of these."""


@BELONGINGS
def same_operations(one: Apart, found: Found) -> bool | None:
    """The same operations at the same line."""
    return one.identity == found.identity or None


@BELONGINGS
def same_option(one: Apart, found: Found) -> bool | None:
    """The same option, a number, differs in the same operation elsewhere, or in another of the same line: of one module."""
    shared = not one.options.isdisjoint(found.options)
    return (shared and (one.names == found.names or found.pair in one.pairs)) or None


@BELONGINGS
def same_step(one: Apart, found: Found) -> bool | None:
    """What the same lines make of another gradient, or in the step of another parameter."""
    steps = len(found.events) == 2 and all(_follows_a_gradient(side, e) for side, e in found.events)
    return (steps and found.pair in one.pairs) or None


def _follows_a_gradient(side: Side, e: Event) -> bool:
    """Whether an event makes something of a leaf's gradient, outside of what is differentiated."""
    stack, seen = [e], 0
    while stack and seen < 64:
        e = stack.pop()
        seen += 1
        if isinstance(e, (Gradient, Update)):
            return True
        if not (isinstance(e, Operation) and e.recorded):
            stack += [maker for v in operands(e) if (maker := side.maker(v)) is not None]
    return False


@BELONGINGS
def its_derivative(one: Apart, found: Found) -> bool | None:
    """The derivatives of operations that differ, where they are operations themselves, to be differentiated again."""
    pulled = [(side, _pulled(side, n)) for side, n in zip(found.alignment.sides, found.finding.events)]
    return (all(n >= 0 for _, n in pulled) and one.lines.issuperset(lines_of(pulled))) or None


def _pulled(side: Side, number: int) -> int:
    """The operation of whose derivative an event in a backward pass is a part; -1 for others."""
    begun = side.within.get(number, -1)
    if number < 0 or begun < 0:
        return -1
    run = side.begins(begun).run
    return next((e.operation for n in range(number - 1, begun, -1)
                 if isinstance(e := side.events[n], Cotangent) and e.run == run), -1)  # fmt: skip


@BELONGINGS
def what_comes_back(one: Apart, found: Found) -> bool | None:
    """A gradient that comes back through operations that are known to differ."""
    if found.finding.kind != CUT:
        return None
    certain = not CERTAIN.isdisjoint(found.finding.rules)
    return (one.lines.issuperset(found.pair) if certain else not one.lines.isdisjoint(found.pair)) or None


@BELONGINGS
def moved(one: Apart, found: Found) -> bool | None:
    """An operation on parameters that one program has at another place than the other."""
    for mine, theirs in ((0, 1), (1, 0)):
        name = one.names[mine]
        if name and name == found.names[theirs] and name not in (one.names[theirs], found.names[mine]) and (
            one.leaves[mine] & found.leaves[theirs]
        ):  # fmt: skip
            return True
    return None


THEMSELVES = (same_option, moved)
"""The rules that find the same mistake at another line, and not what comes of it."""
