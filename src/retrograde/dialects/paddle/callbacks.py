"""`paddle.callbacks`."""

from __future__ import annotations

from ._api import attributes
from .hapi.callbacks import Callback, EarlyStopping, LRScheduler, ModelCheckpoint

__all__ = ["Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint"]

__getattr__ = attributes(globals())
