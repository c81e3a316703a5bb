"""Pooling layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import functional as F
from ._layer import layer
from .conv import tuple_of

_SHAPES = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_WINDOW = "kernel_size: Any, stride: Any = None, padding: Any = 0"
_COUNTED = f"{_WINDOW}, ceil_mode: bool = False, count_include_pad: bool = True"


def _stride(pool: Any) -> None:
    if pool.stride is None:
        pool.stride = pool.kernel_size


def _per_axis(pool: Any) -> None:
    _stride(pool)
    for name in ("kernel_size", "stride", "padding"):
        setattr(pool, name, tuple_of(getattr(pool, name), pool._axes))


def _fractional(pool: Any) -> None:
    name, n, ratio, samples = type(pool).__name__, pool._axes, pool.output_ratio, pool._random_samples
    if any(k <= 0 for k in tuple_of(pool.kernel_size, n)):
        raise ValueError(f"{name}: kernel_size must be positive, got {pool.kernel_size}")
    if pool.output_size is None and ratio is None:
        raise ValueError(f"{name}: output_size or output_ratio is needed")
    if pool.output_size is not None and ratio is not None:
        raise ValueError(f"{name}: only one of output_size and output_ratio can be given")
    if ratio is not None and not all(0 < r < 1 for r in tuple_of(ratio, n)):
        raise ValueError(f"{name}: output_ratio must lie between 0 and 1, got {ratio}")
    for option in ("kernel_size", "output_size", "output_ratio"):
        if getattr(pool, option) is not None:
            setattr(pool, option, tuple_of(getattr(pool, option), n))
    del pool._random_samples
    pool.register_buffer("_random_samples", samples)


_MaxPoolNd = layer(
    "_MaxPoolNd", f"{_WINDOW}, dilation: Any = 1, return_indices: bool = False, ceil_mode: bool = False", None,
    "What the layers share that give the maxima of windows.", shows="kernel_size, stride, padding, dilation, ceil_mode",
    then=_stride,
)  # fmt: skip
_MaxUnpoolNd = layer(
    "_MaxUnpoolNd", _WINDOW, None, "What the inverses of max pooling share.", shows=True, then=_per_axis
)
_AvgPoolNd = layer(
    "_AvgPoolNd", f"{_COUNTED}, divisor_override: int | None = None", None,
    "What the layers share that give the means of windows.", shows="kernel_size, stride, padding", then=_stride,
)  # fmt: skip
_FractionalMaxPoolNd = layer(
    "_FractionalMaxPoolNd", "kernel_size: Any, output_size: Any = None, output_ratio: Any = None, "
    "return_indices: bool = False, _random_samples: Tensor | None = None", None,
    "What the layers share that give the maxima of windows at pseudorandom distances.", then=_fractional,
)  # fmt: skip
_LPPoolNd = layer(
    "_LPPoolNd", "norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False",
    lambda self, input: getattr(F, f"lp_pool{self._axes}d")(
        input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
    ), "What the layers share that give the norms of windows.", shows=True,
)  # fmt: skip
_AdaptiveMaxPoolNd = layer(
    "_AdaptiveMaxPoolNd", "output_size: Any, return_indices: bool = False", None,
    "What the layers share that give the maxima of as many parts as are wanted.", shows="output_size",
)  # fmt: skip
_AdaptiveAvgPoolNd = layer(
    "_AdaptiveAvgPoolNd", "output_size: Any", None,
    "What the layers share that give the means of as many parts as are wanted.", shows=True,
)  # fmt: skip


def _pools(base: type, f: str | None, doc: str, axes: tuple[int, ...] = (1, 2, 3), **more: Any) -> Iterator[Any]:
    """The layers of a base for inputs with so many axes."""
    name = base.__name__[1:-2]
    return (
        layer(f"{name}{n}d", None, f and getattr(F, f"{f}{n}d"), doc.format(_SHAPES[n], n), base=base, _axes=n, **more)
        for n in axes
    )


MaxPool1d, MaxPool2d, MaxPool3d = _pools(
    _MaxPoolNd, "max_pool", "The largest element of each window of {}, and its index if `return_indices`."
)
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _pools(
    _MaxUnpoolNd, "max_unpool", "The inverse of MaxPool{1}d, with zeros for what is lost.",
    inputs="input, indices, output_size: Any = None",
)  # fmt: skip
AvgPool1d = layer("AvgPool1d", _COUNTED, F.avg_pool1d, shows="kernel_size, stride, padding", then=_per_axis, _axes=1)
AvgPool2d, AvgPool3d = _pools(_AvgPoolNd, "avg_pool", "The mean of each window of {}.", (2, 3))
FractionalMaxPool2d, FractionalMaxPool3d = _pools(
    _FractionalMaxPoolNd, "fractional_max_pool", "Maxima over windows at pseudorandom distances of {}.", (2, 3)
)
LPPool1d, LPPool2d, LPPool3d = _pools(_LPPoolNd, None, "The p-norm of each window of {}.")
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _pools(
    _AdaptiveMaxPoolNd, "adaptive_max_pool",
    "The largest elements of `output_size` parts of {}, and their indices if `return_indices`.",
)  # fmt: skip
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _pools(
    _AdaptiveAvgPoolNd, "adaptive_avg_pool", "The means of `output_size` parts of {}."
)

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip
