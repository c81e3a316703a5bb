"""Which parameter of A is which of B: by `--map`, by name, by value, else by order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .events import Operation
from .policy import rounding
from .reading import first_readings, in_common
from .record import Record
from .values import RESHAPED, Values, distance

MANY = 64
"""How many leaves without a pair are compared by value up to rounding, each with each."""


class Packed(NamedTuple):
    """A parameter that holds several of the other program."""

    in_a: bool
    """Whether it is A's."""
    whole: int
    parts: list[tuple[int, int, int]]
    """Leaf of the other program, first row, number of rows."""


class _Leaves:
    """The leaves of one record."""

    def __init__(self, record: Record) -> None:
        self.record, self.values = record, Values(record)
        self.left = dict.fromkeys(range(len(record.leaves)))
        """Those that have no pair yet, in order."""

    def name(self, n: int) -> str:
        return self.record.leaves[n].name

    def value(self, n: int) -> int:
        return self.record.leaves[n].value

    def size(self, n: int) -> int:
        return self.values.size(self.value(n))

    def queues(self, key: Callable[[int], object]) -> dict[object, list[int]]:
        """What is left, by a key; the first one at the end."""
        found: dict[object, list[int]] = {}
        for n in reversed(self.left):
            found.setdefault(key(n), []).append(n)
        return found


