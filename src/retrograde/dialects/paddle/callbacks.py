"""`paddle.callbacks`."""

from __future__ import annotations

from typing import Any

from ._api import missing
from .hapi.callbacks import Callback, EarlyStopping, LRScheduler, ModelCheckpoint

__all__ = ["Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint"]


def __getattr__(name: str) -> Any:
    raise missing("paddle.callbacks", name, __all__)
