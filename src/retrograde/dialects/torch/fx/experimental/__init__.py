"""`torch.fx.experimental`: what packages ask of tracing with sizes that vary."""

from __future__ import annotations

from ..._api import attributes

_SUBMODULES = ("proxy_tensor", "symbolic_shapes")

__getattr__ = attributes(globals(), *_SUBMODULES)
