"""`torch._dynamo.utils`: whether a device's functions are compiled."""

from __future__ import annotations

from typing import Any

from .._api import attributes


def is_compile_supported(device_type: Any) -> bool:
    """Whether functions are compiled for a device: for the CPU."""
    return str(device_type) == "cpu"


__getattr__ = attributes(globals())
