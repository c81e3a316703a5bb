"""Where values that only generated code sees lie: offsets in one block of memory, used again when a value is gone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

ALIGNED = 64
"""Bytes that buffers begin at multiples of."""


class Needed(NamedTuple):
    """A buffer: how many bytes, and the first and the last step that it is needed in."""

    size: int
    first: int
    last: int


def offsets(buffers: Iterable[Needed]) -> tuple[list[int], int]:
    """The offset of each buffer, so that those that are needed at the same time do not overlap, and the bytes of all."""
    placed: list[tuple[int, Needed]] = []
    found: list[int] = []
    for b in buffers:
        size = -(-b.size // ALIGNED) * ALIGNED
        beside = sorted((at, other.size) for at, other in placed if other.first <= b.last and b.first <= other.last)
        here = 0
        for at, other in beside:
            if at - here >= size:
                break
            here = max(here, at + -(-other // ALIGNED) * ALIGNED)
        placed.append((here, b))
        found.append(here)
    return found, max((at + -(-b.size // ALIGNED) * ALIGNED for at, b in placed), default=0)
