"""`paddle.imperative`: the dynamic mode's names in old programs."""

from __future__ import annotations

from typing import Any

from ._api import missing as _missing
from .fluid import dygraph as _dygraph
from .fluid.dygraph import BackwardStrategy, enabled, grad, guard, no_grad, to_variable
from .fluid.dygraph import load_dygraph as load
from .fluid.dygraph import save_dygraph as save

__all__ = ["BackwardStrategy", "enabled", "grad", "guard", "load", "no_grad", "save", "to_variable"]


def __getattr__(name: str) -> Any:
    if name.endswith("Decay"):
        return getattr(_dygraph, name)
    raise _missing("paddle.imperative", name, globals())
