"""Convolution, pooling, normalisation, dropout and embedding as functions of `mindspore.ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...learn.layers import dropout as drop
from ...learn.layers import normalization as norms
from ...learn.layers import windows
from ...ops import convolution as cv
from ...ops import elementwise as ew
from ...ops import reduction as rd
from ...ops import structural as st
from ...ops.scatter_reduce import embedding as embedding_rows
from .._shared.arguments import sizes_per_axis
from .._shared.axes import axis_of, integer, integers
from .._shared.spatial import of_axes
from ._api import api, value_errors
from ._dtype import as_dtype
from ._promote import FLOATING, same_dtype, single, tensor_argument, to_dtype
from ._random import keep_mask
from ._stream import generator
from ._tensor import from_array

Function = Callable[..., Any]


per_axis = sizes_per_axis(integer, ValueError)


def pads(op: str, pad_mode: str, padding: Any, size: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """The padding (before, after) per axis that a mode and a padding mean."""
    axes = len(kernel)
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same", "pad"):
        raise ValueError(f"{op}: pad_mode must be 'valid', 'same' or 'pad', got {pad_mode!r}")
    given = integers(op, "padding", padding)
    if any(n < 0 for n in given):
        raise ValueError(f"{op}: padding must not be negative, got {padding}")
    if mode != "pad":
        if any(given):
            raise ValueError(f"{op}: padding is only possible with pad_mode='pad', got {padding} and {pad_mode!r}")
        return ((0, 0),) * axes if mode == "valid" else windows.same_padding(size, kernel, stride, dilation)
    if len(given) == 2 * axes:
        return tuple(zip(given[::2], given[1::2]))
    if len(given) == 1:
        given *= axes
    if len(given) != axes:
        raise ValueError(f"{op}: padding must be an int, {axes} or {2 * axes} of them, got {padding}")
    return tuple((n, n) for n in given)


def _pool_pads(op: str, mode: str, padding: Any, size: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    found = pads(op, mode, padding, size, kernel, stride, dilation)
    if mode == "pad" and any(2 * n > k for pair, k in zip(found, kernel) for n in pair):
        raise ValueError(f"{op}: padding must be at most half the kernel_size {kernel}, got {padding}")
    return found


# ------------------------------------------------------------------------------------------ convolution


def convolve(
    op: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, pad_mode: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    """A convolution over the last axes of (N, C, *space)."""
    x, w = single(op, x, FLOATING), single(op, w, FLOATING)
    same_dtype(op, x, w)
    if x.ndim != axes + 2 or w.ndim != axes + 2:
        raise ValueError(f"{op}: wanted input and weight with {axes + 2} axes, got shapes {x.shape} and {w.shape}")
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    padding = pads(op, pad_mode, padding, x.shape[2:], w.shape[2:], stride, dilation)
    groups = integer(op, "groups", groups)
    if x.shape[1] != w.shape[1] * groups and not w.shape[0] % groups:
        raise (ValueError if axes == 3 else RuntimeError)(
            f"{op}: a weight of shape {w.shape} with {groups} groups takes {w.shape[1] * groups} channels, but the input of "
            f"shape {x.shape} has {x.shape[1]}{windows.misplaced_channels(x.shape, w.shape[1] * groups)}"
        )
    b = None if bias is None else tensor_argument(op, bias, "bias")
    plan = windows.convolution(op, x.shape, w.shape, None if b is None else b.shape, stride, padding, dilation,
                               groups)  # fmt: skip
    return cv.convolve(x, w, b, **plan)


def _convolution(op: str, axes: int) -> Function:
    def f(input: Any, weight: Any, bias: Any = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
          dilation: Any = 1, groups: int = 1) -> Any:  # fmt: skip
        per_axis(op, "padding", padding, axes)
        return convolve_checked(op, axes, input, weight, bias, stride, pad_mode, padding, dilation, groups)

    return f


convolve_checked = value_errors(convolve)
conv1d, conv2d, conv3d = of_axes("conv{}d", "The convolution of {x} with a weight.", _convolution, api(method=False))


@value_errors
def convolve_transposed(
    op: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    output_padding: Any = 0, size: Any = None,
) -> Any:  # fmt: skip
    """A transposed convolution; `padding` as pairs, and `size` the size of the result where it is known."""
    x, w = single(op, x, FLOATING), single(op, w, FLOATING)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    extra = per_axis(op, "output_padding", output_padding, axes)
    if size is not None:
        plain = windows.transposed_size(x.shape[2:], w.shape[2:], stride, padding, dilation, (0,) * axes)
        extra = tuple(a - b for a, b in zip(size, plain))
    b = None if bias is None else tensor_argument(op, bias, "bias")
    plan = windows.transposed_convolution(op, x.shape, w.shape, None if b is None else b.shape, stride, padding,
                                          dilation, integer(op, "groups", groups), extra)  # fmt: skip
    return cv.convolve_transpose(x, w, b, **plan)


@api(method=False)
def conv_transpose2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
    """The transposed convolution of (N, C, H, W) with a weight."""
    padding = tuple((n, n) for n in per_axis("conv_transpose2d", "padding", padding, 2))
    return convolve_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, groups, output_padding
    )


@api(method=False)
def conv3d_transpose(inputs: Any, weight: Any, pad_mode: str = "valid", padding: Any = 0, stride: Any = 1,
                     dilation: Any = 1, group: int = 1, output_padding: Any = 0) -> Any:  # fmt: skip
    """The transposed convolution of (N, C, D, H, W) with a weight."""
    weight = tensor_argument("conv3d_transpose", weight, "weight")
    given = pads("conv3d_transpose", pad_mode, padding, (), weight.shape[2:], (1,) * 3, (1,) * 3)
    return convolve_transposed("conv3d_transpose", 3, inputs, weight, None, stride, given, dilation, group,
                               output_padding)  # fmt: skip


def convolve_backprop_input(
    op: str, dout: Any, weight: Any, input_size: Any, stride: Any, pad_mode: str, pad: Any, dilation: Any, group: int
) -> Any:
    """The input's gradient of a convolution whose result has the gradient `dout`."""
    sizes = integers(op, "input_size", input_size)
    stride, dilation = per_axis(op, "stride", stride, 2), per_axis(op, "dilation", dilation, 2)
    padding = pads(op, pad_mode, pad, sizes[2:], weight.shape[2:], stride, dilation)
    return convolve_transposed(op, 2, dout, weight, None, stride, padding, dilation, group, 0, sizes[2:])


