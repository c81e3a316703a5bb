"""What makes layers of PyTorch's kind out of rows."""

from __future__ import annotations

from ...._shared.layers import Layers
from .. import functional
from .module import Module

layer = Layers(
    Module, forward="forward", text="extra_repr", functions=functional, tensor="Tensor", listed="__constants__"
)
