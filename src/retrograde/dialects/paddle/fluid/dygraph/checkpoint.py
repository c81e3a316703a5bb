"""`paddle.fluid.dygraph.checkpoint`: where old programs find `save_dygraph` and `load_dygraph` too."""

from __future__ import annotations

from ..._api import attributes as _attributes
from . import load_dygraph, save_dygraph

__all__ = ["load_dygraph", "save_dygraph"]

__getattr__ = _attributes(globals())
