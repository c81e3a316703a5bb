"""Normalisation layers over the operations of `ops.normalization`: batch, instance, layer, group, RMS, local response.

Channels stand on axis 1. Weights and running statistics are in the dtype of `x`, or go through `ops.structural.cast`
before. Called by the dialects' functions, which check shapes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import detached, dtype_of, shape_of
from ...ops import normalization as nm
from ...ops.elementwise import add, divide, multiply, power_by, rsqrt, square
from ...ops.kernels import is_half
from ...ops.manipulation import pad_constant
from ...ops.reduction import mean as reduce_mean
from ...ops.structural import cast, reshape
from ..running import update_statistics
from .windows import avg_pool


@functools.lru_cache(256)
def _per_channel(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1, shape[1], *(1,) * (len(shape) - 2))


@functools.cache
def _but_channels(rank: int) -> tuple[int, ...]:
    return (0, *range(2, rank))


def batch_norm(
    x: Any, weight: Any, bias: Any, running: tuple[Any, Any] | None, *, training: bool, share: float, eps: float,
    correction: int = 1, stats: bool = False,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The result and, where they were needed (or with `stats`), mean and one over the deviation of the batch.

    training: by the batch's statistics, of which the running ones (mean, variance) take in `share`, the variance with
    `correction` (1: unbiased). Otherwise by the running ones, which have no derivative.
    """
    shape = tuple(shape_of(x))
    affine = _per_channel(shape)
    if not training:
        assert running is not None
        center, var = (as_dtype(detached(v), dtype_of(x)) for v in running)
        return nm.normalize_by(x, center, var, weight, bias, affine=affine, eps=float(eps)), None, None
    axis = _but_channels(len(shape))
    if running is None and not stats:
        return nm.normalize(x, weight, bias, shape=shape, axis=axis, affine=affine, eps=float(eps)), None, None
    out, mean, scale = nm.normalize_stats(x, weight, bias, shape=shape, axis=axis, affine=affine, eps=float(eps))
    if running is not None and 0 not in shape:  # an empty batch has no statistics
        count = math.prod(shape) // max(shape[1], 1)
        update_statistics(running, mean, scale, share, eps, count, correction)
    return out, mean, scale


def as_dtype(x: Any, dtype: np.dtype) -> Any:
    """A value (or None) in a dtype."""
    return x if x is None or dtype_of(x) == dtype else cast(x, dtype=dtype)


def instance_norm(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each channel of each element of the batch by its own statistics."""
    shape = tuple(shape_of(x))
    return nm.normalize(
        x, weight, bias, shape=shape, axis=tuple(range(2, len(shape))), affine=_per_channel(shape), eps=float(eps)
    )


def layer_norm(x: Any, weight: Any, bias: Any, axes: int, eps: float, norm: Any = nm.normalize) -> Any:
    """By the statistics over the last `axes` axes, whose shape the weights have; `norm` may be normalize_stats."""
    shape = tuple(shape_of(x))
    axis, affine = _last(shape, axes)
    return norm(x, weight, bias, shape=shape, axis=axis, affine=affine, eps=float(eps))


@functools.lru_cache(256)
def _last(shape: tuple[int, ...], axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last `axes` axes of a shape, and the shape in which weights for their elements meet it."""
    lead = len(shape) - axes
    return tuple(range(lead, len(shape))), (*(1,) * lead, *shape[lead:])


def group_norm(x: Any, weight: Any, bias: Any, groups: int, eps: float, norm: Any = nm.normalize) -> Any:
    """By the statistics of each of `groups` groups of channels; `norm` may be normalize_stats."""
    shape = tuple(shape_of(x))
    grouped, affine = _grouped(shape, groups), _per_channel(shape)
    return norm(x, weight, bias, shape=grouped, axis=(2,), affine=affine, eps=float(eps))


@functools.lru_cache(256)
def _grouped(shape: tuple[int, ...], groups: int) -> tuple[int, int, int]:
    return shape[0], groups, shape[1] // groups * math.prod(shape[2:])


def rms_norm(x: Any, weight: Any, axes: int, eps: float) -> Any:
    """x / sqrt(mean(x²) + eps) * weight over the last axes (Zhang and Sennrich 2019); half precision in float32."""
    dtype = dtype_of(x)
    wide = cast(x, dtype=np.dtype(np.float32)) if is_half(dtype) else x
    rank = len(shape_of(x))
    mean = reduce_mean(square(wide), axis=tuple(range(rank - axes, rank)), keepdims=True)
    out = multiply(wide, rsqrt(add(mean, eps)))
    if weight is not None:
        out = multiply(out, as_dtype(weight, dtype_of(out)))
    return as_dtype(out, dtype)


def local_response_norm(
    x: Any, size: int, alpha: float, beta: float, k: float, floated: Callable[[Any], Any] | None = None
) -> Any:
    """x / (k + alpha * mean(x² over `size` neighbouring channels))^beta (Krizhevsky et al. 2012).

    floated: converts whole numbers, whose mean is whole too, for what follows.
    """
    shape = tuple(shape_of(x))
    squares = reshape(square(x), shape=(shape[0], shape[1], math.prod(shape[2:])))
    squares = pad_constant(squares, widths=((0, 0), (size // 2, (size - 1) // 2), (0, 0)), value=0)
    mean = avg_pool(squares, kernel=(size, 1), stride=(1, 1), padding=((0, 0),) * 2)
    if floated is not None:
        x, mean = floated(x), floated(mean)
    return divide(x, power_by(add(multiply(reshape(mean, shape=shape), alpha), k), exponent=beta))
