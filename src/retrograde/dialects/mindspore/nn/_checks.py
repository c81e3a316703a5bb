"""Checks of single options that layers and functions share, in the words of `_shared/checks.py`; each gives the value back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._shared.checks import clauses


def _checked(wanted: str) -> Callable[[str, str, Any], Any]:
    """A check of an option by its operation, name and value; raises TypeError for its type, ValueError for its range."""
    (clause,) = clauses(f"x{wanted}")

    def check(op: str, name: str, value: Any) -> Any:
        clause._replace(name=name).check(op, value)
        return value

    check.__doc__ = f"The value, which has to be{wanted.lstrip(':')}; raises TypeError or ValueError."
    return check


a_float = _checked(": float")
positive_float = _checked(": float > 0")
not_negative_float = _checked(": float >= 0")
positive_int = _checked(": int > 0")
between = _checked(": float in (0, 1)")
a_bool = _checked(": bool")


def one_of(op: str, name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of the names that are known; raises ValueError."""
    return _checked(f" in {{{', '.join(known)}}}")(op, name, value)  # type: ignore[no-any-return]
