"""Channels dealt out to groups."""

from __future__ import annotations

from .. import functional as F
from ._layer import layer

ChannelShuffle = layer("ChannelShuffle", "groups: int", F.channel_shuffle, shows=True)

__all__ = ["ChannelShuffle"]
