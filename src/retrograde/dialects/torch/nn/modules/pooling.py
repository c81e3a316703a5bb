"""Pooling layers."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from .. import functional as F
from .conv import tuple_of
from .module import Module


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _function: str

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The maxima, and their indices if `return_indices`."""
        return getattr(F, self._function)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, L)."""

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, H, W)."""

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W)."""

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    _axes: int
    _function: str

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self._axes)
        self.stride = tuple_of(stride if stride is not None else kernel_size, self._axes)
        self.padding = tuple_of(padding, self._axes)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The maxima back in their places."""
        return getattr(F, self._function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of MaxPool1d, with zeros for what is lost."""

    _axes = 1
    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of MaxPool2d, with zeros for what is lost."""

    _axes = 2
    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of MaxPool3d, with zeros for what is lost."""

    _axes = 3
    _function = "max_unpool3d"


class AvgPool1d(Module):
    """The mean of each window of (N, C, L)."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, 1)
        self.stride = tuple_of(stride if stride is not None else kernel_size, 1)
        self.padding, self.ceil_mode, self.count_include_pad = tuple_of(padding, 1), ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]
    _function: str

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return getattr(F, self._function)(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W)."""

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of (N, C, D, H, W)."""

    _function = "avg_pool3d"


class _FractionalMaxPool(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _axes: int
    _function: str

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, n = type(self).__name__, self._axes
        if any(k <= 0 for k in tuple_of(kernel_size, n)):
            raise ValueError(f"{name}: kernel_size must be positive, got {kernel_size}")
        self.kernel_size, self.return_indices = tuple_of(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = tuple_of(output_size, n) if output_size is not None else None
        self.output_ratio = tuple_of(output_ratio, n) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name}: output_size or output_ratio is needed")
        if output_size is not None and output_ratio is not None:
            raise ValueError(f"{name}: only one of output_size and output_ratio can be given")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must lie between 0 and 1, got {output_ratio}")

    def forward(self, input: Tensor) -> Any:
        """The maxima, and their indices if `return_indices`."""
        return getattr(F, self._function)(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows at pseudorandom distances of (N, C, H, W)."""

    _axes = 2
    _function = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima over windows at pseudorandom distances of (N, C, D, H, W)."""

    _axes = 3
    _function = "fractional_max_pool3d"


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _function: str

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return getattr(F, self._function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of (N, C, L)."""

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of (N, C, H, W)."""

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of (N, C, D, H, W)."""

    _function = "lp_pool3d"


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    _function: str

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima, and their indices if `return_indices`."""
        return getattr(F, self._function)(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """The output size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of `output_size` parts of (N, C, L)."""

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of the parts of (N, C, H, W)."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of the parts of (N, C, D, H, W)."""

    _function = "adaptive_max_pool3d"


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    _function: str

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self) -> str:
        """The output size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of `output_size` parts of (N, C, L)."""

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of the parts of (N, C, H, W)."""

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of the parts of (N, C, D, H, W)."""

    _function = "adaptive_avg_pool3d"


__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip
