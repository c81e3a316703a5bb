"""`paddle.sparse.nn`: layers for sparse tensors, which keep their zeros."""

from __future__ import annotations

import math
from typing import Any

from ..._api import attributes as _attributes
from ..._sparse_tensor import SparseTensor
from ...nn.functional._arguments import per_axis
from ...nn.initializer import Normal
from ...nn.layer._row import layer
from ...nn.layer.conv import _ConvNd
from ...nn.layer.layers import Layer
from ...nn.layer.norm import BatchNorm1D
from . import functional as functional
from . import functional as F

ReLU = layer("ReLU", "", F.relu, "max(x, 0) of the values.")
ReLU6 = layer("ReLU6", "", F.relu6, "min(max(x, 0), 6) of the values.")
LeakyReLU = layer("LeakyReLU", "negative_slope=0.01", F.leaky_relu, "x where it is positive, slope * x elsewhere.")
Softmax = layer("Softmax", "axis=-1", F.softmax, "The softmax over the values of each row.")
MaxPool3D = layer(
    "MaxPool3D", 'kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NDHWC"', F.max_pool3d,
    "The largest value in each window.", shows="kernel_size, stride, padding",
)  # fmt: skip


class _Conv(Layer):
    """A convolution of sparse tensors with trained weights (*kernel, in, out)."""

    _f: Any
    _axes = 2
    _in_channels: Any
    _out_channels: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, padding_mode: str = "zeros", key: Any = None, weight_attr: Any = None, bias_attr: Any = None,
        data_format: str | None = None, backend: Any = None,
    ) -> None:  # fmt: skip
        own, axes = type(self).__name__, self._axes
        if padding_mode != "zeros" or groups != 1 or weight_attr is False or backend not in (None, "igemm"):
            raise AssertionError(f"{own}: wanted padding_mode='zeros', groups=1, weights, and backend None or 'igemm'")
        super().__init__()
        self._in_channels, self._out_channels = in_channels, out_channels
        self._kernel_size, self._stride, self._dilation = (
            list(per_axis(own, what, value, axes))
            for what, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation))
        )
        self._padding, self._data_format = padding, data_format or ("NDHWC" if axes == 3 else "NHWC")
        if self._data_format not in ("NDHWC", "NHWC"):
            raise ValueError(f"{own}: data_format must be NHWC or NDHWC, got {data_format!r}")
        initial = Normal(0.0, (2.0 / (math.prod(self._kernel_size) * in_channels)) ** 0.5)
        shape = [*self._kernel_size, in_channels, out_channels]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=initial)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """The convolution of a sparse tensor."""
        return type(self)._f(
            x, self.weight, self.bias, self._stride, self._padding, self._dilation, data_format=self._data_format
        )

    extra_repr = _ConvNd.extra_repr
    _padding_mode, output_padding, _groups = "zeros", 0, 1


def _plain(cls: type[_Conv]) -> Any:
    """The same class, whose constructor has no `key` and no `backend`."""

    def __init__(
        self: Any, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None, bias_attr: Any = None,
        data_format: str | None = None,
    ) -> None:  # fmt: skip
        _Conv.__init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, None,
                       weight_attr, bias_attr, data_format)  # fmt: skip

    cls.__init__ = __init__  # type: ignore[method-assign]
    return cls


@_plain
class Conv2D(_Conv):
    """The convolution of sparse images (N, H, W, C), wherever a window holds a value."""

    _f = staticmethod(F.conv2d)


@_plain
class Conv3D(_Conv):
    """The convolution of sparse volumes (N, D, H, W, C), wherever a window holds a value."""

    _f, _axes = staticmethod(F.conv3d), 3


class SubmConv2D(_Conv):
    """The convolution of sparse images (N, H, W, C) at their places only, so that they stay as sparse."""

    _f = staticmethod(F.subm_conv2d)


class SubmConv3D(_Conv):
    """The convolution of sparse volumes (N, D, H, W, C) at their places only, so that they stay as sparse."""

    _f, _axes = staticmethod(F.subm_conv3d), 3


class BatchNorm(BatchNorm1D):
    """Batch normalisation of the values of a sparse tensor (..., C) with one dense axis."""

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NDHWC", use_global_stats: bool | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, "NC", use_global_stats, name)

    def forward(self, input: Any) -> Any:
        """The tensor with normalised values; raises ValueError for a dense one."""
        if not isinstance(input, SparseTensor) or input.dense_dim() != 1:
            raise ValueError("BatchNorm: wanted a sparse tensor with one dense axis, the channels")
        return input.with_values(super().forward(input.values()))


class SyncBatchNorm(BatchNorm):
    """Batch normalisation over all processes, of which there is one."""


__all__ = ["BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax", "SubmConv2D", "SubmConv3D",
           "SyncBatchNorm", "functional"]  # fmt: skip

__getattr__ = _attributes(globals())
