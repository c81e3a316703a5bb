"""`paddle.imperative`: the dynamic mode's names in old programs."""

from __future__ import annotations

from typing import Any

from ._api import missing as _missing
from .fluid.dygraph import (
    BackwardStrategy,
    enabled,
    grad,
    guard,
    no_grad,
    to_variable,
)

__all__ = ["BackwardStrategy", "enabled", "grad", "guard", "no_grad", "to_variable"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.imperative", name, globals())
