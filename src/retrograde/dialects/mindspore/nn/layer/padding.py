"""Padding, pixels moved about and resampling as cells."""

from __future__ import annotations

from typing import Any

from ... import _padding, _patches, _resample
from .._checks import one_of, positive_int
from .._row import layer
from ..cell import Cell


class Pad(Cell):
    """Elements added at both ends of every axis: zeros ("CONSTANT"), or mirrored ("REFLECT", "SYMMETRIC")."""

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        self.mode = one_of("Pad", "mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"))
        if not isinstance(paddings, tuple):
            raise TypeError(f"Pad: paddings must be a tuple of pairs, got {type(paddings).__name__}")
        if any(len(pair) != 2 for pair in paddings):
            raise ValueError(f"Pad: paddings must be pairs, got {paddings}")
        self.paddings = paddings

    def construct(self, x: Any) -> Any:
        if self.mode != "CONSTANT":
            return _padding.mirror_pad(x, self.paddings, self.mode)
        return _padding.pad(x, tuple(n for pair in reversed(self.paddings) for n in pair))


def _check_padding(pad: Any) -> None:
    name, padding = type(pad).__name__, pad.padding
    if isinstance(padding, bool) or not isinstance(padding, (int, tuple)):
        raise TypeError(f"{name}: padding must be an int or a tuple, got {type(padding).__name__}")
    if isinstance(padding, tuple):
        if len(padding) % 2 or not 0 < len(padding) <= 2 * pad._axes:
            raise ValueError(f"{name}: padding must hold pairs for at most {pad._axes} axes, got {padding}")
        if any(isinstance(n, bool) or not isinstance(n, int) for n in padding):
            raise TypeError(f"{name}: padding must hold ints, got {padding}")
    pad.padding = (padding,) * (2 * pad._axes) if isinstance(padding, int) else padding
    if pad._mode == "reflect" and min(pad.padding) < 0:
        raise ValueError(f"{name}: padding must not be negative, got {padding}")


def _check_value(pad: Any) -> None:
    _check_padding(pad)
    if isinstance(pad.value, bool) or not isinstance(pad.value, (int, float)):
        raise TypeError(f"{type(pad).__name__}: value must be a number, got {type(pad.value).__name__}")


_AXES = {1: "last axis", 2: "last two axes", 3: "last three axes"}


def _pad(prefix: str, axes: int, mode: str, doc: str) -> Any:
    """A layer that pads the last axes; padding is an int, or pairs from the last axis on."""
    return layer(
        f"{prefix}Pad{axes}d", "padding: Any", lambda self, x: _padding.pad(x, self.padding, self._mode),
        doc.format(_AXES[axes]), then=_check_padding, _axes=axes, _mode=mode,
    )  # fmt: skip


ConstantPad1d, ConstantPad2d, ConstantPad3d = (
    layer(
        f"ConstantPad{n}d", "padding: Any, value: Any",
        lambda self, x: _padding.pad(x, self.padding, "constant", self.value), f"A value added at the ends of the {axes}.",
        then=_check_value, _axes=n, _mode="constant",
    )
    for n, axes in _AXES.items()
)  # fmt: skip
ZeroPad2d = _pad("Zero", 2, "constant", "Zeros added at the ends of the {}.")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _pad("Reflection", n, "reflect", "The {} mirrored at the ends.") for n in _AXES
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _pad("Replication", n, "replicate", "The last element repeated at the ends of the {}.") for n in _AXES
)


def _check_groups(shuffle: Any) -> None:
    positive_int("ChannelShuffle", "groups", shuffle.groups)


PixelShuffle = layer("PixelShuffle", "upscale_factor: int", _patches.pixel_shuffle, inputs="input")
PixelUnshuffle = layer("PixelUnshuffle", "downscale_factor: int", _patches.pixel_unshuffle, inputs="input")
ChannelShuffle = layer("ChannelShuffle", "groups: int", _patches.channel_shuffle, then=_check_groups)
Upsample = layer(
    "Upsample", "size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None, "
    "recompute_scale_factor: bool | None = None", _resample.interpolate,
    "(N, C, *space) resampled to a size or by a factor, as `ops.interpolate` does.",
)  # fmt: skip
