"""Batch, layer, group, instance, RMS and local response normalisation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .....core.value import Value, dtype_of, shape_of
from .....learn.layers import normalization as layers
from .....ops import normalization as nm
from .....ops.structural import cast
from ... import _binary, _conversion, _reductions, _shape, _statistics
from ..._api import api, write_out
from ..._axes import integer
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._grad_modes import no_grad
from ..._graph_nodes import NAMES, show_as
from ..._memory import in_format_of
from ..._promote import floated
from ..._shape import reshaped
from ..._tensor import beside
from ._sizes import check_kind

NAMES.update(
    normalize="NativeBatchNormBackward0", normalize_stats="NativeBatchNormBackward0",
    normalize_by="NativeBatchNormBackward0",
)  # fmt: skip


def _channels(op: str, x: Any, **vectors: Any) -> int:
    """The channels of `x`; raises RuntimeError where a vector has not one entry for each."""
    a = getattr(x, "_a", None)
    if type(a) is np.ndarray and a.ndim > 1 and _plain(a.dtype, a.shape[1:2], vectors.values()):
        return int(a.shape[1])
    shape = tuple(shape_of(x))
    check_kind(op, x)
    if len(shape) < 2:
        raise RuntimeError(f"{op}: wanted 2 dimensions or more (batch, channels, ...), got a tensor of shape {shape}")
    for name, v in vectors.items():
        if v is not None and tuple(shape_of(tensor_argument(op, v, name))) != (shape[1],):
            raise RuntimeError(
                f"{op}: {name} must have one entry for each of the {shape[1]} channels, got shape {tuple(shape_of(v))}; a "
                "layer's num_features is the input's size along axis 1"
            )
    return shape[1]


def _same_dtype(x: Any, *others: Any) -> tuple[Any, ...]:
    """Weights in the dtype of `x`: half precision normalises with single-precision weights."""
    d = dtype_of(x)
    return tuple([v if v is None or dtype_of(v) == d else v.to(FROM_NUMPY[d]) for v in others])


def _batch_norm(
    op: str, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool, momentum: float,
    eps: float, stats: bool = False,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The result and, with `stats`, mean and one over the deviation; moves the running statistics in training."""
    shape = tuple(shape_of(tensor_argument(op, x)))
    if shape == (0,):  # what PyTorch gives for it, with no channels to speak of
        empty = beside(np.zeros((0,), dtype_of(x)), x)
        return _conversion.clone(x), empty, empty
    _channels(op, x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    weight, bias = _same_dtype(x, weight, bias)
    if (running_mean is None) != (running_var is None):
        raise ValueError(f"{op}: running_mean and running_var must both be given, or neither")
    if not training and running_mean is None:
        raise RuntimeError(f"{op}: running_mean and running_var are needed for evaluation; pass them, or training=True")
    running = None if running_mean is None else (running_mean, running_var)
    out, mean, scale = layers.batch_norm(
        x, weight, bias, running, training=training, share=momentum, eps=eps, stats=stats
    )
    if stats and not training:
        mean = scale = beside(np.zeros((0,), dtype_of(x)), x)
    return out, mean, scale


def batch_norm(input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    """(x - mean) / sqrt(var + eps) * weight + bias per channel, with the batch's statistics or the running ones.

    Raises ValueError in training with a single value per channel, IndexError where there is no dimension of channels.
    """
    a = getattr(input, "_a", None)
    if (
        type(a) is np.ndarray and a.ndim > 1 and training and a.size > a.shape[1] and running_mean is not None
        and running_var is not None
        and _plain(a.dtype, a.shape[1:2], (weight, bias, running_mean, running_var))
    ):  # fmt: skip
        running = running_mean, running_var
        return in_format_of(input, layers.batch_norm(input, weight, bias, running, training=True, share=momentum, eps=eps)[0])
    if training:
        shape = tuple(shape_of(tensor_argument("batch_norm", input)))
        if len(shape) < 2 and shape != (0,):
            raise IndexError(f"batch_norm: wanted 2 dimensions or more (batch, channels, ...), got a tensor of shape {shape}")
        if shape != (0,) and math.prod(shape) == shape[1]:
            raise ValueError(
                f"batch_norm: training needs more than one value per channel, got a tensor of shape {shape}; give more rows "
                "(of data in batches, drop_last=True leaves out a last one of one), or call eval() on the network first"
            )
    found = _batch_norm("batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps)
    return in_format_of(input, found[0])


@api("batch_norm", method=False)
def _torch_batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
                      momentum: float, eps: float, cudnn_enabled: bool = True) -> Any:  # fmt: skip
    """`nn.functional.batch_norm` with the weights first."""
    return _batch_norm("batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


@api(method=False)
def native_batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
                      momentum: float, eps: float) -> Any:  # fmt: skip
    """batch_norm with the mean and one over the deviation of the batch (empty in evaluation)."""
    out, mean, scale = _batch_norm(
        "native_batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps, True
    )
    given = next((v for v in (weight, running_mean) if v is not None), input)
    return out, *_in_dtype(given, mean.detach(), scale.detach())


@api(method=False)
def _native_batch_norm_legit(input: Any, weight: Any, bias: Any, *rest: Any, **named: Any) -> Any:
    """native_batch_norm, also without running statistics: (input, weight, bias, training, momentum, eps)."""
    running: tuple[Any, Any] = (named.pop("running_mean", None), named.pop("running_var", None))
    if rest and (rest[0] is None or isinstance(rest[0], Value)):
        running, rest = (rest[0], rest[1]), rest[2:]
    given = dict(zip(("training", "momentum", "eps"), rest), **named)
    op = "_native_batch_norm_legit"
    out, mean, scale = _batch_norm(
        op, input, *running, weight, bias, given["training"], given["momentum"], given["eps"], True
    )
    suffix = 0 if running[0] is not None else 1
    given = next((v for v in (weight, running[0]) if v is not None), input)
    return show_as(out, f"NativeBatchNormLegitBackward{suffix}"), *_in_dtype(given, mean.detach(), scale.detach())


def _in_dtype(like: Any, *stats: Any) -> list[Any]:
    """Statistics, which 16-bit inputs have in float32, in the dtype of the parameters."""
    return [v if dtype_of(v) == dtype_of(like) else cast(v, dtype=dtype_of(like)) for v in stats]


def instance_norm(input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
                  use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    """batch_norm of each element of the batch by itself.

    Raises ValueError with a single value per channel and element.
    """
    shape = tuple(shape_of(tensor_argument("instance_norm", input)))
    if use_input_stats and len(shape) >= 2 and math.prod(shape[2:]) == 1:
        raise ValueError(
            f"instance_norm: training needs more than one value per channel, got a tensor of shape {shape}"
        )
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@api("instance_norm", method=False)
def _instance_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
                   momentum: float, eps: float, cudnn_enabled: bool = True) -> Any:  # fmt: skip
    """`nn.functional.instance_norm` with the weights first."""
    op = "instance_norm"
    x = tensor_argument(op, input)
    channels = _channels(op, x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(f"{op}: running_mean and running_var are needed when use_input_stats is False")
    shape = tuple(shape_of(x))
    if use_input_stats and running_mean is None and running_var is None and len(shape) > 2:
        weight, bias = _same_dtype(x, weight, bias)
        # PyTorch makes a batch norm of it, between views
        return show_as(layers.instance_norm(x, weight, bias, eps), "ViewBackward0")
    n = shape[0]

    def repeated(v: Any) -> Any:
        return None if v is None else _shape.repeat(v, n)

    means, variances = repeated(running_mean), repeated(running_var)
    merged = _shape.reshape(x, (1, n * channels, *shape[2:]))
    out = _batch_norm(
        op, merged, means, variances, repeated(weight), repeated(bias), use_input_stats, momentum, eps
    )[0]
    if use_input_stats:
        with no_grad():
            for running, fresh in ((running_mean, means), (running_var, variances)):
                if running is not None:
                    running.copy_(_reductions.mean(fresh.view(n, channels), 0))
    return reshaped(out, shape, "ViewBackward0")


def _normalized(op: str, x: Any, normalized_shape: Any, weight: Any, bias: Any) -> tuple[int, ...]:
    """The shape over whose axes the statistics are taken; raises RuntimeError where it is not the end of x's."""
    shape = tuple(shape_of(tensor_argument(op, x)))
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(f"{op}: normalized_shape must be a sequence of ints, got {normalized_shape!r}")
    wanted = tuple(integer(op, "normalized_shape", n) for n in normalized_shape)
    if not wanted:
        raise RuntimeError(f"{op}: normalized_shape must have one entry at least")
    for name, v in (("weight", weight), ("bias", bias)):
        if v is not None and tuple(shape_of(v)) != wanted:
            raise RuntimeError(f"{op}: {name} must have the shape {wanted}, got {tuple(shape_of(v))}")
    if shape[-len(wanted) :] != wanted:
        raise RuntimeError(
            f"{op}: normalized_shape {wanted} is not the end of the input's shape {shape}; it is the sizes of the last axes"
        )
    return wanted


def _fits(x: Any, shape: Any, *weights: Any) -> bool:
    """Whether everything is plain at first sight: arrays of one dtype that normalises, and weights of the shape `shape`, with
    which that of x ends. What does not is looked at by `_normalized`."""
    a = getattr(x, "_a", None)
    if type(a) is not np.ndarray or type(shape) is not tuple or a.shape[-len(shape) :] != shape or not shape:
        return False
    return _plain(a.dtype, shape, weights)


def _plain(dtype: np.dtype, shape: tuple[int, ...], weights: Iterable[Any]) -> bool:
    """Whether a dtype normalises, and weights (None for none) are arrays of it and of a shape."""
    if dtype is not _FLOAT32 and dtype is not _FLOAT64:
        return False
    for v in weights:
        if v is not None:
            w = getattr(v, "_a", None)
            if type(w) is not np.ndarray or w.shape != shape or w.dtype is not dtype:
                return False
    return True


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def _layer_norm(op: str, norm: Any, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    if _fits(x, normalized_shape, weight, bias):
        return layers.layer_norm(x, weight, bias, len(normalized_shape), eps, norm)
    wanted = _normalized(op, x, normalized_shape, weight, bias)
    check_kind(op, x)
    weight, bias = _same_dtype(x, weight, bias)
    return layers.layer_norm(x, weight, bias, len(wanted), eps, norm)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose shape is `normalized_shape`."""
    out = _layer_norm("layer_norm", nm.normalize, input, normalized_shape, weight, bias, eps)
    return show_as(out, "NativeLayerNormBackward0")


@api("layer_norm", method=False)
def _torch_layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                      cudnn_enable: bool = True) -> Any:  # fmt: skip
    """As `nn.functional.layer_norm`."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


def _kept_axes(stats: Any, x: Any, normalized_shape: Sequence[int]) -> Any:
    """Statistics with the normalised axes as axes of length 1."""
    count = len(normalized_shape)
    return _shape.reshape(stats.detach(), (*tuple(shape_of(x))[:-count], *(1,) * count))


@api(method=False)
def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """layer_norm with the means and one over the deviations."""
    out, mean, scale = _layer_norm("native_layer_norm", nm.normalize_stats, input, normalized_shape, weight, bias, eps)
    show_as(out, "NativeLayerNormBackward0")
    stats = _in_dtype(input if weight is None else weight, mean, scale)
    return out, *(_kept_axes(v, input, normalized_shape) for v in stats)


def _group_norm(op: str, norm: Any, x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    channels = _channels(op, tensor_argument(op, x), weight=weight, bias=bias)
    if groups <= 0:
        raise RuntimeError(f"{op}: the number of groups must be positive, got {groups}")
    if channels % groups:
        raise RuntimeError(f"{op}: {channels} channels are not divisible into {groups} groups")
    weight, bias = _same_dtype(x, weight, bias)
    return layers.group_norm(x, weight, bias, groups, eps, norm)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """(x - mean) / sqrt(var + eps) over each group of channels, then * weight + bias per channel.

    Raises ValueError with a single value per group.
    """
    shape = shape_of(tensor_argument("group_norm", input))
    if len(shape) >= 2 and shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
        raise ValueError(f"group_norm: more than one value per group is needed, got a tensor of shape {shape}")
    out = _group_norm("group_norm", nm.normalize, input, num_groups, weight, bias, eps)
    return show_as(in_format_of(input, out), "NativeGroupNormBackward0")


@api("group_norm", method=False)
def _torch_group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                      cudnn_enabled: bool = True) -> Any:  # fmt: skip
    """As `nn.functional.group_norm`."""
    return group_norm(input, num_groups, weight, bias, eps)


@api(method=False)
def native_group_norm(input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float) -> Any:
    """group_norm with the means and one over the deviations; N, C and HxW are the sizes of the input."""
    if math.prod(shape_of(tensor_argument("native_group_norm", input))) != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm: an input of shape {tuple(shape_of(input))} has not {N}x{C}x{HxW} elements"
        )
    out, *stats = _group_norm("native_group_norm", nm.normalize_stats, input, group, weight, bias, eps)
    mean, scale = _in_dtype(input if weight is None else weight, *stats)
    for y in (out, mean, scale):
        show_as(y, "NativeGroupNormBackward0")
    return out, mean, scale


@api(method=False)
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """x / sqrt(mean(x²) + eps) * weight over the last axes (Zhang and Sennrich, 2019)."""
    wanted = _normalized("rms_norm", input, normalized_shape, weight, None)
    d = FROM_NUMPY[dtype_of(input)]
    if eps is None:
        eps = float(np.finfo(np.float32 if d.itemsize < 4 else dtype_of(input)).eps)
    return layers.rms_norm(input, weight, len(wanted), eps)


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """x / (k + alpha mean(x² over `size` neighbouring channels))^beta (Krizhevsky et al., 2012).

    Raises ValueError for fewer than three dimensions.
    """
    x = tensor_argument("local_response_norm", input)
    shape = tuple(shape_of(x))
    if len(shape) < 3:
        raise ValueError(f"local_response_norm: wanted 3 dimensions or more, got {len(shape)}")
    if math.prod(shape) == 0:
        return x
    if dtype_of(x).kind in "iub":
        if dtype_of(x) != np.int64:
            raise NotImplementedError(f"local_response_norm: of the integer dtypes only int64 is taken, got {x.dtype}")
        return layers.local_response_norm(x, size, alpha, beta, k, floated)
    return layers.local_response_norm(x, size, alpha, beta, k)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """x / max(p-norm of x along `dim`, eps)."""
    x = tensor_argument("normalize", input)
    size = _binary.clamp_min(_statistics.norm_method(x, p, dim, keepdim=True), eps)
    result = x / _shape.expand_as(size, x)
    return result if out is None else write_out("normalize", result, out)
