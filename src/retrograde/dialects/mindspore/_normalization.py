"""Batch, layer, group, RMS and local response normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...learn.layers import normalization as norms
from ...ops import elementwise as ew
from ...ops import reduction as rd
from .._shared.axes import axis_of, integer, integers
from ._api import api
from ._promote import FLOATING, single, tensor_argument
from ._tensor import from_array


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
