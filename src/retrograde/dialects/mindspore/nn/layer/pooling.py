"""Pooling layers: windows by size and pad_mode ("valid", "same", "pad"), and by the number of parts."""

from __future__ import annotations

from typing import Any

from .....learn.layers.windows import channels_first, channels_last
from ... import _pooling
from .._row import layer
from ..cell import Cell

_MODES = ("valid", "same", "pad")


class _Pool(Cell):
    _axes: int
    kernel_size: Any
    stride: Any
    pad_mode: str

    def extend_repr(self) -> str:
        kernel, stride = self.kernel_size, self.stride
        if self._axes == 1:  # as MindSpore shows it: a window of one row
            kernel, stride = ((1, n) if isinstance(n, int) else (1, *n) for n in (kernel, stride))
        return f"kernel_size={kernel}, stride={stride}, pad_mode={self.pad_mode.upper()}"

    def construct(self, x: Any) -> Any:
        if self.format != "NHWC":
            return self._pooled(x)
        out = self._pooled(channels_first(x))
        return tuple(map(channels_last, out)) if isinstance(out, tuple) else channels_last(out)

    def _pooled(self, x: Any) -> Any:
        raise NotImplementedError


class _MaxPool(_Pool):
    def _pooled(self, x: Any) -> Any:
        return _pooling.max_pool(
            type(self).__name__, self._axes, x, self.kernel_size, self.stride, self.padding, self.dilation,
            self.ceil_mode, self.return_indices, self.pad_mode,
        )  # fmt: skip


class _AvgPool(_Pool):
    divisor_override: Any = None

    def _pooled(self, x: Any) -> Any:
        # What "same" adds does not count, except in three dimensions; what is padded by numbers counts if it is said.
        counted = self.count_include_pad and (self.pad_mode == "pad" or self._axes == 3)
        return _pooling.avg_pool(
            type(self).__name__, self._axes, x, self.kernel_size, self.stride, self.padding, self.ceil_mode, counted,
            self.divisor_override or 0, self.pad_mode,
        )  # fmt: skip


def _check_window(pool: Any) -> None:
    name, axes, mode = type(pool).__name__, pool._axes, pool.pad_mode
    if not isinstance(mode, str) or mode.lower() not in _MODES:
        raise ValueError(f"{name}: pad_mode must be one of {', '.join(map(repr, _MODES))}, got {mode!r}")
    for label in ("kernel_size", "stride"):
        value = getattr(pool, label)
        sizes = value if isinstance(value, tuple) else (value,)
        if any(isinstance(n, bool) or not isinstance(n, int) for n in sizes):
            raise TypeError(f"{name}: {label} must be an int or a tuple of ints, got {value!r}")
        if len(sizes) not in (1, axes) or any(n < 1 for n in sizes):
            raise ValueError(f"{name}: {label} must be an int or {axes} of them, above 0, got {value!r}")
    pool.pad_mode = mode.lower()
    pool.format = pool.__dict__.pop("data_format", "NCHW")
    if pool.pad_mode != "pad" and (pool.ceil_mode or pool.padding not in (0, (0,) * axes)):
        raise ValueError(f"{name}: padding and ceil_mode go with pad_mode='pad' only, got {mode!r}")


def _check_max(pool: Any) -> None:
    _check_window(pool)
    if pool.pad_mode != "pad" and (pool.return_indices or pool.dilation not in (1, (1,) * pool._axes)):
        raise ValueError(f"{type(pool).__name__}: dilation and return_indices go with pad_mode='pad' only")


def _check_average(pool: Any) -> None:
    _check_window(pool)
    if pool.divisor_override is not None and pool.divisor_override <= 0:
        raise ValueError(f"{type(pool).__name__}: divisor_override must be above 0, got {pool.divisor_override}")


_SHAPES = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_WINDOW = "kernel_size: Any = 1, stride: Any = 1, pad_mode: str = 'valid', padding: Any = 0"
_LAYOUT = {1: "", 2: ", data_format: str = 'NCHW'", 3: ""}
_RANDOM = ("kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, "
           "_random_samples: Any = None")  # fmt: skip
MaxPool1d, MaxPool2d, MaxPool3d = (
    layer(
        f"MaxPool{n}d", f"{_WINDOW}, dilation: Any = 1, return_indices: bool = False, ceil_mode: bool = False{_LAYOUT[n]}",
        None, f"The largest element of each window of {shape}, and its place where `return_indices`.", base=_MaxPool,
        then=_check_max, _axes=n,
    )
    for n, shape in _SHAPES.items()
)  # fmt: skip
AvgPool1d, AvgPool2d, AvgPool3d = (
    layer(
        f"AvgPool{n}d", f"{_WINDOW}, ceil_mode: bool = False, count_include_pad: bool = True"
        + ", divisor_override: int | None = None" * (n > 1) + _LAYOUT[n], None, f"The mean of each window of {shape}.",
        base=_AvgPool, then=_check_average, _axes=n,
    )
    for n, shape in _SHAPES.items()
)  # fmt: skip
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = (
    layer(
        f"AdaptiveAvgPool{n}d", "output_size: Any", pool, f"The means of `output_size` parts of {_SHAPES[n]}.", inputs="input",
    )
    for n, pool in enumerate((_pooling.adaptive_avg_pool1d, _pooling.adaptive_avg_pool2d, _pooling.adaptive_avg_pool3d), 1)
)  # fmt: skip
AdaptiveMaxPool1d = layer(
    "AdaptiveMaxPool1d", "output_size: Any", _pooling.adaptive_max_pool1d,
    "The largest elements of `output_size` parts of (N, C, L).", inputs="input",
)  # fmt: skip
AdaptiveMaxPool2d, AdaptiveMaxPool3d = (
    layer(
        f"AdaptiveMaxPool{n}d", "output_size: Any, return_indices: bool = False", pool,
        f"The largest elements of `output_size` parts of {_SHAPES[n]}, and their places where `return_indices`.",
        inputs="input",
    )
    for n, pool in ((2, _pooling.adaptive_max_pool2d), (3, _pooling.adaptive_max_pool3d))
)  # fmt: skip
FractionalMaxPool2d, FractionalMaxPool3d = (
    layer(
        f"FractionalMaxPool{n}d", _RANDOM, pool,
        f"The largest elements of windows at pseudorandom distances of {_SHAPES[n]}, and their places where "
        "`return_indices`.", inputs="input",
    )
    for n, pool in ((2, _pooling.fractional_max_pool2d), (3, _pooling.fractional_max_pool3d))
)  # fmt: skip
LPPool1d, LPPool2d = (
    layer(
        f"LPPool{n}d", "norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False",
        lambda self, x, pool=pool: pool(x, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode),
        f"The norm of each window of {_SHAPES[n]}.", _axes=n,
    )
    for n, pool in ((1, _pooling.lp_pool1d), (2, _pooling.lp_pool2d))
)  # fmt: skip
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = (
    layer(
        f"MaxUnpool{n}d", "kernel_size: Any, stride: Any = None, padding: Any = 0", pool,
        f"Values back at the places that MaxPool{n}d gave, zeros elsewhere.",
        inputs="x, indices, output_size: Any = None",
    )
    for n, pool in enumerate((_pooling.max_unpool1d, _pooling.max_unpool2d, _pooling.max_unpool3d), 1)
)  # fmt: skip
