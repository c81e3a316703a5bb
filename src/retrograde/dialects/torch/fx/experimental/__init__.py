"""`torch.fx.experimental`: what packages ask of tracing with sizes that vary."""

from __future__ import annotations

from typing import Any

from ..._api import missing, submodule

_SUBMODULES = ("proxy_tensor", "symbolic_shapes")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return submodule(__name__, name)
    raise missing("torch.fx.experimental", name, _SUBMODULES)
