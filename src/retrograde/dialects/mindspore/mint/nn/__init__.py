"""`mindspore.mint.nn`: here its `functional`; the layers are those of `mindspore.nn`."""

from __future__ import annotations

from typing import Any

from ..._api import missing, submodule


def __getattr__(name: str) -> Any:
    if name == "functional":
        return submodule(__name__, name)
    raise missing("mindspore.mint.nn", name, ("functional",))
