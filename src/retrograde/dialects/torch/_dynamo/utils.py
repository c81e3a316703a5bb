"""`torch._dynamo.utils`: whether a device's functions are compiled."""

from __future__ import annotations

from typing import Any

from .._api import missing


def is_compile_supported(device_type: Any) -> bool:
    """Whether functions are compiled for a device: for the CPU."""
    return str(device_type) == "cpu"


def __getattr__(name: str) -> Any:
    raise missing("torch._dynamo.utils", name, globals())
