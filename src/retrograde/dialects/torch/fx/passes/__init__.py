"""`torch.fx.passes`: what is done with whole graphs."""

from __future__ import annotations

from typing import Any

from ..._api import missing, submodule

_SUBMODULES = ("fake_tensor_prop", "infra", "shape_prop", "split_module")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return submodule(__name__, name)
    raise missing("torch.fx.passes", name, _SUBMODULES)
