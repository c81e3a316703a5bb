"""Pooling layers: windows by size and pad_mode ("valid", "same", "pad"), and by the number of parts."""

from __future__ import annotations

from typing import Any

from .....learn.layers.windows import channels_first, channels_last
from ... import _layers
from ..._api import FUNCTIONS
from ..cell import Cell

_MODES = ("valid", "same", "pad")


class _Pool(Cell):
    _axes = 2

    def _prepare(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, ceil_mode: bool) -> None:
        name = type(self).__name__
        if not isinstance(pad_mode, str) or pad_mode.lower() not in _MODES:
            raise ValueError(f"{name}: pad_mode must be one of {', '.join(map(repr, _MODES))}, got {pad_mode!r}")
        for label, value in (("kernel_size", kernel_size), ("stride", stride)):
            sizes = value if isinstance(value, tuple) else (value,)
            if any(isinstance(n, bool) or not isinstance(n, int) for n in sizes):
                raise TypeError(f"{name}: {label} must be an int or a tuple of ints, got {value!r}")
            if len(sizes) not in (1, self._axes) or any(n < 1 for n in sizes):
                raise ValueError(f"{name}: {label} must be an int or {self._axes} of them, above 0, got {value!r}")
        if pad_mode.lower() != "pad" and (ceil_mode or padding not in (0, (0,) * self._axes)):
            raise ValueError(f"{name}: padding and ceil_mode go with pad_mode='pad' only, got {pad_mode!r}")
        self.kernel_size, self.stride, self.pad_mode = kernel_size, stride, pad_mode.lower()
        self.padding, self.ceil_mode = padding, ceil_mode

    def extend_repr(self) -> str:
        kernel, stride = self.kernel_size, self.stride
        if self._axes == 1:  # as MindSpore shows it: a window of one row
            kernel, stride = ((1, n) if isinstance(n, int) else (1, *n) for n in (kernel, stride))
        return f"kernel_size={kernel}, stride={stride}, pad_mode={self.pad_mode.upper()}"

    def _run(self, x: Any, last: bool) -> Any:
        x = channels_first(x) if last else x
        out = self._pooled(x)
        if not last:
            return out
        return tuple(map(channels_last, out)) if isinstance(out, tuple) else channels_last(out)

    def _pooled(self, x: Any) -> Any:
        raise NotImplementedError

    def construct(self, x: Any) -> Any:
        return self._run(x, getattr(self, "format", "NCHW") == "NHWC")


class _MaxPool(_Pool):
    def _pooled(self, x: Any) -> Any:
        return _layers.max_pool(
            type(self).__name__, self._axes, x, self.kernel_size, self.stride, self.padding, self.dilation,
            self.ceil_mode, self.return_indices, self.pad_mode,
        )  # fmt: skip

    def _prepare_max(self, dilation: Any, return_indices: bool, **rest: Any) -> None:
        self._prepare(**rest)
        if self.pad_mode != "pad" and (return_indices or dilation not in (1, (1,) * self._axes)):
            raise ValueError(f"{type(self).__name__}: dilation and return_indices go with pad_mode='pad' only")
        self.dilation, self.return_indices = dilation, return_indices


class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L), and its place where `return_indices`."""

    _axes = 1

    def __init__(
        self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._prepare_max(dilation, return_indices, kernel_size=kernel_size, stride=stride, pad_mode=pad_mode,
                          padding=padding, ceil_mode=ceil_mode)  # fmt: skip


class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W), and its place where `return_indices`."""

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False, data_format: str = "NCHW",
    ) -> None:  # fmt: skip
        super().__init__()
        self.format = data_format
        self._prepare_max(dilation, return_indices, kernel_size=kernel_size, stride=stride, pad_mode=pad_mode,
                          padding=padding, ceil_mode=ceil_mode)  # fmt: skip


class MaxPool3d(_MaxPool):
    """The largest element of each window of (N, C, D, H, W), and its place where `return_indices`."""

    _axes = 3

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._prepare_max(dilation, return_indices, kernel_size=kernel_size, stride=stride, pad_mode=pad_mode,
                          padding=padding, ceil_mode=ceil_mode)  # fmt: skip


class _AvgPool(_Pool):
    divisor_override: Any = None

    def _pooled(self, x: Any) -> Any:
        # What "same" adds does not count, except in three dimensions; what is padded by numbers counts if it is said.
        counted = self.count_include_pad and (self.pad_mode == "pad" or self._axes == 3)
        return _layers.avg_pool(
            type(self).__name__, self._axes, x, self.kernel_size, self.stride, self.padding, self.ceil_mode, counted,
            self.divisor_override or 0, self.pad_mode,
        )  # fmt: skip


class AvgPool1d(_AvgPool):
    """The mean of each window of (N, C, L)."""

    _axes = 1

    def __init__(
        self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._prepare(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.count_include_pad = count_include_pad


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W)."""

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None, data_format: str = "NCHW",
    ) -> None:  # fmt: skip
        super().__init__()
        self.format = data_format
        self._prepare(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.count_include_pad, self.divisor_override = count_include_pad, _divisor("AvgPool2d", divisor_override)


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    _axes = 3

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._prepare(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.count_include_pad, self.divisor_override = count_include_pad, _divisor("AvgPool3d", divisor_override)


def _divisor(op: str, divisor: Any) -> Any:
    if divisor is not None and divisor <= 0:
        raise ValueError(f"{op}: divisor_override must be above 0, got {divisor}")
    return divisor


class _Adaptive(Cell):
    _function = ""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Any) -> Any:
        return FUNCTIONS[self._function](input, self.output_size)


class AdaptiveAvgPool1d(_Adaptive):
    """The means of `output_size` parts of (N, C, L)."""

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    """The means of `output_size` parts of (N, C, H, W)."""

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    """The means of `output_size` parts of (N, C, D, H, W)."""

    _function = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(_Adaptive):
    """The largest elements of `output_size` parts of (N, C, L)."""

    _function = "adaptive_max_pool1d"


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def construct(self, input: Any) -> Any:
        return FUNCTIONS[self._function](input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest elements of `output_size` parts of (N, C, H, W), and their places where `return_indices`."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest elements of `output_size` parts of (N, C, D, H, W), and their places where `return_indices`."""

    _function = "adaptive_max_pool3d"


class FractionalMaxPool2d(Cell):
    """The largest elements of windows at pseudorandom distances of (N, C, H, W), and their places where `return_indices`."""

    _function = "fractional_max_pool2d"

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices, self._random_samples = return_indices, _random_samples

    def construct(self, input: Any) -> Any:
        return FUNCTIONS[self._function](input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                         self._random_samples)  # fmt: skip


class FractionalMaxPool3d(FractionalMaxPool2d):
    """The largest elements of windows at pseudorandom distances of (N, C, D, H, W), and their places if asked."""

    _function = "fractional_max_pool3d"


class LPPool1d(Cell):
    """The norm of each window of (N, C, L)."""

    _function = "lp_pool1d"

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Any) -> Any:
        return FUNCTIONS[self._function](x, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """The norm of each window of (N, C, H, W)."""

    _function = "lp_pool2d"


class _Unpool(Cell):
    _function = ""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        return FUNCTIONS[self._function](x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_Unpool):
    """Values back at the places that MaxPool1d gave, zeros elsewhere."""

    _function = "max_unpool1d"


class MaxUnpool2d(_Unpool):
    """Values back at the places that MaxPool2d gave, zeros elsewhere."""

    _function = "max_unpool2d"


class MaxUnpool3d(_Unpool):
    """Values back at the places that MaxPool3d gave, zeros elsewhere."""

    _function = "max_unpool3d"
