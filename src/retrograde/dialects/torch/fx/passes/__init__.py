"""`torch.fx.passes`: what is done with whole graphs."""

from __future__ import annotations

from ..._api import attributes

_SUBMODULES = ("fake_tensor_prop", "infra", "shape_prop", "split_module")

__getattr__ = attributes(globals(), *_SUBMODULES)
