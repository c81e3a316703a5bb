"""`mindspore.mint.nn.functional`: the functions of `mindspore.ops` with torch-like parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .....learn import losses as formulas
from ...._shared.documents import shown
from ...._shared.losses import Losses
from ...._shared.registry import defined
from ...._shared.spatial import of_axes
from ... import (
    _activations,
    _binary,
    _convolution,
    _dropout,
    _linear,
    _losses,
    _normalization,
    _padding,
    _pooling,
    _resample,
    _statistics,
    _unary,
)
from ..._activations import (  # noqa: F401 - offered as they are, like those below that this file does not call
    gelu,
    hardshrink,
    hardsigmoid,
    hardswish,
    prelu,
    relu,
    sigmoid,
    softplus,
    softshrink,
)  # fmt: skip
from ..._api import attributes
from ..._assign import write
from ..._dtype import as_dtype
from ..._linear import embedding  # noqa: F401
from ..._losses import cosine_embedding_loss, l1_loss, mse_loss, soft_margin_loss  # noqa: F401
from ..._normalization import group_norm, layer_norm  # noqa: F401
from ..._patches import fold, pixel_shuffle, unfold  # noqa: F401
from ..._pooling import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    max_unpool2d,
)  # fmt: skip
from ..._promote import FLOATING, single, tensor_argument, to_dtype
from ..._resample import grid_sample  # noqa: F401
from ..._unary import tanh  # noqa: F401

Function = Callable[..., Any]


def softmax(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """exp(x) divided by its sum along an axis."""
    return _activations.softmax(input, -1 if dim is None else dim, dtype=dtype)


def log_softmax(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The logarithm of softmax along an axis."""
    return _activations.log_softmax(
        input if dtype is None else to_dtype(input, as_dtype(dtype)), -1 if dim is None else dim
    )


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: Any = None, recompute_scale_factor: Any = None) -> Any:  # fmt: skip
    """(N, C, *size) resampled to a size or by a factor."""
    return _resample.resized(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


upsample = interpolate


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """x above 0, negative_slope x below."""
    return _activations.leaky_relu(input, float(negative_slope))


def glu(input: Any, dim: int = -1) -> Any:
    """One half of an axis times the sigmoid of the other."""
    return _activations.glu(input, dim)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements added at the ends of the last axes: (before, after) from the last axis on."""
    return _padding.pad(input, pad, mode, value)


def max_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, H, W)."""
    return _pooling.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def _of_input(activation: Function) -> Function:
    def f(input: Any) -> Any:
        return activation(input)

    return defined(activation.__name__, f, activation.__doc__)


logsigmoid, mish, selu = map(_of_input, (_activations.logsigmoid, _activations.mish, _activations.selu))


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x above 0, alpha (exp(x) - 1) below; written into the tensor where `inplace`."""
    out = _activations.elu_of(single("elu", input, FLOATING), float(alpha))
    return write("elu", input, out) if inplace else out


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """`elu`, written into the tensor."""
    return elu(input, alpha, True)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x brought into [min_val, max_val]; written into the tensor where `inplace`."""
    out = _activations.hardtanh(input, min_val, max_val)
    return write("hardtanh", input, out) if inplace else out


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`hardtanh`, written into the tensor."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Any, inplace: bool = False) -> Any:
    """min(max(x, 0), 6); written into the tensor where `inplace`."""
    out = _activations.relu6(input)
    return write("relu6", input, out) if inplace else out


def relu_(input: Any) -> Any:
    """max(x, 0), written into the tensor."""
    return write("relu_", input, _activations.relu(input))


def silu(input: Any, inplace: bool = False) -> Any:
    """x sigmoid(x); written into the tensor where `inplace`."""
    out = _activations.silu(input)
    return write("silu", input, out) if inplace else out


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """x above the threshold, `value` elsewhere; written into the tensor where `inplace`."""
    out = _activations.threshold(input, threshold, value)
    return write("threshold", input, out) if inplace else out


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """`threshold`, written into the tensor."""
    return _threshold(input, threshold, value, True)


_threshold = threshold


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias."""
    return _linear.dense(input, weight, bias)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Vectors along an axis divided by their p-norm, which counts as at least eps."""
    size = _statistics.vector_norm(input, p, dim, True)
    return input / _binary.clamp(size, min=float(eps))


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """For each number a vector of zeros with a one in its place."""
    labels = np.asarray(tensor_argument("one_hot", tensor, "tensor")._concrete("one_hot"))
    classes = int(labels.max(initial=-1)) + 1 if num_classes == -1 else num_classes
    return to_dtype(_linear.one_hot(tensor, classes), as_dtype("int64"))


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements set to 0 with probability p, the others divided by 1 - p, in training; in the tensor where `inplace`."""
    out = _dropout.dropout(input, p, training)
    return write("dropout", input, out) if inplace else out


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels set to 0 with probability p, the others divided by 1 - p, in training."""
    out = _dropout.dropout2d(input, p, training)
    return write("dropout2d", input, out) if inplace else out


def batch_norm(input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    """Each channel (axis 1) by the batch's statistics (training) or by the running ones."""
    if not training and (running_mean is None or running_var is None):
        raise TypeError("batch_norm: without training, running_mean and running_var must be Tensors")
    return _normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _convolving(op: str, axes: int) -> Function:
    def f(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
          groups: int = 1) -> Any:  # fmt: skip
        mode = padding if isinstance(padding, str) else "pad"
        given = 0 if isinstance(padding, str) else padding
        return _convolution.convolve_checked(op, axes, input, weight, bias, stride, mode, given, dilation, groups)

    return f


conv1d, conv2d, conv3d = of_axes(
    "conv{}d", "The convolution of {x} with a weight; padding is an int, one per axis, 'valid' or 'same'.", _convolving
)
conv_transpose2d = _convolution.conv_transpose2d


def _avg_pool(op: str, axes: int) -> Function:
    def f(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
          count_include_pad: bool = True, divisor_override: Any = None) -> Any:  # fmt: skip
        return _pooling.avg_pool(op, axes, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                                divisor_override or 0)  # fmt: skip

    return f


avg_pool1d, avg_pool2d, avg_pool3d = of_axes("avg_pool{}d", "The means of windows of {x}.", _avg_pool)


_loss = Losses(formulas.check_reduction)
smooth_l1_loss = _loss("smooth_l1_loss", "input, target, reduction='mean', beta=1.0", formulas.SMOOTH_L1, _losses.together,
                       checks="beta: number > 0", error=RuntimeError)  # fmt: skip


def cross_entropy(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Any:  # fmt: skip
    """The cross entropy of softmax over axis 1 with target classes or probabilities."""
    return _losses.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """The negative of the log-probability of each target class."""
    return _losses.nll_loss(input, target, weight, ignore_index, reduction)


binary_cross_entropy = _loss("binary_cross_entropy", "input, target, weight=None, reduction='mean'",
                             formulas.BINARY_CROSS_ENTROPY, _losses.probabilities, lowest=_losses.LOWEST)  # fmt: skip
binary_cross_entropy_with_logits = _loss(
    "binary_cross_entropy_with_logits", "input, target, weight=None, reduction='mean', pos_weight=None",
    formulas.BINARY_CROSS_ENTROPY_WITH_LOGITS, _losses.logits,
)  # fmt: skip


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """The Kullback-Leibler divergence: target * (log target - input), where input holds log-probabilities."""
    if not log_target:
        return _losses.kl_div(input, target, reduction)
    formulas.check_reduction("kl_div", reduction, "batchmean")
    return formulas.divergence(_unary.exp(target) * (target - input), reduction, input.shape)


shown(globals(), "mindspore", "mint.nn.functional")
__getattr__ = attributes(globals())
