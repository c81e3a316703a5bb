"""`paddle.device.cuda` and `paddle.cuda`: there are no GPUs."""

from __future__ import annotations

from typing import Any

from .._api import attributes as _attributes


def is_available() -> bool:
    """False: there is no GPU."""
    return False


def device_count() -> int:
    """The number of GPUs: 0."""
    return 0


def empty_cache() -> None:
    """Nothing is kept that could be given back."""


def synchronize(device: Any = None) -> None:
    """Raises ValueError: there is no GPU to wait for."""
    raise ValueError("synchronize: there is no GPU here; tensors are on 'cpu'")


__getattr__ = _attributes(globals())
