"""Dropout layers: they drop in training and do nothing in evaluation."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._layer import layer


def _check_rate(dropout: Any) -> None:
    if dropout.p < 0 or dropout.p > 1:
        raise ValueError(f"{type(dropout).__name__}: the rate p must lie in [0, 1], got {dropout.p}")


_DropoutNd = layer(
    "_DropoutNd", "p: float = 0.5, inplace: bool = False", None, "What the dropouts share.", shows=True, then=_check_rate
)


def _dropout(name: str, f: Any, doc: str, *spent: str) -> Any:
    return layer(name, None, f, doc, base=_DropoutNd, training=True, spent=spent)


Dropout = _dropout("Dropout", F.dropout, "Each element 0 with probability p, else divided by 1 - p.")
Dropout1d = _dropout("Dropout1d", F.dropout1d, "Dropout of whole channels of (N, C, L) or (C, L).")
Dropout2d = _dropout("Dropout2d", F.dropout2d, "Dropout of whole channels of (N, C, H, W).")
Dropout3d = _dropout("Dropout3d", F.dropout3d, "Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).")
AlphaDropout = _dropout(
    "AlphaDropout", F.alpha_dropout, "Dropout that keeps mean and deviation for SELU (Klambauer et al., 2017).", "inplace"
)
FeatureAlphaDropout = _dropout(
    "FeatureAlphaDropout", F.feature_alpha_dropout, "AlphaDropout of whole channels.", "inplace"
)

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
