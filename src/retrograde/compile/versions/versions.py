"""`Versions`: those that a compiled function has for each signature, newest first; and which of its numbers vary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...tape.function import Scratch
from ..guards.signature import Signature, difference
from ..trace.numbers import PLAIN
from ..trace.sizes import Axes, Family, layout
from .version import Varying, Version

FAMILIES = 64
"""Signatures without sizes that are kept."""
KEPT = 64
"""Sizes of which what was made for them is kept; it is made anew in no time."""
SHORTCUTS = 8
"""Versions whose shortcuts are tried one after the other before the signature of a call is made: 50 ns each."""
ALIKE = 8
"""Versions of one signature that are kept: those of other outcomes of comparisons, of training and evaluation."""


class Versions(dict[Signature, list[Version]]):
    """The versions by signature, in which numbers stand by their type.

    dynamic: whether sizes are taken to vary at once (None: where they do). given: whether each call is given the tensors at
    places where another one is found from call to call.
    """

    def __init__(self, dynamic: bool | None = None, *, given: bool = False) -> None:
        super().__init__()
        self.varying = Varying(given)
        self._dynamic = dynamic
        self._made: list[Signature] = []
        """The signatures of versions that were made for some sizes, oldest first."""
        self.families: dict[Any, Family] = {}
        """The calls that are alike but for sizes, by what they have in common."""

    def of_sizes(
        self, key: Signature, arrays: Sequence[Any], scalars: Sequence[Any], trace: Callable[[Axes], Version]
    ) -> tuple[Version | None, str | None]:  # fmt: skip
        """The version for some sizes of a trace in which they vary; None where there is none, and why, where that is known.
        arrays: of the signature; trace: makes such a trace."""
        if self._dynamic is False or any(type(a) is not np.ndarray for a in arrays):
            return None, None
        kinds = tuple([(cls, *layout(a), *more[:3]) for (cls, _, *more), a in zip(key.kinds, arrays)])
        form = key._replace(kinds=kinds)
        family = self.families.get(form)
        if family is None:
            family = self.families[form] = Family()
            if len(self.families) > FAMILIES:
                del self.families[next(iter(self.families))]
        shapes = tuple([a.shape for a in arrays])
        found = family.version(shapes, scalars, trace, self.varying.add, every=self._dynamic is True)
        return found, None if family.reason is None else f"each size is a version of its own: {family.reason}"

    def holding(
        self, key: Signature, scalars: Sequence[Any], *, noting: bool = True, but: Sequence[Version] = ()
    ) -> Version | None:
        """The version that can run a call with these numbers. Where there is none, the numbers that are others than in all of
        them are noted to vary; which takes longer, and noting: whether to do so. but: those that have turned out not to."""
        known = self.get(key)
        if known is None:
            return None
        for i, version in enumerate(known):
            if not (but and version in but) and version.holds(scalars):
                if i:
                    known.insert(0, known.pop(i))
                return version
        for version in known if noting and not but else ():
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
        if version.origin is not None:
            self._made = [x for x in self._made if x != key] + [key]
            if len(self._made) > KEPT:
                self.pop(self._made.pop(0), None)
        if len(self) > most:
            del self[next(iter(self))]


def scalars_in(found: Sequence[Any]) -> list[Any]:
    """What a version may read at each call of the leaves of the arguments: numbers, and what it is given to put things on."""
    return [x for x in found if type(x) in PLAIN or isinstance(x, Scratch)]


def by_value(x: Any) -> Any:
    """What of a leaf that is no array tells calls apart."""
    if type(x) in PLAIN:
        return None
    return tuple(vars(x).items()) if isinstance(x, Scratch) else x


def replaced(found: Sequence[Any], scalars: Sequence[Any]) -> list[Any]:
    """The leaves of the arguments with other numbers."""
    rest = iter(scalars)
    return [next(rest) if type(x) in PLAIN or isinstance(x, Scratch) else x for x in found]
