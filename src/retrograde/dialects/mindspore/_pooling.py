"""Pooling: maxima, averages, norms, adaptive and fractional forms, and max unpooling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...learn.layers import windows
from ...ops import elementwise as ew
from ...ops import structural as st
from .._shared.axes import integer, integers
from .._shared.spatial import of_axes
from ._api import api, value_errors
from ._dtype import as_dtype
from ._promote import FLOATING, single, tensor_argument, to_dtype
from ._sizes import pads, per_axis
from ._stream import generator

Function = Callable[..., Any]


def _pool_pads(op: str, mode: str, padding: Any, size: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    found = pads(op, mode, padding, size, kernel, stride, dilation)
    if mode == "pad" and any(2 * n > k for pair, k in zip(found, kernel) for n in pair):
        raise ValueError(f"{op}: padding must be at most half the kernel_size {kernel}, got {padding}")
    return found


def _space(op: str, x: Any, axes: int) -> tuple[Any, tuple[int, ...], bool]:
    """(N, C, *space) with its space; a tensor without a batch gets one."""
    x = single(op, x, FLOATING)
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(f"{op}: wanted {axes + 1} or {axes + 2} axes, got shape {x.shape}")
    lone = x.ndim == axes + 1
    if lone:
        x = st.reshape(x, shape=(1, *x.shape))
    return x, x.shape[2:], lone


def _unbatched(out: Any, lone: bool) -> Any:
    if not lone:
        return out
    if isinstance(out, tuple):
        return tuple(_unbatched(part, True) for part in out)
    return st.reshape(out, shape=out.shape[1:])


@value_errors
def max_pool(op: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1,
             ceil_mode: bool = False, return_indices: bool = False, mode: str = "pad") -> Any:  # fmt: skip
    """The largest element of each window, and where it is if asked."""
    x, size, lone = _space(op, x, axes)
    kernel = per_axis(op, "kernel_size", kernel_size, axes)
    stride = kernel if stride is None else per_axis(op, "stride", stride, axes)
    dilation = per_axis(op, "dilation", dilation, axes)
    padding = _pool_pads(op, mode, padding, size, kernel, stride, dilation)
    plan = windows.pooling(op, size, kernel, stride, padding, dilation, ceil_mode)
    return _unbatched(windows.max_pool(x, places=return_indices, **plan), lone)


@value_errors
def avg_pool(op: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: int = 0, mode: str = "pad") -> Any:  # fmt: skip
    """The mean of each window."""
    x, size, lone = _space(op, x, axes)
    kernel = per_axis(op, "kernel_size", kernel_size, axes)
    stride = kernel if stride is None else per_axis(op, "stride", stride, axes)
    padding = _pool_pads(op, mode, padding, size, kernel, stride, (1,) * axes)
    plan = windows.pooling(op, size, kernel, stride, padding, (1,) * axes, ceil_mode)
    counted = padding if count_include_pad else None
    return _unbatched(windows.avg_pool(x, counted=counted, divisor=divisor_override or None, **plan), lone)


@api(method=False)
def avg_pool1d(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Any:  # fmt: skip
    """The means of windows of (N, C, L)."""
    return avg_pool("avg_pool1d", 1, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _means(op: str, axes: int) -> Function:
    def f(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
          count_include_pad: bool = True, divisor_override: int = 0) -> Any:  # fmt: skip
        return avg_pool(op, axes, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return f

avg_pool2d, avg_pool3d = of_axes("avg_pool{}d", "The means of windows of {x}.", _means, api(method=False), axes=(2, 3))


@api(method=False)
def max_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
               return_indices: bool = False, ceil_mode: bool = False) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, H, W)."""
    return max_pool("max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@api(method=False)
def max_pool3d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, D, H, W)."""
    return max_pool("max_pool3d", 3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _parts(op: str, size: tuple[int, ...], output_size: Any) -> tuple[int, ...]:
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * len(size)
    if len(given) != len(size):
        raise ValueError(f"{op}: output_size must be an int or {len(size)} of them, got {output_size}")
    parts = tuple(n if p is None else integer(op, "output_size", p) for n, p in zip(size, given))
    if any(p < 1 for p in parts):
        raise ValueError(f"{op}: output_size must be positive, got {output_size}")
    return parts


def _adaptive_means(op: str, axes: int) -> Function:
    def f(input: Any, output_size: Any) -> Any:
        x, size, lone = _space(op, input, axes)
        return _unbatched(windows.adaptive_avg_pool(x, _parts(op, size, output_size)), lone)

    return f


def _adaptive_maxima(op: str, axes: int) -> Function:
    def f(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        x, size, lone = _space(op, input, axes)
        return _unbatched(windows.adaptive_max_pool(x, _parts(op, size, output_size), places=return_indices), lone)

    return f

adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = of_axes(
    "adaptive_avg_pool{}d", "The means of as many parts as `output_size` says of {x}.", _adaptive_means, api(method=False)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = of_axes(
    "adaptive_max_pool{}d", "The largest elements of as many parts as `output_size` says of {x}.", _adaptive_maxima,
    api(method=False),
)  # fmt: skip


def _fractional(name: str, axes: int) -> Function:
    def f(input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
          _random_samples: Any = None) -> Any:  # fmt: skip
        x, size, lone = _space(name, input, axes)
        kernel = per_axis(name, "kernel_size", kernel_size, axes)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: give output_size or output_ratio, and not both")
        if output_size is None:
            parts = windows.fractional_parts(size, output_ratio)
        else:
            parts = per_axis(name, "output_size", output_size, axes)
        if any(n + k - 1 > m for n, k, m in zip(parts, kernel, size)):
            raise ValueError(f"{name}: {parts} windows of {kernel} elements do not fit {size}")
        draws = generator().random((*x.shape[:2], axes)) if _random_samples is None else _random_samples._concrete(name)
        if np.shape(draws) != (*x.shape[:2], axes):
            raise ValueError(f"{name}: the samples must have shape {(*x.shape[:2], axes)}, got {np.shape(draws)}")
        values, places = windows.fractional_max_pool(x, np.asarray(draws), kernel, parts)
        return _unbatched((values, places) if return_indices else values, lone)

    return f

fractional_max_pool2d, fractional_max_pool3d = of_axes(
    "fractional_max_pool{}d", "The largest elements of windows at pseudorandom distances (Graham, 2014), and their places if "
    "asked.", _fractional, api(method=False), axes=(2, 3),
)  # fmt: skip


def _lp_pool(op: str, axes: int) -> Function:
    def f(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        p, x = float(norm_type), single(op, x, FLOATING)
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        means = avg_pool(op, axes, ew.power_by(x, exponent=p), kernel, kernel if stride is None else stride, 0, ceil_mode)
        sums = means * math.prod(kernel)
        return ew.power_by(ew.sgn(sums) * ew.absolute(sums), exponent=1 / p)

    return f

lp_pool1d, lp_pool2d = of_axes("lp_pool{}d", "The p-norms of windows of {x}.", _lp_pool, api(method=False), axes=(1, 2))


def _unpool(name: str, axes: int) -> Function:
    def f(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Any:
        values, places = single(name, x, FLOATING), tensor_argument(name, indices, "indices")
        if values.shape != places.shape or values.ndim not in (axes + 1, axes + 2):
            raise ValueError(f"{name}: x {values.shape} and indices {places.shape} must have one shape of {axes + 2} axes")
        kernel = per_axis(name, "kernel_size", kernel_size, axes)
        steps = kernel if stride is None else per_axis(name, "stride", stride, axes)
        pads = per_axis(name, "padding", padding, axes)
        size = integers(name, "output_size", output_size)[-axes:] if output_size else None
        return windows.unpool(name, values, to_dtype(places, as_dtype("int64")), kernel, steps, pads, size, near=False)

    return f


max_unpool1d, max_unpool2d, max_unpool3d = of_axes(
    "max_unpool{}d", "Zeros with the elements of a max-pooled tensor where they came from.", _unpool, api(method=False)
)
