"""`paddle.hapi`: the high-level interface: Model, callbacks, summary."""

from __future__ import annotations

from . import callbacks
from .model import Model
from .summary import summary

__all__ = ["Model", "callbacks", "summary"]
