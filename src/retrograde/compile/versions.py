"""`Versions`: those that a compiled function has for each signature, newest first; and which of its numbers vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .numbers import PLAIN
from .signature import Signature, difference
from .version import Varying, Version

ALIKE = 8
"""Versions of one signature that are kept: those of other outcomes of comparisons, of training and evaluation."""


class Versions(dict[Signature, list[Version]]):
    """The versions by signature, in which numbers stand by their type."""

    def __init__(self) -> None:
        super().__init__()
        self.varying = Varying()

    def holding(self, key: Signature, scalars: Sequence[Any], *, noting: bool = True) -> Version | None:
        """The version that can run a call with these numbers. Where there is none, the numbers that are others than in all of
        them are noted to vary; which takes longer, and noting: whether to do so."""
        known = self.get(key)
        if known is None:
            return None
        for i, version in enumerate(known):
            if version.holds(scalars):
                if i:
                    known.insert(0, known.pop(i))
                return version
        for version in known if noting else ():
            self.varying.add(version.missed(scalars))
        return None

    def differences(self, key: Signature, scalars: Sequence[Any]) -> list[str]:
        """Why none can run a call, in words: what is not as it was for the newest version of its signature, or how its signature
        differs from the last one that was new."""
        known = self.get(key)
        return difference(next(reversed(self)), key) if known is None else known[0].broken(scalars)

    def add(self, key: Signature, version: Version, most: int) -> None:
        """Keep a version; where there are more than `most` signatures, the oldest goes."""
        known = self.setdefault(key, [])
        known.insert(0, version)
        del known[ALIKE:]
        if len(self) > most:
            del self[next(iter(self))]


def scalars_in(found: Sequence[Any]) -> list[Any]:
    """The numbers among the leaves of the arguments that a version may read at each call."""
    return [x for x in found if type(x) in PLAIN]


def replaced(found: Sequence[Any], scalars: Sequence[Any]) -> list[Any]:
    """The leaves of the arguments with other numbers."""
    rest = iter(scalars)
    return [next(rest) if type(x) in PLAIN else x for x in found]
