"""What makes layers of PaddlePaddle's kind out of rows."""

from __future__ import annotations

from typing import Any

from ...._shared.layers import Layers
from .. import functional
from .layers import Layer

_KIND: dict[str, Any] = {
    "forward": "forward", "text": "extra_repr", "functions": functional, "inputs": "*inputs, **extra", "named": "name",
    "shows": True,
}  # fmt: skip
layer, public = Layers(Layer, private=True, **_KIND), Layers(Layer, **_KIND)
"""Layers that keep an option `p` as `_p`, as most of PaddlePaddle's do, or as `p`."""