class LeafPairs:
    """The leaves of two records that belong together, as pairs of numbers; the others by themselves."""

    def __init__(self, a: Record, b: Record, mapping: Sequence[tuple[str, str]] = ()) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._sides = self._a, self._b = _Leaves(a), _Leaves(b)
        self.unknown = self._by_mapping(mapping)
        """What to say of names in the mapping that no leaf has."""
        for agreeing in (True, False):  # names that only have been permuted give way to values
            self._by_key(lambda side: lambda n: (side.name(n), side.size(n)) if side.name(n) else None, agreeing)
            self._by_key(lambda side: lambda n: (name, side.size(n)) if (name := _short(side.name(n))) else None, agreeing)
            if agreeing:
                self._by_value()
                self._by_module()
        descent = [self._descended(side, which) for which, side in enumerate(self._sides)]
        for side, found in zip(self._sides, descent):
            for leaf in found:
                del side.left[leaf]
        self._by_reading()
        self.packed = self._by_rows()
        """Parameters that hold several of the other program on top of each other."""
        self.pairs.sort()
        self.again = tuple({**found, **self._again(which)} for which, found in enumerate(descent))
        """Of A and of B: leaves made anew under the name of one that has a pair -> that one."""
        self.only = tuple([n for n in side.left if n not in again] for side, again in zip(self._sides, self.again))
        """Of A and of B: the leaves that the other has not."""

    def _pair(self, i: int, j: int) -> None:
        self.pairs.append((i, j))
        del self._a.left[i], self._b.left[j]

    def _by_mapping(self, mapping: Sequence[tuple[str, str]]) -> list[str]:
        unknown = []
        for names in mapping:
            found = [[n for n in side.left if name in (side.name(n), _short(side.name(n)))]
                     for side, name in zip(self._sides, names)]  # fmt: skip
            for who, name, numbers, side in zip("AB", names, found, self._sides):
                if not numbers:
                    have = ", ".join(dict.fromkeys(leaf.name for leaf in side.record.leaves if leaf.name)) or "none"
                    unknown.append(f"no parameter of {who} is called {name}; there are {have}")
            for p, q in zip(*found):
                self._pair(p, q)
        return unknown

    def _by_key(self, key: Callable[[_Leaves], Callable[[int], object]], agreeing: bool) -> None:
        """Pair leaves with one key, in order; agreeing: only if they begin with the same values."""
        queues, of_a = self._b.queues(key(self._b)), key(self._a)
        queues.pop(None, None)
        for i in list(self._a.left):
            queue = queues.get(of_a(i))
            if queue and (not agreeing or self._agree(i, queue[-1])):
                self._pair(i, queue.pop())

    def _by_reading(self) -> None:
        """Pair leaves of one size by where the programs read them first: behind leaves of the same sizes, in whichever order they
        compute, and by whichever operations, those first that end their names alike; then in order, as many as that leaves in
        order; then the others."""
        read = [first_readings(side.record) for side in self._sides]

        def ordered(which: int) -> list[int]:
            found = read[which]
            return sorted(self._sides[which].left, key=lambda n: found[n].at if n in found else (math.inf, n))

        def queued(key: Callable[[int, int], object]) -> None:
            queues: dict[object, list[int]] = {}
            for j in reversed(ordered(1)):
                queues.setdefault((self._b.size(j), key(1, j)), []).append(j)
            for i in ordered(0):
                queue = queues.get((self._a.size(i), key(0, i)))
                if queue and (key(0, i) is not None):
                    self._pair(i, queue.pop())

        def behind(which: int, n: int) -> object:
            return read[which][n].behind if n in read[which] else None

        def behind_and_called(which: int, n: int) -> object:
            last = self._sides[which].name(n).rpartition(".")[2]  # a bias, and not the weight that is read with it
            return (behind(which, n), last) if n in read[which] and last else None

        queued(behind_and_called)
        queued(behind)
        sizes = [[(side.size(n), n) for n in ordered(which)] for which, side in enumerate(self._sides)]
        for i, j in in_common(*sizes):
            self._pair(i, j)
        queued(lambda which, n: 0)

    def _agree(self, i: int, j: int) -> bool:
        """Whether two leaves begin with the same values, by which they can be recognised."""
        va, vb = self._a.values, self._b.values
        x, y = self._a.value(i), self._b.value(j)
        if not va.telling(x) or not vb.telling(y):
            return False
        rtol = rounding(va.kept(x).dtype, vb.kept(y).dtype)
        largest = max(va.largest(x), vb.largest(y))
        if not abs(va.norm(x) - vb.norm(y)) <= rtol * va.size(x) ** 0.5 * largest:  # norms are the same in any layout
            return False
        return distance(va, x, vb, y, rtol).relative <= rtol

    def _by_value(self) -> None:
        """Pair leaves that begin with the same values, in any layout."""
        of_norm = self._b.queues(lambda n: self._b.values.norm(self._b.value(n)))  # sooner found than what tells contents apart
        for i in list(self._a.left):
            value, values = self._a.value(i), self._a.values
            queue = of_norm.get(values.norm(value)) if values.kept(value).offset >= 0 and values.telling(value) else None
            same = [j for j in queue or () if self._b.values.key(self._b.value(j))[2] == values.key(value)[2]]
            if queue and same:
                queue.remove(same[-1])
                self._pair(i, same[-1])
        for i in list(self._a.left)[:MANY]:
            j = next((j for j in list(self._b.left)[:MANY] if self._a.size(i) == self._b.size(j) and self._agree(i, j)), -1)
            if j >= 0:
                self._pair(i, j)

    def _by_module(self) -> None:
        """Pair leaves whose modules have another pair: the biases of weights that have been recognised."""
        for pair in list(self.pairs):
            (module_a, dot_a, _), (module_b, dot_b, _) = (side.name(n).rpartition(".") for side, n in zip(self._sides, pair))
            for p in list(self._a.left) if dot_a and dot_b else ():
                name = self._a.name(p)
                same = f"{module_b}{name.removeprefix(module_a)}"
                q = next((q for q in self._b.left if self._b.name(q) == same and self._b.size(q) == self._a.size(p)), -1)
                if name.rpartition(".")[0] == module_a and q >= 0:
                    self._pair(p, q)

    def _descended(self, side: _Leaves, which: int) -> dict[int, int]:
        """Leaves without a pair that were computed from an earlier leaf with one, as a new parameter is from the old."""
        if not side.left or not self.pairs:
            return {}
        record = side.record
        makers = {v: e for e in record.events if isinstance(e, Operation) for v in e.outs}
        known = {side.value(pair[which]): pair[which] for pair in self.pairs}
        found: dict[int, int] = {}
        for leaf in sorted(side.left, key=side.value):
            value = side.value(leaf)
            shape, queue, seen = record.values[value].shape, [value], 0
            while queue and seen < 32:
                maker = makers.get(queue.pop(0))
                seen += 1
                for v in maker.ins if maker is not None else ():
                    if v in known and record.values[v].shape == shape:
                        found[leaf] = known[value] = known[v]
                        queue.clear()
                        break
                    if v >= 0 and record.values[v].shape == shape:
                        queue.append(v)
        return found

    def _by_rows(self) -> list[Packed]:
        """Find parameters whose rows begin as several of the other program's do, as for the queries, keys and values of
        attention; and the biases that go with them."""
        found = []
        for in_a in (True, False):
            whole, part = self._sides if in_a else self._sides[::-1]
            for i in list(whole.left)[:MANY]:
                rows = self._split(whole, i, part)
                if not rows:
                    continue
                found.append(Packed(in_a, i, rows))
                bias = [n for n in whole.left if whole.name(n) == _sibling(whole.name(i))]
                small = [[n for n in part.left if part.name(n) == _sibling(part.name(j))] for j, _, _ in rows]
                if bias and all(small) and whole.size(bias[0]) == sum(part.size(n[0]) for n in small):
                    found.append(Packed(in_a, bias[0], [(n[0], start, m) for n, (_, start, m) in zip(small, rows)]))
        for one in found:
            whole, part = self._sides if one.in_a else self._sides[::-1]
            whole.left.pop(one.whole, None)
            for j, _, _ in one.parts:
                part.left.pop(j, None)
        return found

    def _split(self, whole: _Leaves, i: int, part: _Leaves) -> list[tuple[int, int, int]]:
        """The leaves that make up the rows of a leaf, in order, as (leaf, first row, rows); none if there are not."""
        found: list[tuple[int, int, int]] = []
        shape, start = whole.values.shape(whole.value(i)), 0
        while len(shape) > 1 and start < shape[0]:
            for j in list(part.left)[:MANY]:
                n, rest = divmod(part.size(j), whole.size(i) // shape[0])
                if rest or not n or start + n > shape[0] or n == shape[0] or any(j == k for k, _, _ in found):
                    continue
                rows = whole.values.rows(whole.value(i), start, n)
                if rows is None or not whole.values.telling(rows):
                    continue
                rtol = rounding(whole.values.kept(rows).dtype, part.values.kept(part.value(j)).dtype)
                off = distance(whole.values, rows, part.values, part.value(j), rtol)
                if off.relative <= rtol and off.layout != RESHAPED:
                    found.append((j, start, n))
                    start += n
                    break
            else:
                return []
        return found

    def _again(self, which: int) -> dict[int, int]:
        side = self._sides[which]
        first: dict[tuple[str, int], int] = {}
        for pair in self.pairs:
            first.setdefault((side.name(pair[which]), side.size(pair[which])), pair[which])
        return {n: first[key] for n in side.left if side.name(n) and (key := (side.name(n), side.size(n))) in first}


def _short(name: str) -> str:
    """A parameter's name without the variable that holds its module."""
    first, dot, rest = name.partition(".")
    return rest if dot else first


def _sibling(name: str) -> str:
    """The name of the bias that goes with a weight."""
    before, _, last = name.rpartition("weight")
    return f"{before}bias{last}" if "weight" in name else ""
