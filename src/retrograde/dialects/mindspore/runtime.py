"""`mindspore.runtime`: questions about the device, which is the CPU; there is nothing to wait for."""

from __future__ import annotations

from ._api import attributes
from ._jit import launch_blocking as launch_blocking


def synchronize() -> None:
    """Nothing: operations are finished when they return."""


__getattr__ = attributes(globals())
