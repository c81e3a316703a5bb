"""Channels exchanged for resolution and among themselves."""

from __future__ import annotations

from .. import functional as F
from ._layer import layer

PixelShuffle = layer("PixelShuffle", "upscale_factor: int", F.pixel_shuffle, shows=True)
PixelUnshuffle = layer("PixelUnshuffle", "downscale_factor: int", F.pixel_unshuffle, shows=True)

__all__ = ["PixelShuffle", "PixelUnshuffle"]
