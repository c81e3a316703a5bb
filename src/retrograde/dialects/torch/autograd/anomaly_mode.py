"""Anomaly mode: nodes remember where they were made, and nan in a backward pass is an error that says where."""

from __future__ import annotations

import warnings
from typing import Any

from ...._state import refresh, state


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a context manager until its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (state.anomaly, state.check_nan)
        state.anomaly, state.check_nan = bool(mode), bool(check_nan)
        refresh()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        state.anomaly, state.check_nan = self._before
        refresh()


class detect_anomaly:
    """Anomaly mode inside a `with` block; warns that it is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        warnings.warn("anomaly mode is on: each operation notes where it was called, which is slow", stacklevel=2)

    def __enter__(self) -> None:
        self._switch = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *exception: object) -> None:
        self._switch.__exit__(*exception)


def is_anomaly_enabled() -> Any:
    """Whether anomaly mode is on."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> Any:
    """Whether anomaly mode looks for nan."""
    return state.check_nan
