"""Pooling: maxima, averages, norms, adaptive and fractional forms, and max unpooling."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import Value, dtype_of, shape_of
from .....learn.layers import windows
from ...._shared.registry import defined
from ...._shared.spatial import of_axes
from ... import _arithmetic, _reductions, _unary, random
from ..._api import FUNCTIONS, api
from ..._axes import integer
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES, show_as
from ..._memory import in_format_of
from ..._tensor import beside
from . import _activations
from ._sizes import check_kind, per_axis, planned


def _of_axes(stem: str, suffix: str = "Backward0") -> Callable[[Any], str]:
    """A node name with the number of pooled axes in it."""

    def name(node: Any) -> str:
        p = node.params
        axes = len(p.get("kernel") or p.get("parts") or p.get("size") or p.get("maps") or ()) or p.get("axes")
        return f"{stem}{max(axes, 2)}D{suffix}"

    return name


NAMES.update(
    max_pool=_of_axes("MaxPool", "WithIndicesBackward0"), adaptive_max_pool=_of_axes("AdaptiveMaxPool"),
    avg_pool=_of_axes("AvgPool"), unpool=_of_axes("MaxUnpool"), pool_at=_of_axes("FractionalMaxPool"),
)  # fmt: skip


def _space(op: str, input: Any, axes: int, *, integers: bool = False) -> tuple[int, ...]:
    """The sizes to pool of (N, C, *size) or (C, *size); raises RuntimeError where there are no such dimensions."""
    shape = tuple(shape_of(tensor_argument(op, input)))
    check_kind(op, input, integers=integers)
    if len(shape) not in (axes + 1, axes + 2):
        raise RuntimeError(f"{op}: wanted {axes + 1} or {axes + 2} dimensions, got a tensor of shape {shape}")
    if 0 in shape[-axes - 1 :]:
        raise RuntimeError(f"{op}: only the batch may be empty, got a tensor of shape {shape}")
    return shape[-axes:]


@planned
def _windows(
    op: str, size: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> dict[str, Any]:
    """Kernel, stride, padding (before, after) and dilation per axis."""
    axes = len(size)
    kernel = per_axis(op, "kernel_size", kernel_size, axes)
    steps = kernel if stride is None or (isinstance(stride, (tuple, list)) and not stride) else per_axis(
        op, "stride", stride, axes)  # fmt: skip
    pads, spread = per_axis(op, "padding", padding, axes), per_axis(op, "dilation", dilation, axes)
    if any(2 * p > k > 0 for p, k in zip(pads, kernel)):
        raise RuntimeError(
            f"{op}: padding can be half the kernel size at most, got padding={pads}, kernel_size={kernel}"
        )
    return windows.pooling(op, size, kernel, steps, tuple((p, p) for p in pads), spread, ceil_mode)


def _shown(input: Any, out: Any, axes: int) -> Any:
    """What pools a single axis shows itself as the view of an image of one row; others lie in memory as their input does."""
    if axes == 1:
        show_as(out[0] if isinstance(out, tuple) else out, "SqueezeBackward1")
        return out
    return tuple(in_format_of(input, y) for y in out) if isinstance(out, tuple) else in_format_of(input, out)


# ------------------------------------------------------------------------------------------ maxima


def _with_indices(f: Any) -> Any:
    """The function that gives the places as well, whatever `return_indices` says."""
    place = f.__code__.co_varnames.index("return_indices")

    @functools.wraps(f)
    def pool(*args: Any, **options: Any) -> Any:
        if len(args) > place:
            return f(*args[:place], True, *args[place + 1 :], **options)
        return f(*args, **{**options, "return_indices": True})

    return defined(f"{f.__name__}_with_indices", pool)


def _max_pool(op: str, axes: int) -> Any:
    def pool(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
        size = _space(op, input, axes, integers=True)
        p = _windows(op, size, kernel_size, stride, padding, dilation, ceil_mode)
        return _shown(input, windows.max_pool(input, return_indices, **p), axes)

    return pool


max_pool1d, max_pool2d, max_pool3d = _MAXIMA = of_axes(
    "max_pool{}d", "The largest element of each window of {x}, and its index{flat} if asked.", _max_pool
)
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(_with_indices, _MAXIMA)


def _plain(name: str, f: Any) -> None:
    """Register `torch.NAME`, which gives the maxima only."""

    def pool(input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Any:  # fmt: skip
        return f(input, kernel_size, stride, padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The largest element of each window; `nn.functional.{name}` gives the indices too."
    FUNCTIONS[name] = pool


for _f in _MAXIMA:
    _plain(_f.__name__, _f)
FUNCTIONS["max_pool1d_with_indices"] = max_pool1d_with_indices


# ------------------------------------------------------------------------------------------ averages


@planned
def _means(
    op: str, size: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: Any,
) -> dict[str, Any]:  # fmt: skip
    """What `windows.avg_pool` is given."""
    p = _windows(op, size, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None and divisor_override == 0:
        raise RuntimeError(f"{op}: divisor_override must not be 0")
    pads = per_axis(op, "padding", padding, len(size))
    counted = tuple((n, n) for n in pads) if count_include_pad else None
    divisor = None if divisor_override is None else integer(op, "divisor_override", divisor_override)
    return {"counted": counted, "divisor": divisor, **p}


def _avg_pool(
    op: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Any:  # fmt: skip
    size = _space(op, input, axes, integers=True)
    dtype = dtype_of(input)
    if dtype.kind in "iu" and dtype != np.int64:
        raise NotImplementedError(f"{op}: of the integer dtypes only int64 is taken, got {input.dtype}")
    p = _means(op, size, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _shown(input, windows.avg_pool(input, **p), axes)


@api(method=False)
def avg_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Any:  # fmt: skip
    """The mean of each window of (N, C, L)."""
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _means_of(op: str, axes: int) -> Any:
    def pool(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: Any = None) -> Any:  # fmt: skip
        return _avg_pool(op, axes, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return pool


avg_pool2d, avg_pool3d = of_axes("avg_pool{}d", "The mean of each window of {x}.", _means_of, axes=(2, 3))

# ------------------------------------------------------------------------------------------ adaptive


def _parts(op: str, input: Any, axes: int, output_size: Any) -> tuple[int, ...]:
    """The output size per axis; None keeps the input's."""
    given = None if output_size is None or isinstance(output_size, int) else tuple(output_size)
    rank = len(shape_of(tensor_argument(op, input)))
    if given is not None and axes > 1 and len(given) >= rank:
        raise ValueError(f"{op}: output_size {given} has as many entries as the input has dimensions, or more: {rank}")
    if given == (None,) and axes == 1:
        raise TypeError(f"{op}: output_size must be an int")
    size = _space(op, input, axes)
    output_size = (output_size,) * axes if given is None else given
    if len(output_size) != axes:
        raise RuntimeError(f"{op}: output_size must be one int or {axes} of them, got {tuple(output_size)}")
    parts = tuple([n if m is None else integer(op, "output_size", m) for n, m in zip(size, output_size)])
    if min(parts) < 0:
        raise RuntimeError(f"{op}: output_size must be zero or more, got {parts}")
    return parts


