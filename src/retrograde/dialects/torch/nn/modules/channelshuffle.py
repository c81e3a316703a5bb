"""The place of `ChannelShuffle` in PyTorch."""

from __future__ import annotations

from .pixelshuffle import ChannelShuffle

__all__ = ["ChannelShuffle"]
