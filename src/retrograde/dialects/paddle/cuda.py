"""`paddle.cuda`: the names of `paddle.device.cuda`."""

from __future__ import annotations

from .device.cuda import __getattr__, device_count, empty_cache, is_available, synchronize

__all__ = ["__getattr__", "device_count", "empty_cache", "is_available", "synchronize"]
