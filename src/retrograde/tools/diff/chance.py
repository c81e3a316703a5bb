"""Numbers that are the same by chance, told by more digits.

Two programs that compute another loss now and then compute the same one to seven digits. Where numbers of single precision are
the same by what they are, and not by how they were computed, they are looked up in the records of double precision (wide.py):
there what is the same is so to ten digits. Called by onward.py and compare.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .align import Alignment
from .leaves import LeafPairs
from .policy import POLICY
from .record import Record
from .values import Values, distance


class Chance:
    """What double precision says of numbers that are the same in single precision."""

    def __init__(self, records: Callable[[], tuple[Record, Record, LeafPairs] | None]) -> None:
        """records: gives the records of double precision, None where they cannot be had."""
        self._records = records
        self._confirmed: set[tuple[int, int]] = set()

    def among(
        self, alignment: Alignment, replayed: Callable[[Record, Record], Record] = lambda _, b: b
    ) -> Collection[tuple[int, int]]:  # fmt: skip
        """The numbers of A and B in an alignment that are the same by chance.

        replayed: computes B's record of double precision, the second that it is given, anew as B's is in the alignment.
        """
        doubtful = [pair for pair in alignment.doubtful if pair not in self._confirmed]
        records = self._records() if doubtful else None
        if records is None:
            return ()
        a, b = Values(records[0]), Values(replayed(*records[:2]))
        found = set()
        for va, vb in doubtful:
            off = distance(a, va, b, vb, POLICY.double).relative
            if off > max(POLICY.chance, alignment.distance(va, vb).relative / POLICY.shrinks):
                found.add((va, vb))
            else:
                self._confirmed.add((va, vb))
        return found
