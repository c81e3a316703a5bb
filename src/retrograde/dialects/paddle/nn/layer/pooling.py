"""Pooling as layers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._row import layer

_WINDOW = "kernel_size, stride=None, padding=0"
_SHOWN = "kernel_size, stride, padding"
_LAYOUT = {1: "", 2: ", data_format='NCHW'", 3: ", data_format='NCDHW'"}


def _complete_norm(pool: Any) -> None:
    own = pool.__dict__
    own["_norm_type"] = float(own["_norm_type"])
    if own["_stride"] is None and pool._axes == 2:
        own["_stride"] = own["_kernel_size"]


MaxPool1D, MaxPool2D, MaxPool3D = (
    layer(
        f"MaxPool{n}D", f"{_WINDOW}, return_mask=False, ceil_mode=False{layout}", getattr(F, f"max_pool{n}d"),
        "The largest element of each window.", shows=_SHOWN,
    )
    for n, layout in _LAYOUT.items()
)  # fmt: skip
AvgPool1D = layer("AvgPool1D", f"{_WINDOW}, exclusive=True, ceil_mode=False", F.avg_pool1d, shows=_SHOWN)
AvgPool2D, AvgPool3D = (
    layer(
        f"AvgPool{n}D", f"{_WINDOW}, ceil_mode=False, exclusive=True, divisor_override=None{_LAYOUT[n]}",
        getattr(F, f"avg_pool{n}d"), "The mean of each window.", shows=_SHOWN,
    )
    for n in (2, 3)
)  # fmt: skip
AdaptiveAvgPool1D, AdaptiveAvgPool2D, AdaptiveAvgPool3D = (
    layer(
        f"AdaptiveAvgPool{n}D", f"output_size{layout}", getattr(F, f"adaptive_avg_pool{n}d"), "The means of parts.",
        shows="output_size",
    )
    for n, layout in _LAYOUT.items()
)  # fmt: skip
AdaptiveMaxPool1D, AdaptiveMaxPool2D, AdaptiveMaxPool3D = (
    layer(
        f"AdaptiveMaxPool{n}D", "output_size, return_mask=False", getattr(F, f"adaptive_max_pool{n}d"),
        "The largest elements of parts.",
    )
    for n in (1, 2, 3)
)  # fmt: skip
MaxUnPool1D, MaxUnPool2D, MaxUnPool3D = (
    layer(
        f"MaxUnPool{n}D", f"{_WINDOW}{layout or ', data_format=' + repr('NCL')}, output_size=None",
        getattr(F, f"max_unpool{n}d"), "Maxima back in their places.", shows="output_size",
    )
    for n, layout in _LAYOUT.items()
)  # fmt: skip
LPPool1D, LPPool2D = (
    layer(
        f"LPPool{n}D", f"norm_type, {_WINDOW}, ceil_mode=False, data_format='{layout}'", getattr(F, f"lp_pool{n}d"),
        "The p-norm of each window.", shows=f"norm_type, {_SHOWN}", then=_complete_norm, _axes=n,
    )
    for n, layout in ((1, "NCL"), (2, "NCHW"))
)  # fmt: skip
FractionalMaxPool2D, FractionalMaxPool3D = (
    layer(
        f"FractionalMaxPool{n}D", "output_size, kernel_size=None, random_u=None, return_mask=False",
        getattr(F, f"fractional_max_pool{n}d"), "Maxima of windows at random distances.",
        shows="output_size, return_mask",
    )
    for n in (2, 3)
)  # fmt: skip
