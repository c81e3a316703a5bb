"""`torch.autograd.variable`: where `Variable` is defined."""

from __future__ import annotations

from ._entry import Variable

__all__ = ["Variable"]
