"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from ...._shared.layers import shown
from ...._shared.spatial import classes_of_axes
from ..._device import check_device
from .. import functional as F
from ..functional._arguments import per_axis
from ..initializer import Normal
from .layers import Layer

_PADDINGS = ("zeros", "reflect", "replicate", "circular")
_FORMATS = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")


def _listed(own: str, name: str, value: Any, axes: int) -> list[int]:
    return list(per_axis(own, name, value, axes))


class _Conv(Layer):
    """What convolution and transposed convolution share: checks and parameters."""

    _axes: int
    _transposed = False

    def _set_up(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int, weight_attr: Any, bias_attr: Any, data_format: str | None, padding_mode: str = "zeros",
        output_padding: Any = 0, dtype: Any = None,
    ) -> None:  # fmt: skip
        own, axes = type(self).__name__, self._axes
        super().__init__(dtype="float32" if dtype is None else dtype)
        if weight_attr is False:
            raise AssertionError(f"{own}: weight_attr must not be False")
        if padding_mode not in _PADDINGS:
            raise ValueError(f"{own}: padding_mode must be one of {', '.join(_PADDINGS)}, got {padding_mode!r}")
        data_format = _FORMATS[2 * axes - 2] if data_format is None else data_format
        if data_format not in _FORMATS:
            raise ValueError(f"{own}: data_format must be one of {', '.join(_FORMATS)}, got {data_format!r}")
        if in_channels % groups:
            raise ValueError(f"{own}: in_channels must be divisible by groups, got {in_channels} and {groups}")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = _listed(own, "kernel_size", kernel_size, axes)
        self._stride, self._dilation = _listed(own, "stride", stride, axes), _listed(own, "dilation", dilation, axes)
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self.output_padding = output_padding
        if self._transposed:
            shape, initial = [in_channels, out_channels // groups, *self._kernel_size], None
        else:
            if padding_mode != "zeros" and isinstance(padding, str):
                raise TypeError(f"{own}: padding must be numbers where padding_mode is {padding_mode!r}")
            shape = [out_channels, in_channels // groups, *self._kernel_size]
            initial = Normal(0.0, (2.0 / (math.prod(self._kernel_size) * in_channels)) ** 0.5)
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=initial)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    extra_repr = shown(
        "=_in_channels, =_out_channels, kernel_size:_kernel_size, stride:_stride?1, padding:_padding~0, "
        "padding_mode:_padding_mode?'zeros', output_padding~0, dilation:_dilation?1, groups:_groups?1, data_format:_data_format"
    )


class _ConvNd(_Conv):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None,
        bias_attr: Any = None, data_format: str | None = None, *, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        check_device(type(self).__name__, device)
        self._set_up(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr,
            bias_attr if bias else False, data_format, padding_mode, dtype=dtype,
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        """The convolution of x, padded as `padding_mode` says."""
        padding = self._padding
        if self._padding_mode != "zeros":
            widths = per_axis(type(self).__name__, "padding", padding, self._axes)
            x = F.pad(x, [n for n in reversed(widths) for _ in (0, 1)], self._padding_mode, 0.0, self._data_format)
            padding = 0
        f = getattr(F, f"conv{self._axes}d")
        return f(x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format)


Conv1D, Conv2D, Conv3D = classes_of_axes(
    _ConvNd, "Conv{}D", "The cross-correlation of {x} with trained weights (out, in / groups, {k})."
)


class _ConvNdTranspose(_Conv):
    _transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1, weight_attr: Any = None, bias_attr: Any = None,
        data_format: str | None = None,
    ) -> None:  # fmt: skip
        self._set_up(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr, bias_attr,
            data_format, output_padding=output_padding,
        )  # fmt: skip

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transposed convolution of x, to `output_size` if given."""
        f = getattr(F, f"conv{self._axes}d_transpose")
        return f(
            x, self.weight, bias=self.bias, stride=self._stride, padding=self._padding,
            output_padding=self.output_padding if output_size is None else 0, dilation=self._dilation,
            groups=self._groups, output_size=output_size, data_format=self._data_format,
        )  # fmt: skip


class Conv1DTranspose(_ConvNdTranspose):
    """The transpose of Conv1D, with trained weights (in, out / groups, k)."""

    _axes = 1

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, dilation: Any = 1, weight_attr: Any = None, bias_attr: Any = None,
        data_format: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups,
                         weight_attr, bias_attr, data_format)  # fmt: skip


Conv2DTranspose, Conv3DTranspose = classes_of_axes(
    _ConvNdTranspose, "Conv{}DTranspose", "The transpose of Conv{n}D, with trained weights (in, out / groups, {k}).", (2, 3)
)


