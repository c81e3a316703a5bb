"""Channels dealt out to groups."""

from __future__ import annotations

from ..._tensor import Tensor
from .. import functional as F
from .module import Module


class ChannelShuffle(Module):
    """Channels dealt out to groups."""

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"


__all__ = ["ChannelShuffle"]
