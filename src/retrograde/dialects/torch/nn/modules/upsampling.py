"""Upsampling layers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._layer import layer


def _factors(upsample: Any) -> None:
    """Make the factors floats, and keep the name of the layer, which PyTorch's has, too."""
    factor = upsample.scale_factor
    upsample.name = type(upsample).__name__
    upsample.scale_factor = (
        tuple(map(float, factor)) if isinstance(factor, tuple) else float(factor) if factor else None
    )


def _target(upsample: Any) -> str:
    """The size or factor, and the mode."""
    which = "size" if upsample.scale_factor is None else "scale_factor"
    return f"{which}={getattr(upsample, which)!r}, mode={upsample.mode!r}"


_TARGET = "size: Any = None, scale_factor: Any = None"
Upsample = layer(
    "Upsample", f"{_TARGET}, mode: str = 'nearest', align_corners: bool | None = None, "
    "recompute_scale_factor: bool | None = None", F.interpolate,
    "(N, C, *size) resampled to a size or by a factor; see `nn.functional.interpolate`.", shows=_target, then=_factors,
)  # fmt: skip
UpsamplingNearest2d = layer(
    "UpsamplingNearest2d", _TARGET, None, "(N, C, H, W) resampled by the nearest element.", base=Upsample,
    fixed={"mode": "nearest"},
)  # fmt: skip
UpsamplingBilinear2d = layer(
    "UpsamplingBilinear2d", _TARGET, None, "(N, C, H, W) resampled bilinearly with aligned corners.", base=Upsample,
    fixed={"mode": "bilinear", "align_corners": True},
)  # fmt: skip

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]
