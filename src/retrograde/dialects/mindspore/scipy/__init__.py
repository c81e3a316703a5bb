"""`mindspore.scipy`: here its `linalg` and `fft`."""

from __future__ import annotations

from typing import Any

from .._api import missing, submodule


def __getattr__(name: str) -> Any:
    if name in ("fft", "linalg"):
        return submodule(__name__, name)
    raise missing("mindspore.scipy", name, ("fft", "linalg"))
