"""`mindspore.runtime`: questions about the device, which is the CPU; there is nothing to wait for."""

from __future__ import annotations

from ._api import attributes


def synchronize() -> None:
    """Nothing: operations are finished when they return."""


__getattr__ = attributes(globals())
