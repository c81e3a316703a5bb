"""`paddle.fluid.dygraph.base`: where old programs find `to_variable` and `guard` too."""

from __future__ import annotations

from typing import Any

from ..._api import missing as _missing
from . import BackwardStrategy, disable_dygraph, enable_dygraph, enabled, grad, guard, no_grad, to_variable

__all__ = [
    "BackwardStrategy", "disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable",
]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.fluid.dygraph.base", name, globals())
