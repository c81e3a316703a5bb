"""Checks of options that layers, optimisers and schedules share, with MindSpore's exception types."""

from __future__ import annotations

from typing import Any


def a_float(op: str, name: str, value: Any) -> float:
    """A float; raises TypeError for anything else, ints included."""
    if not isinstance(value, float):
        raise TypeError(f"{op}: {name} must be a float, got {type(value).__name__}")
    return value


def positive_float(op: str, name: str, value: Any) -> float:
    """A float above 0; raises TypeError or ValueError."""
    if a_float(op, name, value) <= 0:
        raise ValueError(f"{op}: {name} must be above 0, got {value}")
    return value  # type: ignore[no-any-return]


def not_negative_float(op: str, name: str, value: Any) -> float:
    """A float of 0 or more; raises TypeError or ValueError."""
    if a_float(op, name, value) < 0:
        raise ValueError(f"{op}: {name} must be 0 or more, got {value}")
    return value  # type: ignore[no-any-return]


def positive_int(op: str, name: str, value: Any) -> int:
    """An int above 0; raises TypeError or ValueError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{op}: {name} must be an int, got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"{op}: {name} must be above 0, got {value}")
    return value


def between(op: str, name: str, value: Any) -> float:
    """A float strictly between 0 and 1; raises TypeError or ValueError."""
    if not 0.0 < a_float(op, name, value) < 1.0:
        raise ValueError(f"{op}: {name} must lie strictly between 0 and 1, got {value}")
    return value  # type: ignore[no-any-return]


def a_bool(op: str, name: str, value: Any) -> bool:
    """A bool; raises TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"{op}: {name} must be a bool, got {type(value).__name__}")
    return value


def one_of(op: str, name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of the names that are known; raises ValueError."""
    if value not in known:
        raise ValueError(f"{op}: {name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    return value  # type: ignore[no-any-return]
