"""One record with what the comparison looks up in it: who made a value, who reads it, what belongs to which pass, and what the
other program has of it."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from .events import (
    ABSENT,
    Accumulate,
    Clear,
    Cotangent,
    Event,
    Gave,
    Gradient,
    Operation,
    Pass,
    Passed,
    Source,
    Update,
    Write,
)
from .record import Record
from .values import Values

T = TypeVar("T")

LAYOUT_ONLY = frozenset(("transpose", "reshape", "copy", "broadcast_to", "cast", "view_scatter"))
"""Operations that leave what the elements are as it was."""

ARRANGING = (LAYOUT_ONLY | {"getitem"}) - {"view_scatter"}
"""Operations that compute nothing: they say which elements, and in which order."""


class Side:
    """One record with what the comparison looks up in it. `other` is the record that it is compared with."""

    other: Side

    def __init__(self, record: Record, is_a: bool, again: Mapping[int, int], original: Record | None = None) -> None:
        """again: leaves that stand for an earlier one. original: the program's own record where this is one of a widened run."""
        self.record, self.events, self.values = record, list(record.events), Values(record)
        self.is_a, self.name = is_a, "A" if is_a else "B"
        self.original = self.values if original is None else Values(original)
        """The values as the program itself has them."""
        self.classes: Mapping[int, int] = {}
        """Value -> the first value of A that is the same; for B, a negative number of its own where there is none."""
        self.members: Mapping[int, Sequence[int]] = {}
        """Such a class -> the values of this side in it."""
        self.covered: Collection[int] = frozenset()
        """Values that the other program has in parts."""
        self.producer: dict[int, int] = {}
        """value -> the event that made it."""
        self.consumers: dict[int, list[tuple[int, int]]] = {}
        """value -> the operations and updates that read it, with the position."""
        self.passes: list[int] = []
        """The events at which backward passes begin."""
        self.pass_of: dict[int, int] = {}
        """The engine's number of a pass -> its place in `passes`."""
        self.cotangents: dict[tuple[int, int, int], int] = {}
        """(place of the pass, operation, output) -> gradient."""
        self._again = again
        self._chains: dict[int, tuple[list[int], list[int]]] = {}
        """A value in memory -> the events that have changed that memory, and what it held before and after each."""
        self.operations = 0
        self.within: dict[int, int] = {}
        """The operations that took place inside a backward pass -> the event at which that began."""
        running: list[int] = []
        for number, e in enumerate(record.events):
            if isinstance(e, Cotangent):
                self.cotangents[self.pass_of.get(e.run, -1), e.operation, e.output] = e.outs[0]
                continue
            if isinstance(e, Pass):
                self.pass_of[e.run] = len(self.passes)
                self.passes.append(number)
                running.append(number)
                continue
            if isinstance(e, Passed):
                running.pop()
                continue
            for value in e.outs:
                self.producer.setdefault(value, number)
            if isinstance(e, (Operation, Update, Write)):
                self.operations += not isinstance(e, Write)
                if running:
                    self.within[number] = begun = running[-1]
                    if isinstance(e, Operation) and e.recorded and not self.begins(begun).again:
                        self.events[begun] = replace(self.begins(begun), again=True)  # on a tape around it, as in torch.func
                for position, value in enumerate(e.ins):
                    if value != ABSENT:
                        self.consumers.setdefault(value, []).append((number, position))
        self.unread = self._unread()
        """The accumulations whose sum in `.grad` is cleared, or the program ends, before anything reads it."""

    # ------------------------------------------------------------------------------------------ the other side

    def both(self, mine: T, theirs: T) -> tuple[T, T]:
        """A's, then B's."""
        return (mine, theirs) if self.is_a else (theirs, mine)

    def of(self, pair: Sequence[T]) -> T:
        """This side's of A's and B's."""
        return pair[0 if self.is_a else 1]

    def matched(self, value: int) -> bool:
        """Whether the other program has this value."""
        known = self.classes.get(value)
        return (known is not None and known in self.other.members) or value in self.covered

    def own(self, value: int) -> int:
        """What a value is known by on both sides."""
        return self.classes.get(value, value)

    def there(self, value: int) -> Sequence[int]:
        """The values of the other program that are the same."""
        return self.other.members.get(self.own(value), ())

    # ------------------------------------------------------------------------------------------ events

    def maker(self, value: int) -> Event | None:
        """The event that made a value."""
        number = self.producer.get(value)
        return None if number is None else self.events[number]

    def operation(self, number: int) -> Operation | None:
        """An event, if it is an operation; None for another, and for no event (-1)."""
        e = self.events[number] if number >= 0 else None
        return e if isinstance(e, Operation) else None

    def made(self, number: int) -> int:
        """The first value that an event makes; ABSENT for no event (-1) or one that makes none."""
        return self.events[number].outs[0] if number >= 0 and self.events[number].outs else ABSENT

    def output(self, value: int) -> tuple[int, int]:
        """The event that made a value, and which of its results it is; -1 twice where there is none."""
        number = self.producer.get(value, -1)
        outs = list(self.events[number].outs) if number >= 0 else []
        return (number, outs.index(value)) if value in outs else (-1, -1)

    def readers(self, value: int) -> list[int]:
        """The operations that read a value."""
        return [n for n, _ in self.consumers.get(value, ()) if isinstance(self.events[n], Operation)]

    def same_line(self, i: int, j: int) -> bool:
        """Whether two events are of one line."""
        x, y = self.events[i], self.events[j]
        return (x.file, x.line) == (y.file, y.line)

    # ------------------------------------------------------------------------------------------ memory and backward passes

    def value_at(self, value: int, end: int) -> int:
        """What a leaf's memory holds at an event, from its value when it was first seen."""
        chain = self._chains.get(value)
        if chain is None:
            chain = self._chains[value] = ([], [value])
            while (n := self._changed_by(chain[1][-1])) >= 0:
                chain[0].append(n)
                chain[1].append(self.events[n].outs[0])
        return chain[1][bisect.bisect_left(chain[0], end)]

    def _changed_by(self, value: int) -> int:
        return next((n for n, position in self.consumers.get(value, ())
                     if position == 0 and isinstance(self.events[n], (Write, Update))), -1)  # fmt: skip

    @functools.cached_property
    def changes(self) -> tuple[dict[int, list[int]], list[list[int]]]:
        """What each leaf's memory holds after each change since it was first seen, and the same of other memory that no
        operation made and that lives on (buffers)."""
        leaf_of = {leaf.value: number for number, leaf in enumerate(self.record.leaves)}
        leaves: dict[int, list[int]] = {}
        open_chains: dict[int, list[int]] = {}
        for e in self.events:
            if not isinstance(e, (Write, Update)):
                continue
            before, after = e.ins[0], e.outs[0]
            leaf = leaf_of.get(before)
            if leaf is not None:
                leaf_of[after] = leaf
                leaves.setdefault(leaf, []).append(after)
                continue
            if isinstance(e, Update):
                continue
            chain = open_chains.pop(before, None)
            if chain is None:
                maker = self.maker(before)
                if before != ABSENT and maker is not None and not isinstance(maker, Source):
                    continue
                chain = []
            if chain or not self._fills(e):
                chain.append(after)
            open_chains[after] = chain
        # Memory that became a leaf later was only being filled; so was what was written once before any backward pass.
        first_pass, initial = self.end(0), {leaf.value for leaf in self.record.leaves}

        def is_buffer(chain: list[int]) -> bool:
            if not chain or initial.intersection(chain):
                return False
            return len(chain) > 1 or self.producer[chain[0]] > first_pass or not self.consumers.get(chain[0])

        return leaves, [chain for chain in open_chains.values() if is_buffer(chain)]

    def _fills(self, e: Write) -> bool:
        """Whether a write only puts something new into memory, whatever it held."""
        if len(e.ins) == 1:
            return e.ins[0] == ABSENT
        maker = self.maker(e.ins[1])
        return not isinstance(maker, Operation) or maker.name == "fill" or e.ins[0] not in maker.ins

    def begins(self, number: int) -> Pass:
        """The event at which a backward pass begins."""
        e = self.events[number]
        assert isinstance(e, Pass)
        return e

    def end(self, place: int) -> int:
        """The event at which a backward pass begins, by its place; the end of the program where there is none."""
        return self.passes[place] if 0 <= place < len(self.passes) else len(self.events)

    def roots(self, place: int) -> list[int | None]:
        """The values at which a backward pass begins; None for leaves and what was not recorded."""
        roots = self.begins(self.passes[place]).roots
        return [self.events[e].outs[i] if e >= 0 else None for e, i in roots]

    def gradient(self, number: int) -> Gradient:
        """The event at which a leaf's gradient is known."""
        e = self.events[number]
        assert isinstance(e, Gradient)
        return e

    def place(self, number: int) -> int:
        """In which backward pass a gradient's event takes place."""
        return self.pass_of.get(self.gradient(number).run, -1)

    def gradients(self) -> dict[int, list[int]]:
        """leaf (-1: no leaf) -> the events at which its gradients arrive or are returned."""
        return self._gradients

    @functools.cached_property
    def _gradients(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, e in enumerate(self.events):
            if isinstance(e, Gradient):
                found.setdefault(self._again.get(e.leaf, e.leaf), []).append(number)
        return found

    def cotangent(self, value: int, place: int) -> int:
        """The gradient that arrives at an operation's result in a backward pass; ABSENT where none does."""
        number, output = self.output(value)
        return self.cotangents.get((place, number, output), ABSENT) if self.operation(number) is not None else ABSENT

    def is_frozen(self, leaf: int, place: int) -> bool:
        """Whether a leaf is read for a backward pass, and by nothing that would give it a gradient."""
        begun, end = self.passes[place - 1] if place else -1, self.passes[place]
        value = self.value_at(self.record.leaves[leaf].value, end)
        reads = [e.carries[position] for n, position in self.consumers.get(value, ())
                 if begun < n < end and isinstance(e := self.events[n], Operation)]  # fmt: skip
        return bool(reads) and not any(reads)

    def is_renewed(self, leaf: int) -> bool:
        """Whether later leaves count as this one, computed from it."""
        return leaf in self._again.values()

    def gave(self, place: int, operation: int) -> Sequence[int]:
        """What the user's own rule of an operation gives for its operands in a backward pass; empty for any other rule."""
        return next((e.ins for e in self.events if isinstance(e, Gave) and e.operation == operation
                     and self.pass_of.get(e.run, -1) == place), ())  # fmt: skip

    def summed(self, leaf: int, place: int) -> float:
        """The norm of the largest gradient at an operation that reads a leaf, in a backward pass."""
        end, largest = self.end(place), 0.0
        stack = [self.value_at(self.record.leaves[leaf].value, end)]
        while stack:
            for number in self.readers(stack.pop()):
                e = self.events[number]
                if number >= end:
                    continue
                for output, value in enumerate(e.outs):
                    gradient = self.cotangents.get((place, number, output))
                    if gradient is not None:
                        largest = max(largest, self.values.norm(gradient))
                        if e.name in LAYOUT_ONLY:
                            stack.append(value)
        return largest

    def _unread(self) -> set[int]:
        if not self.operations:
            return self._unread_by_changes()
        latest: dict[int, int] = {}
        holders: dict[int, int] = {}
        unread: list[int] = []
        read: set[int] = set()
        for number, e in enumerate(self.events):
            leaf = -1
            if isinstance(e, Accumulate):
                latest[e.leaf] = number
                holders[e.outs[0]] = e.leaf
                if any(position or not isinstance(self.events[n], Write) for n, position in self.consumers.get(e.outs[0], ())):
                    read.add(e.leaf)
            elif isinstance(e, Clear):
                leaf = e.leaf
            elif isinstance(e, Write) and e.ins[0] in holders and self.values.norm(e.outs[0]) == 0.0:
                leaf = holders[e.ins[0]]
            before = latest.pop(leaf, -1)
            if before >= 0 and all(n == number for n, _ in self.consumers.get(self.events[before].outs[0], ())):
                unread.append(before)
        unread += [number for number in latest.values() if self.events[number].outs[0] not in self.consumers]
        # Where no operation reads the gradients of a parameter at all, the program prints them.
        return {number for number in unread if self.gradient(number).leaf in read}

    def _unread_by_changes(self) -> set[int]:
        """The same where only gradients and the changes of leaves are known: those that no change follows."""
        leaf_of = {leaf.value: number for number, leaf in enumerate(self.record.leaves)}
        latest: dict[int, int] = {}
        unread: list[int] = []
        changed: set[int] = set()
        for number, e in enumerate(self.events):
            if isinstance(e, Write) and e.ins[0] in leaf_of:
                leaf = leaf_of[e.outs[0]] = leaf_of[e.ins[0]]
                latest.pop(leaf, None)
                changed.add(leaf)
            elif isinstance(e, Accumulate):
                before = latest.get(e.leaf, -1)
                if before >= 0:
                    unread.append(before)
                latest[e.leaf] = number
        return {n for n in (*unread, *latest.values()) if self.gradient(n).leaf in changed}
