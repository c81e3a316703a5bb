"""Dropout layers: they drop in training and do nothing in evaluation."""

from __future__ import annotations

from ..._tensor import Tensor
from .. import functional as F
from .module import Module


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]
    _function: str

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"{type(self).__name__}: the rate p must lie in [0, 1], got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return getattr(F, self._function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Each element 0 with probability p, else divided by 1 - p."""

    _function = "dropout"

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    _function = "dropout1d"


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W)."""

    _function = "dropout2d"


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    _function = "dropout3d"


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and deviation for SELU (Klambauer et al., 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.feature_alpha_dropout(input, self.p, self.training)


__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