# ------------------------------------------------------------------------------------------ pooling


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


of_axes("adaptive_avg_pool{}d", "The means of as many parts as `output_size` says of {x}.", _adaptive_means, api(method=False))
of_axes("adaptive_max_pool{}d", "The largest elements of as many parts as `output_size` says of {x}.", _adaptive_maxima,
        api(method=False))  # fmt: skip


def _fractional(name: str, axes: int) -> Function:
    def f(input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
          _random_samples: Any = None) -> Any:  # fmt: skip
        x, size, lone = _space(name, input, axes)
        kernel = per_axis(name, "kernel_size", kernel_size, axes)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: give output_size or output_ratio, and not both")
        if output_size is None:
            ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * axes
            parts = tuple(int(n * r) for n, r in zip(size, ratios))
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


of_axes(
    "fractional_max_pool{}d", "The largest elements of windows at pseudorandom distances (Graham, 2014), and their places if "
    "asked.", _fractional, api(method=False), axes=(2, 3),
)  # fmt: skip


def _lp_pool(op: str, axes: int) -> Function:
    def f(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        p, x = float(norm_type), single(op, x, FLOATING)
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        means = avg_pool(op, axes, ew.power_by(x, exponent=p), kernel, kernel if stride is None else stride, 0, ceil_mode)
        sums = means * float(np.prod(kernel))
        return ew.power_by(ew.sgn(sums) * ew.absolute(sums), exponent=1 / p)

    return f


lp_pool1d, lp_pool2d = of_axes("lp_pool{}d", "The p-norms of windows of {x}.", _lp_pool, api(method=False), axes=(1, 2))

# ------------------------------------------------------------------------------------------ normalisation


@api(method=False)
def batch_norm(input_x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    """Each channel (axis 1) by the batch's statistics (training) or by the running ones."""
    x = single("batch_norm", input_x, FLOATING)
    if x.ndim < 2:
        raise ValueError(f"batch_norm: wanted at least two axes, got shape {x.shape}")
    for name, v in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if v is not None and tensor_argument("batch_norm", v, name).shape != (x.shape[1],):
            raise ValueError(f"batch_norm: {name} must have shape ({x.shape[1]},), got {v.shape}")
    running = None if running_mean is None else (running_mean, running_var)
    return norms.batch_norm(x, weight, bias, running, training=bool(training), share=float(momentum), eps=float(eps))[0]


def batch_norm_with_statistics(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, is_training: bool,
                               epsilon: float, momentum: float) -> tuple[Any, ...]:  # fmt: skip
    """The normalised tensor, two tensors that hold nothing, and in training the mean and variance of the batch."""
    x = single("BatchNorm", x, FLOATING)
    axes = (0, *range(2, x.ndim))
    out = norms.batch_norm(x, scale, bias, (mean, variance), training=is_training, share=momentum, eps=epsilon)[0]
    nothing = from_array(np.zeros(scale.shape, dtype_of(scale)))
    if not is_training:
        return out, nothing, nothing, nothing, nothing
    center, var = rd.mean(x, axis=axes, keepdims=False), rd.var(x, axis=axes, correction=0, keepdims=False)
    return out, nothing, nothing, center, var


@api(method=False)
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """By the statistics over the last axes, which have the shape given."""
    x = single("layer_norm", input, FLOATING)
    shape = integers("layer_norm", "normalized_shape", normalized_shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise ValueError(f"layer_norm: the last axes of {x.shape} are not {shape}")
    return norms.layer_norm(x, weight, bias, len(shape), eps)


def layer_norm_with_statistics(x: Any, gamma: Any, beta: Any, begin_norm_axis: int, begin_params_axis: int,
                               epsilon: float) -> tuple[Any, Any, Any]:  # fmt: skip
    """The normalised tensor, the means and the variances; gamma and beta have the axes from `begin_params_axis` on."""
    x = single("LayerNorm", x, FLOATING)
    first = axis_of("LayerNorm", begin_norm_axis, x.ndim, "begin_norm_axis")
    axes = tuple(range(first, x.ndim))
    center, var = rd.mean(x, axis=axes, keepdims=True), rd.var(x, axis=axes, correction=0, keepdims=True)
    if axis_of("LayerNorm", begin_params_axis, x.ndim, "begin_params_axis") == first:
        return norms.layer_norm(x, gamma, beta, x.ndim - first, epsilon), center, var
    return norms.layer_norm(x, None, None, x.ndim - first, epsilon) * gamma + beta, center, var


@api(method=False)
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """By the statistics of groups of channels."""
    x = single("group_norm", input, FLOATING)
    groups = integer("group_norm", "num_groups", num_groups)
    if x.ndim < 2 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"group_norm: the channels of {x.shape} cannot be divided into {groups} groups")
    return norms.group_norm(x, weight, bias, groups, eps)


@api(method=False)
def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    """x over its root mean square along the axes of gamma, times gamma; and one over the root mean square."""
    x, gamma = single("rms_norm", x, FLOATING), tensor_argument("rms_norm", gamma, "gamma")
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    scale = ew.rsqrt(rd.mean(ew.square(x), axis=axes, keepdims=True) + float(epsilon))
    return x * scale * gamma, scale


@api(method=False)
def lrn(x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS") -> Any:  # fmt: skip
    """x over (bias + alpha times the sum of the squares of neighbouring channels) to the power of beta."""
    x = single("lrn", x, FLOATING)
    if x.ndim != 4:
        raise ValueError(f"lrn: wanted a tensor of shape (N, C, H, W), got {x.shape}")
    if norm_region != "ACROSS_CHANNELS":
        raise ValueError(f"lrn: norm_region must be 'ACROSS_CHANNELS', got {norm_region!r}")
    size = 2 * integer("lrn", "depth_radius", depth_radius) + 1
    return norms.local_response_norm(x, size, float(alpha) * size, float(beta), float(bias))


# ------------------------------------------------------------------------------------------ dropout and embedding


def _rate(op: str, p: Any) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"{op}: p must be a float, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise (RuntimeError if op == "dropout" else ValueError)(f"{op}: p must lie in [0, 1], got {p}")
    return float(p)


@api(method=False)
def dropout(input: Any, p: float = 0.5, training: bool = True, seed: Any = None) -> Any:
    """Elements set to 0 with probability p, the others divided by 1 - p, in training."""
    p = _rate("dropout", p)
    if not training:
        return tensor_argument("dropout", input)
    x = single("dropout", input, FLOATING)
    if not p:
        return x
    return drop.dropped(x, keep_mask(x.shape, p, seed), p)


def _channel_dropout(name: str, axes: int) -> None:
    def f(input: Any, p: float = 0.5, training: bool = True) -> Any:
        x = single(name, input, FLOATING)
        rate = _rate(name, p)
        if x.ndim not in (axes + 1, axes + 2):
            raise ValueError(f"{name}: wanted {axes + 1} or {axes + 2} axes, got shape {x.shape}")
        if not training or not rate:
            return x
        lead = x.shape[: x.ndim - axes]
        return drop.dropped(x, keep_mask((*lead, *(1,) * axes), rate, None), rate)

    f.__doc__ = "Whole channels set to 0 with probability p, the others divided by 1 - p, in training."
    api(name, method=False)(f)


for _axes in (1, 2, 3):
    _channel_dropout(f"dropout{_axes}d", _axes)


def dropout_with_mask(x: Any, keep_prob: float, axes: int = 0) -> tuple[Any, Any]:
    """The tensor with elements (channels, for axes of space) set to 0 with probability 1 - keep_prob; and the mask."""
    x = single("Dropout", x, FLOATING)
    p = 1.0 - keep_prob
    lead = x.shape if not axes else (*x.shape[: x.ndim - axes], *(1,) * axes)
    keep = keep_mask(lead, p, None)
    mask = np.broadcast_to(np.asarray(keep), x.shape)
    return (drop.dropped(x, keep, p) if p else x), from_array(mask.astype(dtype_of(x) if not axes else bool))


@api(method=False)
def embedding(input: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False) -> Any:  # fmt: skip
    """The rows of a table at integer positions; that at padding_idx gets no gradient."""
    from ...learn.layers.embedding import renormalise

    at, table = tensor_argument("embedding", input), tensor_argument("embedding", weight, "weight")
    if dtype_of(at).kind not in "iu":
        raise TypeError(f"embedding: input must be an integer Tensor, got {at.dtype}; convert it with .astype(ms.int32)")
    if padding_idx is not None:
        padding_idx = axis_of("embedding", padding_idx, table.shape[0], "padding_idx")
    if max_norm is not None:
        renormalise("embedding", table, at._a, float(max_norm), float(norm_type))
    return embedding_rows(table, at, padding=padding_idx, by_frequency=bool(scale_grad_by_freq), weighted=False)


def embedding_lookup(input_params: Any, input_indices: Any, offset: int) -> Any:
    """The rows at positions less an offset; 0 for those outside of the table."""
    table, at = tensor_argument("EmbeddingLookup", input_params), tensor_argument("EmbeddingLookup", input_indices)
    places = np.asarray(at._concrete("EmbeddingLookup")) - offset
    inside = (places >= 0) & (places < table.shape[0])
    rows = embedding_rows(table, from_array(np.where(inside, places, 0)), padding=None, by_frequency=False,
                          weighted=False)  # fmt: skip
    return rows if inside.all() else rows * from_array(
        np.broadcast_to(inside[..., None], rows.shape).astype(dtype_of(rows)))  # fmt: skip


@api(method=False)
def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1 @ weight[o] @ input2 for every output o, plus a bias."""
    from ._linear import einsum

    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


def _unpool(axes: int) -> None:
    name = f"max_unpool{axes}d"

    def f(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Any:
        from ...ops.pooling import unpool
        from ._layers import per_axis

        values, places = single(name, x, FLOATING), tensor_argument(name, indices, "indices")
        if values.shape != places.shape or values.ndim not in (axes + 1, axes + 2):
            raise ValueError(f"{name}: x {values.shape} and indices {places.shape} must have one shape of {axes + 2} axes")
        kernel = per_axis(name, "kernel_size", kernel_size, axes)
        steps = kernel if stride is None else per_axis(name, "stride", stride, axes)
        pads = per_axis(name, "padding", padding, axes)
        if output_size:
            size = integers(name, "output_size", output_size)[-axes:]
        else:
            size = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(values.shape[-axes:], steps, pads, kernel))
        return unpool(values, to_dtype(places, as_dtype("int64")), size=size)

    f.__doc__ = "Zeros with the elements of a max-pooled tensor where they came from."
    api(name, method=False)(f)


for _axes in (1, 2, 3):
    _unpool(_axes)
