"""Patches of images as columns, and back."""

from __future__ import annotations

from .. import functional as F
from ._layer import layer

_GEOMETRY = "kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1"
Fold = layer(
    "Fold", f"output_size: Any, {_GEOMETRY}", F.fold,
    "Columns (N, C·kernel, patches) added up to images (N, C, *output_size).", shows=True,
)  # fmt: skip
Unfold = layer(
    "Unfold", _GEOMETRY, F.unfold, "Patches of images (N, C, H, W) as columns (N, C·kernel, patches).", shows=True
)

__all__ = ["Fold", "Unfold"]
