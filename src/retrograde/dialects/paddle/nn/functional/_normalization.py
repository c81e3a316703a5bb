"""Normalisation."""

from __future__ import annotations

import math
from typing import Any

from .....core.value import dtype_of, ndim_of, shape_of
from .....learn.layers import normalization as norms
from .....ops import elementwise as ew
from .....ops import norms as nr
from .....ops import selection as sel
from .....ops import structural as st
from ..._api import aliases, write_out
from ._arguments import axis_of, channels_first, constant, floating, tensor_argument


def _last(op: str, data_format: str, ndim: int) -> bool:
    """Whether the channels are last in a layout of so many axes; raises ValueError for an unknown one."""
    known = {"NC": False, "NCL": False, "NCHW": False, "NCDHW": False, "NLC": True, "NHWC": True, "NDHWC": True}
    if data_format not in known:
        raise ValueError(f"{op}: data_format must be one of {', '.join(known)}, got {data_format!r}")
    return known[data_format] and ndim > 2


def _weights(op: str, x: Any, n: int, *, cast: bool = True, **weights: Any) -> Any:
    """Weights of `n` elements, in the dtype of `x` if `cast`; raises ValueError for another number."""
    for name, w in weights.items():
        if w is not None and tuple(shape_of(w)) != (n,):
            raise ValueError(f"{op}: {name} must have shape [{n}], got {list(shape_of(w))}")
    return tuple(norms.as_dtype(w, dtype_of(x)) if cast else w for w in weights.values())


def batch_norm(
    x: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.9, epsilon: float = 1e-05, data_format: str = "NCHW", use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(x - mean) / sqrt(var + epsilon) * weight + bias per channel, with the batch's statistics or the running ones.

    In training the running statistics become momentum * old + (1 - momentum) * batch's, with the biased variance.
    Raises AssertionError for an input without channels, ValueError where running statistics are missing.
    """
    op = "batch_norm"
    x = floating(op, x)
    if ndim_of(x) < 2:
        raise AssertionError(f"{op}: wanted 2 dimensions or more (batch, channels, ...), got shape {list(shape_of(x))}")
    tensor_argument(op, running_mean, "running_mean")
    tensor_argument(op, running_var, "running_var")
    by_running = (not training) if use_global_stats is None else bool(use_global_stats)
    last = _last(op, data_format, ndim_of(x))

    def compute(x: Any) -> Any:
        n = shape_of(x)[1]
        running = _weights(op, x, n, running_mean=running_mean, running_var=running_var, cast=False)
        w, b = _weights(op, x, n, weight=weight, bias=bias)
        if not by_running and math.prod(shape_of(x)) == n:  # one value per channel has no statistics: it passes
            return ew.multiply(x, constant(1, x))
        return norms.batch_norm(
            x, w, b, running, training=not by_running, share=1 - momentum, eps=epsilon, correction=0
        )[0]

    return channels_first(compute, x, last)


def instance_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.9, eps: float = 1e-05, data_format: str = "NCHW",
    name: str | None = None,
) -> Any:  # fmt: skip
    """batch_norm of each element of the batch by itself; running statistics are not used."""
    op = "instance_norm"
    x = floating(op, x)
    if ndim_of(x) < 2:
        raise ValueError(f"{op}: wanted 2 dimensions or more (batch, channels, ...), got shape {list(shape_of(x))}")

    def compute(x: Any) -> Any:
        return norms.instance_norm(x, *_weights(op, x, shape_of(x)[1], weight=weight, bias=bias), eps=eps)

    return channels_first(compute, x, _last(op, data_format, ndim_of(x)))


@aliases(input="x", eps="epsilon")
def layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(x - mean) / sqrt(var + epsilon) * weight + bias over the last axes; weight and bias are flat."""
    op = "layer_norm"
    x = floating(op, x)
    wanted = _normalized(op, x, normalized_shape)
    w, b = _weights(op, x, math.prod(wanted), weight=weight, bias=bias)
    if len(wanted) > 1:
        w, b = (None if v is None else st.reshape(v, shape=wanted) for v in (w, b))
    return norms.layer_norm(x, w, b, len(wanted), epsilon)


def _normalized(op: str, x: Any, normalized_shape: Any) -> tuple[int, ...]:
    """The shape over whose axes the statistics are taken; raises ValueError where it is not the end of x's."""
    if not isinstance(normalized_shape, (int, list, tuple)):
        raise ValueError(f"{op}: normalized_shape must be an int or a sequence of them, got {normalized_shape!r}")
    wanted = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(int(n) for n in normalized_shape)
    shape = tuple(shape_of(x))
    if not wanted or shape[-len(wanted) :] != wanted:
        raise ValueError(f"{op}: normalized_shape {list(wanted)} is not the end of the input's shape {list(shape)}")
    return wanted


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float = 1e-05, name: str | None = None) -> Any:
    """x / sqrt(mean of squares + eps) * weight over the last axes."""
    x = floating("rms_norm", input, "input")
    wanted = _normalized("rms_norm", x, normalized_shape)
    return norms.rms_norm(x, weight, len(wanted), eps)


@aliases(input="x", eps="epsilon")
def group_norm(
    x: Any, num_groups: int, epsilon: float = 1e-05, weight: Any = None, bias: Any = None,
    data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """(x - mean) / sqrt(var + epsilon) * weight + bias, the statistics over groups of channels."""
    op = "group_norm"
    x = floating(op, x)
    if ndim_of(x) < 2:
        raise ValueError(f"{op}: wanted 2 dimensions or more (batch, channels, ...), got shape {list(shape_of(x))}")

    def compute(x: Any) -> Any:
        n = shape_of(x)[1]
        if num_groups <= 0 or n % num_groups:
            raise ValueError(f"{op}: {n} channels cannot be divided into {num_groups} groups")
        return norms.group_norm(x, *_weights(op, x, n, weight=weight, bias=bias), groups=num_groups, eps=epsilon)

    return channels_first(compute, x, _last(op, data_format, ndim_of(x)))


def local_response_norm(
    x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, data_format: str = "NCHW",
    name: str | None = None,
) -> Any:  # fmt: skip
    """x over (k + alpha * the mean of squares of `size` neighbouring channels) ** beta."""
    op = "local_response_norm"
    x = floating(op, x)
    if ndim_of(x) < 3:
        raise ValueError(f"{op}: wanted 3 dimensions or more, got shape {list(shape_of(x))}")
    last = _last(op, data_format, ndim_of(x))
    return channels_first(lambda x: norms.local_response_norm(x, size, alpha, beta, k), x, last)


@aliases(input="x", dim="axis", eps="epsilon")
def normalize(
    x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None, out: Any = None
) -> Any:
    """x over the larger of its p-norm along an axis and epsilon."""
    x = floating("normalize", x)
    axis = axis_of("normalize", axis, ndim_of(x))
    norm = nr.vector_norm(x, ord=float(p), axis=(axis,), keepdims=True)
    result = ew.divide(x, sel.maximum(norm, constant(epsilon, x), ties="half"))
    return result if out is None else write_out("normalize", result, out)
