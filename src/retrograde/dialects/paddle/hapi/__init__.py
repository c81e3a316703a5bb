"""`paddle.hapi`: the high-level interface: Model, callbacks, summary."""

from __future__ import annotations

from . import callbacks
from .flops import flops
from .model import Model
from .summary import summary

__all__ = ["Model", "callbacks", "flops", "summary"]
