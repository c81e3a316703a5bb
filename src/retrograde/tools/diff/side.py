"""One record with what the comparison looks up in it: who made a value, who reads it, what belongs to which pass."""

from __future__ import annotations

import bisect

from .kinds import ACCUMULATE, CLEAR, COTANGENT, OP, PASS, PASSED, REREAD, RESULT, SOURCE, UPDATE, WRITE
from .record import ABSENT, Event, Record
from .values import Values

MAKERS = (OP, SOURCE, WRITE, REREAD, UPDATE, ACCUMULATE, RESULT)
"""The events whose results are values of the program (gradients on their way are not)."""

GRADIENTS = (ACCUMULATE, RESULT)


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
            kind = e.kind
            if kind == COTANGENT:
                run, operation, output = e.detail
                self.cotangents[self.pass_of.get(run, -1), operation, output] = e.outs[0]
                continue
            if kind == PASS:
                self.pass_of[e.detail[0]] = len(self.passes)
                self.passes.append(number)
                running.append(number)
                continue
            if kind == PASSED:
                running.pop()
                continue
            for value in e.outs:
                self.producer.setdefault(value, number)
            if kind in (OP, UPDATE, WRITE):
                self.operations += kind != WRITE
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
                if e.kind != OP or number >= end:
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
                         if position == 0 and self.events[n].kind in (WRITE, UPDATE)]  # fmt: skip
                if not later:
                    break
                chain[0].append(later[0])
                chain[1].append(self.events[later[0]].outs[0])
        return chain[1][bisect.bisect_left(chain[0], end)]

    def roots(self, begun: int) -> list[int | None]:
        """The values at which a backward pass begins; None for leaves and what was not recorded."""
        _, _, *pairs = self.events[begun].detail
        return [self.events[e].outs[i] if e >= 0 else None for e, i in zip(pairs[::2], pairs[1::2])]

    def _unread(self) -> set[int]:
        if not self.operations:
            return self._unread_by_changes()
        latest: dict[int, int] = {}
        holders: dict[int, int] = {}
        unread: list[int] = []
        read: set[int] = set()
        for number, e in enumerate(self.events):
            leaf = -1
            if e.kind == ACCUMULATE:
                latest[e.detail[1]] = number
                holders[e.outs[0]] = e.detail[1]
                if any(position or self.events[n].kind != WRITE for n, position in self.consumers.get(e.outs[0], ())):
                    read.add(e.detail[1])
            elif e.kind == CLEAR:
                leaf = e.detail[0]
            elif e.kind == WRITE and e.ins[0] in holders and self.values.norm(e.outs[0]) == 0.0:
                leaf = holders[e.ins[0]]
            before = latest.pop(leaf, -1)
            if before >= 0 and all(n == number for n, _ in self.consumers.get(self.events[before].outs[0], ())):
                unread.append(before)
        unread += [number for number in latest.values() if self.events[number].outs[0] not in self.consumers]
        # Where no operation reads the gradients of a parameter at all, the program prints them.
        return {number for number in unread if self.events[number].detail[1] in read}

    def _unread_by_changes(self) -> set[int]:
        """The same where only gradients and the changes of leaves are known: those that no change follows."""
        leaf_of = {leaf.value: number for number, leaf in enumerate(self.record.leaves)}
        latest: dict[int, int] = {}
        unread: list[int] = []
        changed: set[int] = set()
        for number, e in enumerate(self.events):
            if e.kind == WRITE and e.ins[0] in leaf_of:
                leaf = leaf_of[e.outs[0]] = leaf_of[e.ins[0]]
                latest.pop(leaf, None)
                changed.add(leaf)
            elif e.kind == ACCUMULATE:
                before = latest.get(e.detail[1], -1)
                if before >= 0:
                    unread.append(before)
                latest[e.detail[1]] = number
        return {n for n in (*unread, *latest.values()) if self.events[n].detail[1] in changed}

    def gradients(self) -> dict[int, list[int]]:
        """leaf (-1: no leaf) -> the events at which its gradients arrive or are returned."""
        found: dict[int, list[int]] = {}
        for number, e in enumerate(self.events):
            if e.kind in GRADIENTS:
                found.setdefault(self.again.get(e.detail[1], e.detail[1]), []).append(number)
        return found

    def place(self, number: int) -> int:
        """In which backward pass a gradient's event takes place."""
        return self.pass_of.get(self.events[number].detail[0], -1)

    def maker(self, value: int) -> Event | None:
        """The event that made a value."""
        number = self.producer.get(value)
        return None if number is None else self.events[number]
