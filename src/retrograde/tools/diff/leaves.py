"""Which parameter of A is which of B: by `--map`, by name, by value, else by order."""

from __future__ import annotations

from collections.abc import Sequence

from .record import Record
from .values import Values, default_rtol, distance


class LeafPairs:
    """The leaves of two records that belong together, as pairs of numbers; the others by themselves."""

    def __init__(self, a: Record, b: Record, mapping: Sequence[tuple[str, str]] = ()) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._a, self._b = a, b
        self._values = Values(a), Values(b)
        left, right = list(range(len(a.leaves))), list(range(len(b.leaves)))
        self.unknown = self._by_mapping(mapping, left, right)
        """Names in the mapping that no leaf has."""
        for name in (lambda text: text, _short):
            self._by_name(name, left, right)
        self._by_value(left, right)
        for i in list(left):
            j = next((j for j in right if self._sizes_agree(i, j)), None)
            if j is not None:
                self._pair(i, j, left, right)
        self.pairs.sort()
        self.again_a, self.again_b = self._again(True, left), self._again(False, right)
        """Leaves made anew under the name of one that has a pair -> that one."""
        self.only_a = [i for i in left if i not in self.again_a]
        self.only_b = [j for j in right if j not in self.again_b]

    def _again(self, is_a: bool, rest: list[int]) -> dict[int, int]:
        record, values = (self._a, self._values[0]) if is_a else (self._b, self._values[1])
        first = {}
        for pair in self.pairs:
            leaf = record.leaves[pair[0 if is_a else 1]]
            first.setdefault((leaf.name, values.size(leaf.value)), pair[0 if is_a else 1])
        found = {}
        for i in rest:
            leaf = record.leaves[i]
            known = first.get((leaf.name, values.size(leaf.value)))
            if leaf.name and known is not None:
                found[i] = known
        return found

    def _sizes_agree(self, i: int, j: int) -> bool:
        va, vb = self._values
        return va.size(self._a.leaves[i].value) == vb.size(self._b.leaves[j].value)

    def _pair(self, i: int, j: int, left: list[int], right: list[int]) -> None:
        self.pairs.append((i, j))
        left.remove(i)
        right.remove(j)

    def _by_mapping(self, mapping: Sequence[tuple[str, str]], left: list[int], right: list[int]) -> list[str]:
        unknown = []
        for name_a, name_b in mapping:
            i = [i for i in left if name_a in (self._a.leaves[i].name, _short(self._a.leaves[i].name))]
            j = [j for j in right if name_b in (self._b.leaves[j].name, _short(self._b.leaves[j].name))]
            unknown += [name for name, found in ((name_a, i), (name_b, j)) if not found]
            for p, q in zip(i, j):
                self._pair(p, q, left, right)
        return unknown

    def _by_name(self, key: object, left: list[int], right: list[int]) -> None:
        assert callable(key)
        queues: dict[str, list[int]] = {}
        for j in right:
            queues.setdefault(key(self._b.leaves[j].name), []).append(j)
        for i in list(left):
            name = key(self._a.leaves[i].name)
            queue = queues.get(name)
            if name and queue and self._sizes_agree(i, queue[0]):
                self._pair(i, queue.pop(0), left, right)

    def _by_value(self, left: list[int], right: list[int]) -> None:
        va, vb = self._values
        for i in list(left):
            x = self._a.leaves[i].value
            if not va.telling(x):
                continue
            for j in right:
                y = self._b.leaves[j].value
                rtol = default_rtol(va.kept(x).dtype, vb.kept(y).dtype)
                if self._sizes_agree(i, j) and distance(va, x, vb, y, rtol).relative <= rtol:
                    self._pair(i, j, left, right)
                    break


def _short(name: str) -> str:
    """A parameter's name without the variable that holds its module."""
    first, dot, rest = name.partition(".")
    return rest if dot else first
