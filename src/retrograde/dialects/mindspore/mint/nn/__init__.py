"""`mindspore.mint.nn`: layers with torch-like parameters, and the functions that they call, in `functional`."""

from __future__ import annotations

from typing import Any

from ..._api import missing, submodule

_SUBMODULES = ("functional", "layers")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return submodule(__name__, name)
    layers = submodule(__name__, "layers")
    if name in layers.__all__:
        return getattr(layers, name)
    raise missing("mindspore.mint.nn", name, __dir__)


def __dir__() -> list[str]:
    return sorted(["functional", *submodule(__name__, "layers").__all__])
