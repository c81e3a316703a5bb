"""Anomaly mode: nodes remember where they were made, and nan in a backward pass is an error that says where."""

from __future__ import annotations

import warnings
from typing import Any

from ...._state import state
from ....tape import anomaly as _anomaly
from ....tape.anomaly import set_detect_anomaly as set_detect_anomaly


class detect_anomaly(_anomaly.detect_anomaly):
    """Anomaly mode inside a `with` block; warns that it is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(check_nan)
        warnings.warn("anomaly mode is on: each operation notes where it was called, which is slow", stacklevel=2)


def is_anomaly_enabled() -> Any:
    """Whether anomaly mode is on."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> Any:
    """Whether anomaly mode looks for nan."""
    return state.check_nan