def _adaptive_max(op: str, axes: int) -> Any:
    def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        parts = _parts(op, input, axes, output_size)
        return _shown(input, windows.adaptive_max_pool(input, parts, return_indices), axes)

    return pool


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = _ADAPTIVE_MAXIMA = of_axes(
    "adaptive_max_pool{}d", "The largest elements of the parts of {x}, and their indices if asked.", _adaptive_max
)
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _with_indices, _ADAPTIVE_MAXIMA
)
FUNCTIONS["adaptive_max_pool1d"] = adaptive_max_pool1d_with_indices


def _adaptive_avg(op: str, axes: int) -> Any:
    def pool(input: Any, output_size: Any) -> Any:
        parts = _parts(op, input, axes, output_size)
        if axes > 1 and parts == (1,) * axes:
            return _reductions.mean(input, tuple(range(-axes, 0)), True)
        return _shown(input, windows.adaptive_avg_pool(input, parts), axes)

    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = of_axes(
    "adaptive_avg_pool{}d", "The means of the parts of {x}.", _adaptive_avg
)
FUNCTIONS["adaptive_avg_pool1d"] = adaptive_avg_pool1d

# ------------------------------------------------------------------------------------------ p-norms


def _lp_pool(op: str, axes: int) -> Any:
    largest = _MAXIMA[axes - 1]
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[axes - 1]

    def pool(input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        if norm_type == math.inf:
            return largest(_unary.absolute(input), kernel_size, stride, 0, 1, ceil_mode)
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        mean = average(_arithmetic.pow(input, norm_type), kernel, stride, 0, ceil_mode)
        power = _activations.relu(_unary.absolute(mean)) * _unary.sign(mean) * math.prod(kernel)
        return _arithmetic.pow(power, 1.0 / norm_type)

    return pool


lp_pool1d, lp_pool2d, lp_pool3d = of_axes("lp_pool{}d", "The p-norm of each window of {x}.", _lp_pool)

# ------------------------------------------------------------------------------------------ fractional


def _fractional(op: str, axes: int) -> Any:
    def pool(input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
             return_indices: bool = False, _random_samples: Any = None) -> Any:  # fmt: skip
        size = _space(op, input, axes)
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{op}: output_size or output_ratio is needed")
        if output_size is None:
            parts = windows.fractional_parts(size, output_ratio)
        else:
            parts = per_axis(op, "output_size", output_size, axes)
        for n, k, m in zip(size, kernel, parts):
            if m + k - 1 > n:
                raise RuntimeError(f"{op}: {m} windows of {k} elements do not fit an axis of {n}")
        lead = tuple(shape_of(input))[:-axes]
        if _random_samples is None:
            _random_samples = random.rand(*((1,) * (2 - len(lead))), *lead, axes, dtype=input.dtype)
        planes, given = (lead if len(lead) == 2 else (1, *lead)), tuple(shape_of(_random_samples))
        if len(given) != 3 or given[0] < planes[0] or given[1:] != (planes[1], axes):
            raise RuntimeError(f"{op}: the samples must have the shape {[*planes, axes]}, got {list(given)}")
        # In two dimensions the samples come in the order width, height, in three in the order of the axes.
        draws = concrete(op, _random_samples)[: planes[0], :, :: -1 if axes == 2 else 1].reshape(*lead, axes)
        draws = draws if type(input._a) is np.ndarray else beside(np.ascontiguousarray(draws), input)
        values, places = windows.fractional_max_pool(input, draws, kernel, parts)
        return (values, places) if return_indices else values

    return pool


fractional_max_pool2d, fractional_max_pool3d = _FRACTIONAL = of_axes(
    "fractional_max_pool{}d", "Maxima over windows at pseudorandom distances of {x} (Graham, 2014).", _fractional, axes=(2, 3)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(_with_indices, _FRACTIONAL)

# ------------------------------------------------------------------------------------------ unpooling


def _unpool(op: str, axes: int) -> Any:
    def unpool(input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
               output_size: Any = None) -> Any:  # fmt: skip
        _space(op, input, axes)
        if not isinstance(indices, Value) or dtype_of(indices) != np.int64:
            raise RuntimeError(f"{op}: indices must be a tensor of int64, as max_pool{axes}d gives them")
        if tuple(shape_of(indices)) != tuple(shape_of(input)):
            raise RuntimeError(
                f"{op}: indices of shape {tuple(shape_of(indices))} do not fit an input of shape {tuple(shape_of(input))}"
            )
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        steps = kernel if stride is None else per_axis(op, "stride", stride, axes)
        pads = per_axis(op, "padding", padding, axes)
        target = None if output_size is None else tuple(int(n) for n in output_size)
        if target is not None:
            target = target[-axes:] if len(target) == axes + 2 else target
            if len(target) != axes:
                raise ValueError(f"{op}: output_size must have {axes} or {axes + 2} entries, got {tuple(output_size)}")
        out = windows.unpool(op, input, indices, kernel, steps, pads, target)
        return out if axes > 1 else show_as(out, "SqueezeBackward1")

    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = of_axes(
    "max_unpool{}d", "The maxima of max_pool{n}d back in their places, zeros elsewhere.", _unpool
)
