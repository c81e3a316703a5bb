"""`paddle.fluid.dygraph.checkpoint`: where old programs find `save_dygraph` and `load_dygraph` too."""

from __future__ import annotations

from typing import Any

from ..._api import missing as _missing
from . import load_dygraph, save_dygraph

__all__ = ["load_dygraph", "save_dygraph"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.fluid.dygraph.checkpoint", name, globals())
