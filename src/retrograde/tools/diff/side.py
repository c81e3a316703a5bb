"""One record with what the comparison looks up in it: who made a value, who reads it, what belongs to which pass."""

from __future__ import annotations

import bisect

from .events import ABSENT, Accumulate, Clear, Cotangent, Event, Gradient, Operation, Pass, Passed, Update, Write
from .record import Record
from .values import Values

LAYOUT_ONLY = frozenset(("transpose", "reshape", "copy", "broadcast_to", "cast", "view_scatter"))
"""Operations that leave what the elements are as it was."""

ARRANGING = LAYOUT_ONLY | {"getitem"}
"""Operations that compute nothing: they say which elements, and in which order."""


class Side:
    """One record with what the comparison looks up in it."""

    def __init__(self, record: Record) -> None:
        self.record, self.events, self.values = record, list(record.events), Values(record)
        self.original = self.values
        """The values as the program itself has them, where the record is that of a widened run."""
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
        self.again: dict[int, int] = {}
        """Leaves that stand for an earlier one (LeafPairs)."""
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
                    self.within[number] = running[-1]
                for position, value in enumerate(e.ins):
                    if value != ABSENT:
                        self.consumers.setdefault(value, []).append((number, position))
        self.unread = self._unread()
        """The accumulations whose sum in `.grad` is cleared, or the program ends, before anything reads it."""

    def summed(self, leaf: int, place: int) -> float:
        """The norm of the largest gradient at an operation that reads a leaf, in a backward pass."""
        end = self.passes[place] if 0 <= place < len(self.passes) else len(self.events)
        largest = 0.0
        stack = [self.value_at(self.record.leaves[leaf].value, end)]
        while stack:
            for number, _ in self.consumers.get(stack.pop(), ()):
                e = self.events[number]
                if not isinstance(e, Operation) or number >= end:
                    continue
                for output, value in enumerate(e.outs):
                    gradient = self.cotangents.get((place, number, output))
                    if gradient is not None:
                        largest = max(largest, self.values.norm(gradient))
                        if e.name in LAYOUT_ONLY:
                            stack.append(value)
        return largest

    def value_at(self, value: int, end: int) -> int:
        """What a leaf's memory holds at an event, from its value when it was first seen."""
        chain = self._chains.get(value)
        if chain is None:
            chain = self._chains[value] = ([], [value])
            while True:
                later = [n for n, position in self.consumers.get(chain[1][-1], ())
                         if position == 0 and isinstance(self.events[n], (Write, Update))]  # fmt: skip
                if not later:
                    break
                chain[0].append(later[0])
                chain[1].append(self.events[later[0]].outs[0])
        return chain[1][bisect.bisect_left(chain[0], end)]

    def roots(self, begun: int) -> list[int | None]:
        """The values at which a backward pass begins; None for leaves and what was not recorded."""
        return [self.events[e].outs[i] if e >= 0 else None for e, i in self.begins(begun).roots]

    def same_line(self, i: int, j: int) -> bool:
        """Whether two events are of one line."""
        x, y = self.events[i], self.events[j]
        return (x.file, x.line) == (y.file, y.line)

    def begins(self, number: int) -> Pass:
        """The event at which a backward pass begins."""
        e = self.events[number]
        assert isinstance(e, Pass)
        return e

    def gradient(self, number: int) -> Gradient:
        """The event at which a leaf's gradient is known."""
        e = self.events[number]
        assert isinstance(e, Gradient)
        return e

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

    def gradients(self) -> dict[int, list[int]]:
        """leaf (-1: no leaf) -> the events at which its gradients arrive or are returned."""
        found: dict[int, list[int]] = {}
        for number, e in enumerate(self.events):
            if isinstance(e, Gradient):
                found.setdefault(self.again.get(e.leaf, e.leaf), []).append(number)
        return found

    def place(self, number: int) -> int:
        """In which backward pass a gradient's event takes place."""
        return self.pass_of.get(self.gradient(number).run, -1)

    def maker(self, value: int) -> Event | None:
        """The event that made a value."""
        number = self.producer.get(value)
        return None if number is None else self.events[number]
