"""`mindspore.runtime`: questions about the device, which is the CPU; there is nothing to wait for."""

from __future__ import annotations

from typing import Any

from ._api import missing


def synchronize() -> None:
    """Nothing: operations are finished when they return."""


def __getattr__(name: str) -> Any:
    raise missing("mindspore.runtime", name, globals())
