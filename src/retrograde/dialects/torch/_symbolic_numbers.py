"""Sizes that are not known while a program is traced, as packages ask about them: here sizes are numbers."""

from __future__ import annotations

import math
from typing import Any


class SymInt:
    """An int that is not known; no object is one."""


class SymFloat:
    """A float that is not known; no object is one."""


class SymBool:
    """A truth that is not known; no object is one."""


def sym_int(a: Any) -> int:
    """The whole number towards zero."""
    return math.trunc(a)


def sym_float(a: Any) -> float:
    """The number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """The opposite of a truth."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, a float where one is."""
    return type(a + b)(max(a, b))


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, a float where one is."""
    return type(a + b)(min(a, b))
