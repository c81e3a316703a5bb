"""Which parameter of A is which of B: by `--map`, by name, by value, else by order."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .kinds import OP
from .reading import Reading, first_readings, in_common
from .record import Record
from .values import RESHAPED, Values, default_rtol, distance

MANY = 64
"""How many leaves without a pair are compared by value up to rounding, each with each."""


class Packed(NamedTuple):
    """A parameter that holds several of the other program."""

    in_a: bool
    """Whether it is A's."""
    whole: int
    parts: list[tuple[int, int, int]]
    """Leaf of the other program, first row, number of rows."""


class LeafPairs:
    """The leaves of two records that belong together, as pairs of numbers; the others by themselves."""

    def __init__(self, a: Record, b: Record, mapping: Sequence[tuple[str, str]] = ()) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._a, self._b = a, b
        self._values = Values(a), Values(b)
        # The leaves that have no pair yet, in order.
        self._left, self._right = dict.fromkeys(range(len(a.leaves))), dict.fromkeys(range(len(b.leaves)))
        self.unknown = self._by_mapping(mapping)
        """What to say of names in the mapping that no leaf has."""
        for agreeing in (True, False):  # names that only have been permuted give way to values
            self._by_name(lambda name: name, agreeing)
            self._by_name(_short, agreeing)
            if agreeing:
                self._by_value()
                self._by_module()
        descent_a, descent_b = self._descended(a, self._left, 0), self._descended(b, self._right, 1)
        for left, descent in ((self._left, descent_a), (self._right, descent_b)):
            for leaf in descent:
                del left[leaf]
        self._by_history()
        self._by_order()
        self.packed = self._by_rows()
        """Parameters that hold several of the other program on top of each other."""
        self.pairs.sort()
        self.again_a, self.again_b = {**descent_a, **self._again(True)}, {**descent_b, **self._again(False)}
        """Leaves made anew under the name of one that has a pair -> that one."""
        self.only_a = [i for i in self._left if i not in self.again_a]
        self.only_b = [j for j in self._right if j not in self.again_b]

    def _size(self, i: int) -> int:
        return self._values[0].size(self._a.leaves[i].value)

    def _size_b(self, j: int) -> int:
        return self._values[1].size(self._b.leaves[j].value)

    def _pair(self, i: int, j: int) -> None:
        self.pairs.append((i, j))
        del self._left[i], self._right[j]

    def _by_mapping(self, mapping: Sequence[tuple[str, str]]) -> list[str]:
        unknown = []
        for name_a, name_b in mapping:
            i = [i for i in self._left if name_a in (self._a.leaves[i].name, _short(self._a.leaves[i].name))]
            j = [j for j in self._right if name_b in (self._b.leaves[j].name, _short(self._b.leaves[j].name))]
            for who, name, found, leaves in (("A", name_a, i, self._a.leaves), ("B", name_b, j, self._b.leaves)):
                if not found:
                    have = ", ".join(dict.fromkeys(leaf.name for leaf in leaves if leaf.name)) or "none"
                    unknown.append(f"no parameter of {who} is called {name}; there are {have}")
            for p, q in zip(i, j):
                self._pair(p, q)
        return unknown

    def _by_name(self, key: Callable[[str], str], agreeing: bool) -> None:
        """Pair leaves of one name and size, in order; agreeing: only if they begin with the same values."""
        queues: dict[tuple[str, int], list[int]] = {}
        for j in reversed(self._right):
            queues.setdefault((key(self._b.leaves[j].name), self._size_b(j)), []).append(j)
        for i in list(self._left):
            name = key(self._a.leaves[i].name)
            queue = queues.get((name, self._size(i)))
            if name and queue and (not agreeing or self._agree(i, queue[-1])):
                self._pair(i, queue.pop())

    def _agree(self, i: int, j: int) -> bool:
        """Whether two leaves begin with the same values, by which they can be recognised."""
        va, vb = self._values
        x, y = self._a.leaves[i].value, self._b.leaves[j].value
        if not va.telling(x) or not vb.telling(y):
            return False
        rtol = default_rtol(va.kept(x).dtype, vb.kept(y).dtype)
        p, q = va.norm(x), vb.norm(y)  # the same in any layout
        if abs(p - q) > rtol * va.size(x) ** 0.5 * max(p, q):
            return False
        return distance(va, x, vb, y, rtol).relative <= rtol

    def _by_value(self) -> None:
        """Pair leaves that begin with the same values, in any layout."""
        va, vb = self._values
        exact: dict[object, list[int]] = {}
        for j in reversed(self._right):
            exact.setdefault(vb.key(self._b.leaves[j].value)[2], []).append(j)
        for i in list(self._left):
            x = self._a.leaves[i].value
            if va.kept(x).offset >= 0 and va.telling(x) and exact.get(va.key(x)[2]):
                self._pair(i, exact[va.key(x)[2]].pop())
        for i in list(self._left)[:MANY]:
            for j in list(self._right)[:MANY]:
                if self._size(i) == self._size_b(j) and self._agree(i, j):
                    self._pair(i, j)
                    break

    def _by_module(self) -> None:
        """Pair leaves whose modules have another pair: the biases of weights that have been recognised."""
        for i, j in list(self.pairs):
            (module_a, dot_a, _), (module_b, dot_b, _) = (
                record.leaves[n].name.rpartition(".") for record, n in ((self._a, i), (self._b, j))
            )  # fmt: skip
            for p in list(self._left) if dot_a and dot_b else ():
                name = self._a.leaves[p].name
                same = f"{module_b}{name.removeprefix(module_a)}"
                q = next((q for q in self._right if self._b.leaves[q].name == same and self._size_b(q) == self._size(p)), -1)
                if name.rpartition(".")[0] == module_a and q >= 0:
                    self._pair(p, q)

    def _descended(self, record: Record, left: dict[int, int | None], which: int) -> dict[int, int]:
        """Leaves without a pair that were computed from an earlier leaf with one, as a new parameter is from the old."""
        if not left or not self.pairs:
            return {}
        makers = {v: e for e in record.events if e.kind == OP for v in e.outs}
        known = {record.leaves[pair[which]].value: pair[which] for pair in self.pairs}
        found: dict[int, int] = {}
        for leaf in sorted(left, key=lambda n: record.leaves[n].value):
            value = record.leaves[leaf].value
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

    def _by_history(self) -> None:
        """Pair leaves of one size where what first reads them comes of leaves of the same sizes: in whichever order a program
        computes, and by whichever operations, a layer comes behind the same layers."""
        histories_a, histories_b = self._read
        queues: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for j in reversed(self._in_order(self._right, histories_b)):
            if j in histories_b:
                queues.setdefault((self._size_b(j), histories_b[j].behind), []).append(j)
        for i in self._in_order(self._left, histories_a):
            queue = queues.get((self._size(i), histories_a[i].behind)) if i in histories_a else None
            if queue:
                self._pair(i, queue.pop())

    def _by_order(self) -> None:
        """Pair leaves of one size in the order in which the programs first read them, as many as that leaves in order; then
        the others."""
        read_a, read_b = self._read
        for i, j in in_common(
            [(self._size(i), i) for i in self._in_order(self._left, read_a)],
            [(self._size_b(j), j) for j in self._in_order(self._right, read_b)],
        ):
            self._pair(i, j)
        queues: dict[int, list[int]] = {}
        for j in reversed(self._in_order(self._right, read_b)):
            queues.setdefault(self._size_b(j), []).append(j)
        for i in self._in_order(self._left, read_a):
            queue = queues.get(self._size(i))
            if queue:
                self._pair(i, queue.pop())

    @functools.cached_property
    def _read(self) -> tuple[dict[int, Reading], dict[int, Reading]]:
        return first_readings(self._a), first_readings(self._b)

    @staticmethod
    def _in_order(leaves: Iterable[int], read: dict[int, Reading]) -> list[int]:
        return sorted(leaves, key=lambda leaf: read[leaf].at if leaf in read else (math.inf, leaf))

    def _by_rows(self) -> list[Packed]:
        """Find parameters whose rows begin as several of the other program's do, as for the queries, keys and values of
        attention; and the biases that go with them."""
        found = []
        for in_a in (True, False):
            (whole, wholes), (part, parts) = ((self._a, self._left), (self._b, self._right))[:: 1 if in_a else -1]
            values, others = self._values[:: 1 if in_a else -1]
            for i in list(wholes)[:MANY]:
                rows = self._split(values, whole.leaves[i].value, others, part, list(parts)[:MANY])
                if not rows:
                    continue
                found.append(Packed(in_a, i, rows))
                bias = [n for n in wholes if whole.leaves[n].name == _sibling(whole.leaves[i].name)]
                small = [[n for n in parts if part.leaves[n].name == _sibling(part.leaves[j].name)] for j, _, _ in rows]
                if bias and all(small) and values.size(whole.leaves[bias[0]].value) == sum(
                    others.size(part.leaves[n[0]].value) for n in small
                ):  # fmt: skip
                    found.append(Packed(in_a, bias[0], [(n[0], start, m) for n, (_, start, m) in zip(small, rows)]))
        for one in found:
            (self._left if one.in_a else self._right).pop(one.whole, None)
            for j, _, _ in one.parts:
                (self._right if one.in_a else self._left).pop(j, None)
        return found

    def _split(
        self, values: Values, whole: int, others: Values, part: Record, candidates: list[int]
    ) -> list[tuple[int, int, int]]:
        """The leaves that make up the rows of a value, in order, as (leaf, first row, rows); none if there are not."""
        found: list[tuple[int, int, int]] = []
        shape, start = values.shape(whole), 0
        while len(shape) > 1 and start < shape[0]:
            for j in candidates:
                y = part.leaves[j].value
                n, rest = divmod(others.size(y), values.size(whole) // shape[0])
                if rest or not n or start + n > shape[0] or n == shape[0] or any(j == k for k, _, _ in found):
                    continue
                rows = values.rows(whole, start, n)
                if rows is None or not values.telling(rows):
                    continue
                rtol = default_rtol(values.kept(rows).dtype, others.kept(y).dtype)
                off = distance(values, rows, others, y, rtol)
                if off.relative <= rtol and off.layout != RESHAPED:
                    found.append((j, start, n))
                    start += n
                    break
            else:
                return []
        return found

    def _again(self, is_a: bool) -> dict[int, int]:
        record, size, rest = (self._a, self._size, self._left) if is_a else (self._b, self._size_b, self._right)
        first: dict[tuple[str, int], int] = {}
        for pair in self.pairs:
            leaf = pair[0 if is_a else 1]
            first.setdefault((record.leaves[leaf].name, size(leaf)), leaf)
        return {
            i: first[key] for i in rest if record.leaves[i].name and (key := (record.leaves[i].name, size(i))) in first
        }


def _short(name: str) -> str:
    """A parameter's name without the variable that holds its module."""
    first, dot, rest = name.partition(".")
    return rest if dot else first


def _sibling(name: str) -> str:
    """The name of the bias that goes with a weight."""
    before, _, last = name.rpartition("weight")
    return f"{before}bias{last}" if "weight" in name else ""
