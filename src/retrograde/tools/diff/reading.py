"""Where programs read their leaves first: by that, leaves are paired that neither names nor values tell apart."""

from __future__ import annotations

import math
from typing import NamedTuple

from .events import Operation
from .record import Record
from .side import ARRANGING


def in_common(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The leaves of a longest common subsequence of sizes, for (size, leaf) each in order."""
    longest = [[0] * (len(right) + 1)]
    for size, _ in reversed(left):
        below, row = longest[-1], [0]
        for n in range(len(right)):
            row.append(below[n] + 1 if right[-1 - n][0] == size else max(below[n + 1], row[n]))
        longest.append(row)
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i][0] == right[j][0]:
            found.append((left[i][1], right[j][1]))
            i, j = i + 1, j + 1
        elif longest[len(left) - 1 - i][len(right) - j] >= longest[len(left) - i][len(right) - 1 - j]:
            i += 1
        else:
            j += 1
    return found


class Reading(NamedTuple):
    """Where a program reads a leaf first."""

    at: tuple[float, int]
    """The operation, and which of its operands the leaf is."""
    behind: tuple[int, ...]
    """The sizes of the other leaves from which that is computed."""


def first_readings(record: Record) -> dict[int, Reading]:
    """leaf -> where the operations of a record read it first; those that none reads are left out.

    What only arranges a leaf's elements (`weight[:, None]`) is not looked at: programs do that anywhere.
    """
    leaf_of = {leaf.value: n for n, leaf in enumerate(record.leaves)}
    behind: dict[int, int] = {}
    found: dict[int, tuple[tuple[float, int], int]] = {}
    for number, e in enumerate(record.events):
        if not isinstance(e, Operation):
            continue
        if e.name in ARRANGING and e.ins[0] in leaf_of:
            leaf_of[e.outs[0]] = leaf_of[e.ins[0]]
            continue
        leaves = 0
        for v in e.ins:
            leaves |= behind.get(v, 0) | (1 << leaf_of[v] if v in leaf_of else 0)
        for position, v in enumerate(e.ins):
            if v in leaf_of:
                found.setdefault(leaf_of[v], ((number, position), leaves))
        for v in e.outs:
            behind[v] = leaves
    sizes = [math.prod(record.values[leaf.value].shape) for leaf in record.leaves]
    return {
        leaf: Reading(at, tuple(sorted(n for i, n in enumerate(sizes) if leaves >> i & 1 and i != leaf)))
        for leaf, (at, leaves) in found.items()
    }
