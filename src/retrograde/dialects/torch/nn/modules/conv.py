"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from .....core.value import shape_of
from ...._shared.layers import shown
from ...._shared.spatial import classes_of_axes
from ..._creation import empty
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

_MODES = ("zeros", "reflect", "replicate", "circular")


def tuple_of(value: Any, axes: int) -> tuple[Any, ...]:
    """One value per axis: a number for all, or a sequence as it is."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes


class _ConvNd(Module):
    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    ]  # fmt: skip
    bias: Tensor | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: tuple[int, ...], stride: tuple[int, ...], padding: Any,
        dilation: tuple[int, ...], transposed: bool, output_padding: tuple[int, ...], groups: int, bias: bool,
        padding_mode: str, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name = type(self).__name__
        if groups <= 0:
            raise ValueError(f"{name}: groups must be positive, got {groups}")
        if in_channels % groups:
            raise ValueError(
                f"{name}: in_channels={in_channels} is not divisible by groups={groups}; groups must divide in_channels and "
                "out_channels"
            )
        if out_channels % groups:
            raise ValueError(
                f"{name}: out_channels={out_channels} is not divisible by groups={groups}; groups must divide in_channels and "
                "out_channels"
            )
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"{name}: padding must be 'same', 'valid', an int or a tuple, got {padding!r}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError(f"{name}: padding='same' needs a stride of 1, got {stride}")
        if padding_mode not in _MODES:
            raise ValueError(f"{name}: padding_mode must be one of {', '.join(_MODES)}, got {padding_mode!r}")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.transposed, self.output_padding, self.groups = transposed, output_padding, groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size)]
            pairs = [(n // 2, n - n // 2) for n in total]
        else:
            pairs = [(n, n) for n in padding]
        # As `pad` takes it: the last axis first.
        self._reversed_padding_repeated_twice = [n for pair in reversed(pairs) for n in pair]
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*channels, *kernel_size, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew from U(-1/sqrt(fan_in), 1/sqrt(fan_in))."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    extra_repr = shown(
        "=in_channels, =out_channels, kernel_size, stride, padding?0, dilation?1, output_padding?0, groups?1, bias!?True, "
        "padding_mode?'zeros'"
    )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    _axes: int

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        n = self._axes
        super().__init__(
            in_channels, out_channels, tuple_of(kernel_size, n), tuple_of(stride, n),
            padding if isinstance(padding, str) else tuple_of(padding, n), tuple_of(dilation, n), False, (0,) * n,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return getattr(F, f"conv{self._axes}d")(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *size) or (in_channels, *size) to the same with out_channels."""
        return self._conv_forward(input, self.weight, self.bias)


Conv1d, Conv2d, Conv3d = classes_of_axes(
    _Conv, "Conv{}d", "Cross-correlation of {x} with a learned kernel per pair of channels."
)


class _ConvTransposeNd(_ConvNd):
    _axes: int

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__}: padding_mode must be 'zeros', got {padding_mode!r}")
        n = self._axes
        super().__init__(
            in_channels, out_channels, tuple_of(kernel_size, n), tuple_of(stride, n), tuple_of(padding, n),
            tuple_of(dilation, n), True, tuple_of(output_padding, n), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives the wanted size; raises ValueError for one out of reach."""
        n = self._axes
        wanted = [int(m) for m in output_size]
        if len(wanted) == n + 2 or (len(wanted) == n + 1 and len(shape_of(input)) == n + 1):
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(f"{type(self).__name__}: output_size must have {n} or {n + 2} entries, got {len(wanted)}")
        extra = []
        for i, m in enumerate(wanted):
            least = (
                (shape_of(input)[i - n] - 1) * self.stride[i] - 2 * self.padding[i]
                + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            )  # fmt: skip
            if not least <= m <= least + self.stride[i] - 1:
                raise ValueError(
                    f"{type(self).__name__}: output_size {wanted} is out of reach: along axis {i} it can be from "
                    f"{least} "
                    f"to {least + self.stride[i] - 1}"
                )
            extra.append(m - least)
        return tuple(extra)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """(N, in_channels, *size) or (in_channels, *size) to the same with out_channels, of `output_size` if given."""
        extra = self.output_padding if output_size is None else self._output_padding(input, output_size)
        return getattr(F, f"conv_transpose{self._axes}d")(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = classes_of_axes(
    _ConvTransposeNd, "ConvTranspose{}d", "The transpose of Conv{n}d."
)


__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
