"""`mindspore.hal`: questions about the device, which is the CPU; there is nothing to wait for."""

from __future__ import annotations

from ._api import attributes


def synchronize() -> None:
    """Nothing: operations are finished when they return."""


def is_available(device_target: str) -> bool:
    """Whether there is such a device."""
    return device_target == "CPU"


def device_count(device_target: str | None = None) -> int:
    """How many there are of a device."""
    return 1 if device_target in (None, "CPU") else 0


__getattr__ = attributes(globals())
