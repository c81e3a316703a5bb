"""Padding, pixels moved about and resampling as cells."""

from __future__ import annotations

from typing import Any

from ... import _image
from .._checks import one_of, positive_int
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
            return _image.mirror_pad(x, self.paddings, self.mode)
        return _image.pad(x, tuple(n for pair in reversed(self.paddings) for n in pair))


class _SpacePad(Cell):
    """Base of the layers that pad the last `_axes` axes; padding is an int, or pairs from the last axis on."""

    _axes = 1
    _mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        name = type(self).__name__
        if isinstance(padding, bool) or not isinstance(padding, (int, tuple)):
            raise TypeError(f"{name}: padding must be an int or a tuple, got {type(padding).__name__}")
        if isinstance(padding, tuple):
            if len(padding) % 2 or not 0 < len(padding) <= 2 * self._axes:
                raise ValueError(f"{name}: padding must hold pairs for at most {self._axes} axes, got {padding}")
            if any(isinstance(n, bool) or not isinstance(n, int) for n in padding):
                raise TypeError(f"{name}: padding must hold ints, got {padding}")
        self.padding = (padding,) * (2 * self._axes) if isinstance(padding, int) else padding
        if self._mode == "reflect" and min(self.padding) < 0:
            raise ValueError(f"{name}: padding must not be negative, got {padding}")

    def construct(self, x: Any) -> Any:
        return _image.pad(x, self.padding, self._mode)


class _ConstantPad(_SpacePad):
    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{type(self).__name__}: value must be a number, got {type(value).__name__}")
        self.value = value

    def construct(self, x: Any) -> Any:
        return _image.pad(x, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """A value added at the ends of the last axis."""


class ConstantPad2d(_ConstantPad):
    """A value added at the ends of the last two axes."""

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """A value added at the ends of the last three axes."""

    _axes = 3


class ZeroPad2d(_SpacePad):
    """Zeros added at the ends of the last two axes."""

    _axes = 2


class ReflectionPad1d(_SpacePad):
    """The last axis mirrored at its ends."""

    _mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """The last two axes mirrored at their ends."""

    _axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """The last three axes mirrored at their ends."""

    _axes = 3


class ReplicationPad1d(_SpacePad):
    """The last element repeated at the ends of the last axis."""

    _mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """The last element repeated at the ends of the last two axes."""

    _axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """The last element repeated at the ends of the last three axes."""

    _axes = 3


class PixelShuffle(Cell):
    """Channels moved into space: (N, C r², H, W) to (N, C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Any) -> Any:
        return _image.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Space moved into channels: (N, C, H r, W r) to (N, C r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input: Any) -> Any:
        return _image.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """The channels of `groups` groups dealt out in turn."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = positive_int("ChannelShuffle", "groups", groups)

    def construct(self, x: Any) -> Any:
        return _image.channel_shuffle(x, self.groups)


class Upsample(Cell):
    """(N, C, *space) resampled to a size or by a factor, as `ops.interpolate` does."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Any) -> Any:
        return _image.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )
