"""`paddle.fluid.dygraph.base`: where old programs find `to_variable` and `guard` too."""

from __future__ import annotations

from ..._api import attributes as _attributes
from . import BackwardStrategy, disable_dygraph, enable_dygraph, enabled, grad, guard, no_grad, to_variable

__all__ = [
    "BackwardStrategy", "disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable",
]

__getattr__ = _attributes(globals())
