"""How a value that is not finite came to be: plain data, and the way back to where it began. Made by watch.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"

Place = tuple[str, int]
"""A file and a line of it; an empty name where none is known."""


@dataclass(frozen=True)
class Seen:
    """What there is to say of an operand: its shape and dtype, its extremes, and its element at the first place in question."""

    shape: tuple[int, ...]
    dtype: str
    least: float | None
    """Of the finite elements; None where there are none."""
    most: float | None
    nans: int
    infinities: int
    zeros: int
    there: float | complex | None
    """The element where the result is not finite, if the operand has one there."""


@dataclass(eq=False)
class Made:
    """A value that is not finite: the operation that made it, where, and the operands that were not finite already."""

    operation: str
    """The primitive's name; "" for a value that came from outside."""
    place: Place
    phase: str
    nan: bool
    """Whether it holds a nan; else it is infinite."""
    parents: Sequence[Made] = ()
    given: bool = False
    """Whether the user gave it so, instead of computing it."""
    operands: tuple[Seen, ...] = ()

    def origin(self) -> list[Made]:
        """The way from here back to where it began, the beginning last.

        A nan goes back to a nan, else to an infinity that was computed. An infinity that was given, as a mask is, is no
        beginning of a nan: that is the operation which made a nan of it.
        """
        way, at = [self], self
        while at.parents:
            computed = [p for p in at.parents if p.nan or not p.begins_given()]
            if not computed and at.nan:
                break
            at = min(computed or at.parents, key=lambda p: not p.nan)
            way.append(at)
        return way

    def begins_given(self) -> bool:
        """Whether an infinity goes back to infinities that were given only."""
        stack: list[Made] = [self]
        while stack:
            at = stack.pop()
            if not at.parents:
                if not at.given:
                    return False
            elif at.nan:
                return False
            else:
                stack += at.parents
        return True


def is_finite(a: Any) -> bool:
    """Whether an array has no nan and no infinity; what has no floating dtype has none."""
    return a.dtype.kind in "biuOSUmM" or bool(np.isfinite(a).all())


def seen(x: np.ndarray, result: np.ndarray | None = None, same: bool = True) -> Seen:
    """An operand, beside the result whose first element that is not finite is looked at; `same` where shapes may correspond."""
    wide = np.abs(x) if x.dtype.kind == "c" else x
    finite = np.isfinite(wide) if x.dtype.kind not in "biu" else np.ones(x.shape, bool)
    chosen = wide[finite].astype(np.float64)
    nans = 0 if x.dtype.kind in "biu" else int(np.isnan(x).sum())
    return Seen(
        tuple(x.shape), x.dtype.name, float(chosen.min()) if chosen.size else None, float(chosen.max()) if chosen.size else None,
        nans, x.size - int(finite.sum()) - nans, int((x == 0).sum()), _there(x, result) if result is not None and same else None,
    )  # fmt: skip


def _there(x: np.ndarray, result: np.ndarray) -> float | complex | None:
    """The element of an operand where the result is not finite first, where the operand broadcasts to the result."""
    try:
        spread = np.broadcast_to(x, result.shape)
    except ValueError:
        return None
    bad = ~np.isfinite(result)
    if not bad.any():
        return None
    element = spread[np.unravel_index(int(np.argmax(bad)), bad.shape)]
    return complex(element) if x.dtype.kind == "c" else float(element)
