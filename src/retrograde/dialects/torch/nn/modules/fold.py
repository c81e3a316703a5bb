"""Patches of images as columns, and back."""

from __future__ import annotations

from .. import functional as F
from ._layer import layer

_GEOMETRY = "kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1"
Fold = layer("Fold", f"output_size: Any, {_GEOMETRY}", F.fold, shows=True)
Unfold = layer("Unfold", _GEOMETRY, F.unfold, shows=True)

__all__ = ["Fold", "Unfold"]
