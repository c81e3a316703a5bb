"""Layers with normalisation and activation, layers over time, and plain functions of images as cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....ops.manipulation import pad_constant
from .....ops.structural import stack, transpose
from ...._shared.checks import check
from ... import _activations, _convolution, _pooling
from ..._dtype import float32
from ..._tensor import from_array
from .._checks import a_float, positive_int
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
        check("TimeDistributed", "layer: function", locals())
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
        check("CentralCrop", "central_fraction: float in (0.0, 1.0]", locals())
        self.central_fraction = central_fraction

    def construct(self, image: Any) -> Any:
        if image.ndim not in (3, 4):
            raise ValueError(f"CentralCrop: wanted (C, H, W) or (N, C, H, W), got shape {image.shape}")
        starts = [int((n - n * self.central_fraction) / 2) for n in image.shape[-2:]]
        (top, left), (h, w) = starts, image.shape[-2:]
        return image[..., top : h - top, left : w - left]


def _same_images(op: str, img1: Any, img2: Any) -> None:
    if img1.ndim != 4 or img1.shape != img2.shape:
        raise ValueError(f"{op}: wanted two tensors (N, C, H, W) of one shape, got {img1.shape} and {img2.shape}")


class PSNR(Cell):
    """The peak signal-to-noise ratio of pairs of images (N, C, H, W) in decibels."""

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        check("PSNR", "max_val > 0", locals())
        self.max_val = float(max_val)

    def construct(self, img1: Any, img2: Any) -> Any:
        _same_images("PSNR", img1, img2)
        error = ((img1 - img2) ** 2).mean((1, 2, 3))
        return (self.max_val**2 / error).log() * (10 / math.log(10))


class SSIM(Cell):
    """How alike the structure of pairs of images (N, C, H, W) is, from 0 to 1: means, variances and covariances of windows
    with normal weights (Wang et al., 2004)."""

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__()
        op = type(self).__name__
        for name, value in (("max_val", max_val), ("filter_sigma", filter_sigma)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"{op}: {name} must be a number, got {type(value).__name__}")
            if value <= 0:
                raise ValueError(f"{op}: {name} must be above 0, got {value}")
        for name, value in (("k1", k1), ("k2", k2)):
            a_float(op, name, value)
        positive_int(op, "filter_size", filter_size)
        self.filter_size = filter_size
        self.scale = 1 / max_val if max_val > 1 else 1.0
        top = max_val * self.scale
        self.c1, self.c2 = (k1 * top) ** 2, (k2 * top) ** 2
        at = np.arange(filter_size) - (filter_size - 1) // 2
        weights = np.exp(-(at**2) / (2 * filter_sigma**2))
        window = np.outer(weights, weights)
        self.window = (window / window.sum()).astype(np.float32)

    def _compared(self, x: Any, y: Any) -> tuple[Any, Any]:
        """The similarity, and its part without the means, of each channel (N, C)."""
        if min(x.shape[2:]) < self.filter_size:
            raise ValueError(f"{type(self).__name__}: images of {x.shape[2:]} are smaller than the window, {self.filter_size}")
        channels = x.shape[1]
        weight = from_array(np.broadcast_to(self.window, (channels, 1, *self.window.shape)).copy())

        def mean(v: Any) -> Any:
            return _convolution.conv2d(v, weight, groups=channels)

        mx, my = mean(x), mean(y)
        covariance, variances = mean(x * y) - mx * my, mean(x * x) - mx * mx + (mean(y * y) - my * my)
        structure = (2 * covariance + self.c2) / (variances + self.c2)
        alike = (2 * mx * my + self.c1) / (mx * mx + my * my + self.c1) * structure
        return alike.mean((2, 3)), structure.mean((2, 3))

    def _taken(self, img1: Any, img2: Any) -> tuple[Any, Any]:
        _same_images(type(self).__name__, img1, img2)
        return tuple(x.astype(float32) * self.scale for x in (img1, img2))  # type: ignore[return-value]

    def construct(self, img1: Any, img2: Any) -> Any:
        return self._compared(*self._taken(img1, img2))[0].mean(-1)


class MSSSIM(SSIM):
    """The product over scales, each half as large as the one before, of the similarity of structures to a power; at the last
    one that of the means counts too (Wang et al., 2003)."""

    def __init__(
        self, max_val: float = 1.0, power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11,
        filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
    ) -> None:  # fmt: skip
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        check("MSSSIM", "power_factors: list", locals())
        self.power_factors = tuple(power_factors)

    def construct(self, img1: Any, img2: Any) -> Any:
        x, y = self._taken(img1, img2)
        product: Any = 1.0
        for i, power in enumerate(self.power_factors):
            if i:
                x, y = (_pooling.avg_pool2d(v, 2, 2) for v in (x, y))
            alike, structure = self._compared(x, y)
            product = product * _activations.relu(alike if i == len(self.power_factors) - 1 else structure) ** power
        return product.mean(-1)
