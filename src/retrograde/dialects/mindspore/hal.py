"""`mindspore.hal`: questions about the device, which is the CPU; there is nothing to wait for."""

from __future__ import annotations

from typing import Any

from .._shared.checks import check
from ._api import attributes


def synchronize() -> None:
    """Nothing: operations are finished when they return."""


def _known(op: str, device_target: Any) -> str:
    """The name of a device; raises TypeError for no text, ValueError for another name."""
    check(op, "device_target: str in {CPU, GPU, Ascend}", locals())
    return str(device_target)


def is_available(device_target: str) -> bool:
    """Whether there is such a device."""
    return _known("is_available", device_target) == "CPU"


def device_count(device_target: str | None = None) -> int:
    """How many there are of a device."""
    return 1 if device_target is None or _known("device_count", device_target) == "CPU" else 0


__getattr__ = attributes(globals())
