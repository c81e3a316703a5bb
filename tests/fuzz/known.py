"""The known differences: where this library does otherwise on purpose, or the framework is wrong; each with its reason.

An entry has a program that shows it, in its smallest form, and a pattern that the smallest form of any other program of
the same cause matches. One whose program agrees again is reported.
"""

import re
from typing import NamedTuple

from .compare import Difference


class Known(NamedTuple):
    reason: str
    program: str
    pattern: str
    """Searched for in a minimised program."""
    kinds: tuple[str, ...]
    """Kinds of difference (see `compare.Difference`) that this explains."""

    def explains(self, program: str, found: list[Difference]) -> bool:
        return found[0].kind in self.kinds and re.search(self.pattern, program, re.DOTALL) is not None


TORCH: list[Known] = []
JAX: list[Known] = []
