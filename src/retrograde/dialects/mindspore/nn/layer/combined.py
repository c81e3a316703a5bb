"""Layers with normalisation and activation, layers over time, and plain functions of images as cells."""

from __future__ import annotations

import math
from typing import Any

from .....ops.manipulation import pad_constant
from .....ops.structural import stack, transpose
from ..cell import Cell
from .activation import LeakyReLU, get_activation
from .basic import Dense
from .conv import Conv2d
from .normalization import BatchNorm1d, BatchNorm2d


def _activation(given: Any, alpha: float) -> Any:
    if given == "leakyrelu":
        return LeakyReLU(alpha)
    return get_activation(given) if isinstance(given, str) else given


class Conv2dBnAct(Cell):
    """A convolution, batch normalisation if `has_bn`, and an activation if one is given."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal",
        bias_init: Any = "zeros", has_bn: bool = False, momentum: float = 0.997, eps: float = 1e-5,
        activation: Any = None, alpha: float = 0.2, after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                           weight_init, bias_init)  # fmt: skip
        self.has_bn, self.has_act = has_bn, activation is not None
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x: Any) -> Any:
        x = self.conv(x)
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x


class DenseBnAct(Cell):
    """A dense layer, batch normalisation if `has_bn`, and an activation if one is given."""

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5, activation: Any = None,
        alpha: float = 0.2, after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn, self.has_act = has_bn, activation is not None
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x: Any) -> Any:
        x = self.dense(x)
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x


class TimeDistributed(Cell):
    """A layer applied to every step of an axis of time, with the results put together along it."""

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not callable(layer):
            raise TypeError(f"TimeDistributed: layer must be a cell or a function, got {type(layer).__name__}")
        for name, value in (("time_axis", time_axis), ("reshape_with_axis", reshape_with_axis)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"TimeDistributed: {name} must be an int, got {type(value).__name__}")
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def construct(self, inputs: Any) -> Any:
        axis = self.time_axis % inputs.ndim
        order = (axis, *(i for i in range(inputs.ndim) if i != axis))
        stacked = stack(*(self.layer(step) for step in transpose(inputs, axes=order)), axis=0)
        n = stacked.ndim
        place = min(axis, n - 1)
        return transpose(stacked, axes=(*range(1, place + 1), 0, *range(place + 1, n)))


class ImageGradients(Cell):
    """The differences of neighbouring pixels of (N, C, H, W) downwards and to the right; 0 in the last row, column."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, images: Any) -> tuple[Any, Any]:
        if images.ndim != 4:
            raise ValueError(f"ImageGradients: wanted images (N, C, H, W), got shape {images.shape}")
        down, right = images[:, :, 1:] - images[:, :, :-1], images[..., 1:] - images[..., :-1]
        none = ((0, 0), (0, 0))
        return (pad_constant(down, widths=(*none, (0, 1), (0, 0)), value=0),
                pad_constant(right, widths=(*none, (0, 0), (0, 1)), value=0))  # fmt: skip


class CentralCrop(Cell):
    """The middle of images (..., H, W): `central_fraction` of each side."""

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        if not isinstance(central_fraction, float):
            raise TypeError(f"CentralCrop: central_fraction must be a float, got {type(central_fraction).__name__}")
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError(f"CentralCrop: central_fraction must lie in (0, 1], got {central_fraction}")
        self.central_fraction = central_fraction

    def construct(self, image: Any) -> Any:
        if image.ndim not in (3, 4):
            raise ValueError(f"CentralCrop: wanted (C, H, W) or (N, C, H, W), got shape {image.shape}")
        starts = [int((n - n * self.central_fraction) / 2) for n in image.shape[-2:]]
        (top, left), (h, w) = starts, image.shape[-2:]
        return image[..., top : h - top, left : w - left]


class PSNR(Cell):
    """The peak signal-to-noise ratio of pairs of images (N, C, H, W) in decibels."""

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        if max_val <= 0:
            raise ValueError(f"PSNR: max_val must be above 0, got {max_val}")
        self.max_val = float(max_val)

    def construct(self, img1: Any, img2: Any) -> Any:
        if img1.ndim != 4 or img1.shape != img2.shape:
            raise ValueError(f"PSNR: wanted two tensors (N, C, H, W) of one shape, got {img1.shape} and {img2.shape}")
        error = ((img1 - img2) ** 2).mean((1, 2, 3))
        return (self.max_val**2 / error).log() * (10 / math.log(10))
