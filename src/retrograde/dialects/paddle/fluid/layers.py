"""`paddle.fluid.layers`: functions of tensors under their old names and arguments."""

from __future__ import annotations

import math
from typing import Any

from ....core.value import shape_of
from ... import paddle as _p
from ..._shared.registry import defined as _defined
from .._api import attributes as _attributes
from .._arithmetic import add, divide, floor_divide, multiply, remainder, subtract
from .._arithmetic import matmul as _product
from .._arithmetic import pow as _power
from .._conversion import assign, cast
from .._creation import arange, linspace
from ..base.dygraph import no_grad  # noqa: F401 - old programs take it from here too
from ..nn import functional as F
from ..random import gaussian as _gaussian
from ..tensor import fill_constant


def activated(x: Any, act: str | None) -> Any:
    """The result of an activation given by its name, or the input itself."""
    if act is None:
        return x
    f = getattr(F, act, None)
    if f is None:
        raise ValueError(f"there is no activation {act!r}")
    return f(x)


# ------------------------------------------------------------------------------------------ two operands


def _elementwise(name: str, f: Any) -> Any:
    def function(x: Any, y: Any, axis: int = -1, act: str | None = None, name: Any = None) -> Any:
        if axis != -1 and y.ndim < x.ndim:  # y's axes stand at those of x from `axis` on
            y = y.reshape([*shape_of(y), *[1] * (x.ndim - axis - y.ndim)])
        return activated(f(x, y), act)

    return _defined(name, function,
        f"`paddle.{f.__name__}`, with the axis of `x` at which the axes of `y` begin, and an activation.")  # fmt: skip


elementwise_add, elementwise_sub = _elementwise("elementwise_add", add), _elementwise("elementwise_sub", subtract)
elementwise_mul, elementwise_div = _elementwise("elementwise_mul", multiply), _elementwise("elementwise_div", divide)
elementwise_max, elementwise_min = _elementwise("elementwise_max", _p.maximum), _elementwise("elementwise_min", _p.minimum)
elementwise_pow, elementwise_mod = _elementwise("elementwise_pow", _power), _elementwise("elementwise_mod", remainder)
elementwise_floordiv = _elementwise("elementwise_floordiv", floor_divide)


def mul(x: Any, y: Any, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: Any = None) -> Any:
    """The product of two tensors seen as matrices: their first axes are rows, the others columns."""
    a, b = tuple(shape_of(x)), tuple(shape_of(y))
    rows, inner = a[:x_num_col_dims], b[y_num_col_dims:]
    left = x.reshape([math.prod(rows), -1])
    right = y.reshape([math.prod(b[:y_num_col_dims]), -1])
    return _product(left, right).reshape([*rows, *inner])


def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0,
           name: Any = None) -> Any:  # fmt: skip
    """The matrix product times `alpha`."""
    out = _product(x, y, transpose_x, transpose_y)
    return out if alpha == 1.0 else out * alpha


# ------------------------------------------------------------------------------------------ reductions


def _reduction(name: str, f: Any) -> Any:
    def function(input: Any, dim: Any = None, keep_dim: bool = False, name: Any = None) -> Any:
        found = f(input, axis=dim, keepdim=keep_dim)
        return found if shape_of(found) else found.reshape([1])

    return _defined(name, function,
        f"`paddle.{name[7:]}` with the arguments of old programs; of everything, a tensor of one element.")  # fmt: skip


reduce_sum, reduce_mean = _reduction("reduce_sum", _p.sum), _reduction("reduce_mean", _p.mean)
reduce_max, reduce_min = _reduction("reduce_max", _p.max), _reduction("reduce_min", _p.min)
reduce_prod = _reduction("reduce_prod", _p.prod)
reduce_all, reduce_any = _reduction("reduce_all", _p.all), _reduction("reduce_any", _p.any)

mean = _defined("mean", lambda x, name=None: _p.mean(x).reshape([1]),
    "The mean of all elements, as a tensor of one element.")  # fmt: skip


def sums(input: Any, out: Any = None) -> Any:
    """The sum of several tensors."""
    total = _p.add_n(list(input)) if isinstance(input, (list, tuple)) else input
    return total if out is None else assign(total, out)


sum = sums

# ------------------------------------------------------------------------------------------ losses


def cross_entropy(input: Any, label: Any, soft_label: bool = False, ignore_index: int = -100) -> Any:
    """The cross entropy of probabilities (not of logits), one per row, in a last axis of length 1."""
    return F.cross_entropy(
        input, label, reduction="none", soft_label=soft_label, ignore_index=ignore_index, use_softmax=False
    )


def softmax_with_cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True,
    return_softmax: bool = False, axis: int = -1,
) -> Any:  # fmt: skip
    """The cross entropy of logits, one per row, in a last axis of length 1."""
    return F.softmax_with_cross_entropy(
        logits, label, soft_label=soft_label, ignore_index=ignore_index, return_softmax=return_softmax, axis=axis
    )


def sigmoid_cross_entropy_with_logits(
    x: Any, label: Any, ignore_index: int = -100, name: Any = None, normalize: bool = False
) -> Any:
    """The cross entropy of each element's sigmoid; 0 where the label is `ignore_index`."""
    loss = F.binary_cross_entropy_with_logits(x, label, reduction="none")
    kept = cast(label != ignore_index, x.dtype)
    loss = loss * kept
    return loss / kept.sum() if normalize else loss


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the `k` largest, as a tensor of one element."""
    best = _p.topk(input, k)[1]
    hits = (best == label.reshape([-1, 1]).astype(best.dtype)).astype("float32").sum(axis=1)
    return _p.mean(hits).reshape([1])


# ------------------------------------------------------------------------------------------ layers as functions


def softmax(input: Any, use_cudnn: bool = False, name: Any = None, axis: int = -1) -> Any:
    """The softmax along an axis."""
    return F.softmax(input, axis=axis)


def dropout(
    x: Any, dropout_prob: float, is_test: bool = False, seed: int | None = None, name: Any = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Any:  # fmt: skip
    """Elements set to 0 with a probability."""
    mode = "upscale_in_train" if dropout_implementation == "upscale_in_train" else "downscale_in_infer"
    return F.dropout(x, dropout_prob, training=not is_test, mode=mode)


def pool2d(
    input: Any, pool_size: Any = -1, pool_type: str = "max", pool_stride: Any = 1, pool_padding: Any = 0,
    global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, name: Any = None,
    exclusive: bool = True,
) -> Any:  # fmt: skip
    """The largest or the mean of each window of images."""
    if pool_type not in ("max", "avg"):
        raise ValueError(f"pool2d: pool_type must be 'max' or 'avg', got {pool_type!r}")
    if global_pooling:
        pool_size, pool_stride, pool_padding = list(shape_of(input)[2:]), 1, 0
    if pool_type == "max":
        return F.max_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode)
    return F.avg_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, exclusive=exclusive)


def one_hot(input: Any, depth: int, allow_out_of_range: bool = False) -> Any:
    """Ones at the positions that the input names; its last axis of length 1 gives way to theirs."""
    shape = tuple(shape_of(input))
    return F.one_hot(input.reshape(list(shape[:-1])) if shape[-1:] == (1,) else input, depth)


def embedding(*args: Any, **options: Any) -> Any:
    """Not offered: it makes parameters of its own in a static program; raises NotImplementedError."""
    raise NotImplementedError("fluid.layers.embedding makes parameters; use fluid.dygraph.Embedding in dynamic mode")


def fc(*args: Any, **options: Any) -> Any:
    """Not offered: it makes parameters of its own in a static program; raises NotImplementedError."""
    raise NotImplementedError("fluid.layers.fc makes parameters; use fluid.dygraph.Linear in dynamic mode")


# ------------------------------------------------------------------------------------------ creation and shapes

ones = _defined("ones", lambda shape, dtype, force_cpu=False: _p.ones(shape, dtype), "A tensor of ones.")
zeros = _defined("zeros", lambda shape, dtype, force_cpu=False, name=None: _p.zeros(shape, dtype), "A tensor of zeros.")


def uniform_random(shape: Any, dtype: Any = "float32", min: float = -1.0, max: float = 1.0, seed: int = 0,
                   name: Any = None) -> Any:  # fmt: skip
    """Random numbers, each as likely as any other between `min` and `max`."""
    return _p.uniform(shape, dtype, min, max, seed)


def gaussian_random(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32",
                    name: Any = None) -> Any:  # fmt: skip
    """Random numbers of the normal distribution."""
    return _gaussian(shape, mean, std, seed, dtype)


concat = _defined("concat", lambda input, axis=0, name=None: _p.concat(list(input), axis),
    "Tensors one behind the other along an axis.")  # fmt: skip


def reshape(x: Any, shape: Any, actual_shape: Any = None, act: str | None = None, inplace: bool = False,
            name: Any = None) -> Any:  # fmt: skip
    """The elements in another shape."""
    return activated(_p.reshape(x, shape), act)


transpose = _defined("transpose", lambda x, perm, name=None: _p.transpose(x, perm), "The axes in another order.")


def split(input: Any, num_or_sections: Any, dim: int = -1, name: Any = None) -> Any:
    """Parts along an axis."""
    return _p.split(input, num_or_sections, dim)


expand = _defined("expand", lambda x, expand_times, name=None: _p.tile(x, expand_times),
    "The tensor repeated along each axis.")  # fmt: skip
unsqueeze = _defined("unsqueeze", lambda input, axes, name=None: _p.unsqueeze(input, axes), "New axes of length 1.")
squeeze = _defined("squeeze", lambda input, axes, name=None: _p.squeeze(input, axes or None), "Without axes of length 1.")
gather = _defined("gather", lambda input, index, overwrite=True: _p.gather(input, index), "Rows by their numbers.")
range = _defined("range", lambda start, end, step, dtype, name=None: arange(start, end, step, dtype),
    "Numbers from `start` up to but without `end`, in steps.")  # fmt: skip


def l2_normalize(x: Any, axis: int, epsilon: float = 1e-12, name: Any = None) -> Any:
    """The vectors along an axis divided by their lengths."""
    return F.normalize(x, axis=axis, epsilon=epsilon)


def clip(x: Any, min: float, max: float, name: Any = None) -> Any:
    """Each element no less than `min` and no more than `max`."""
    return _p.clip(x, min, max)


def scale(x: Any, scale: Any = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None,
          name: Any = None) -> Any:  # fmt: skip
    """`scale * x + bias`, or `scale * (x + bias)`."""
    return activated(_p.scale(x, scale, bias, bias_after_scale), act)


argmax = _defined("argmax", lambda x, axis=0: _p.argmax(x, axis), "The positions of the largest elements along an axis.")
argmin = _defined("argmin", lambda x, axis=0: _p.argmin(x, axis), "The positions of the smallest elements along an axis.")


def argsort(input: Any, axis: int = -1, descending: bool = False, name: Any = None) -> tuple[Any, Any]:
    """The elements in order along an axis, and where they stood."""
    return _p.sort(input, axis, descending), _p.argsort(input, axis, descending)


flatten = _defined("flatten", lambda x, axis=1, name=None: x.reshape([math.prod(shape_of(x)[:axis]), -1]),
    "A matrix: the axes before `axis` make its rows, the others its columns.")  # fmt: skip
where = _defined("where", lambda condition: _p.nonzero(condition), "The positions of what is true, one in each row.")

# ------------------------------------------------------------------------------------------ other defaults than now

leaky_relu = _defined("leaky_relu", lambda x, alpha=0.02, name=None: F.leaky_relu(x, alpha),
    "`alpha x` for negative numbers, others as they are.")  # fmt: skip
relu6 = _defined("relu6", lambda x, threshold=6.0, name=None: _p.clip(x, 0.0, threshold), "Numbers within [0, threshold].")
brelu = _defined("brelu", lambda x, t_min=0.0, t_max=24.0, name=None: F.hardtanh(x, t_min, t_max),
    "Numbers within [t_min, t_max].")  # fmt: skip
hard_sigmoid = _defined("hard_sigmoid", lambda x, slope=0.2, offset=0.5, name=None: F.hardsigmoid(x, slope, offset),
    "slope x + offset within [0, 1].")  # fmt: skip


def huber_loss(input: Any, label: Any, delta: float) -> Any:
    """The Huber loss of each element: quadratic where they differ by less than `delta`, linear beyond."""
    return F.smooth_l1_loss(input, label, "none", delta)


def smooth_l1(x: Any, y: Any, inside_weight: Any = None, outside_weight: Any = None, sigma: float | None = None) -> Any:
    """The smooth L1 loss of each row, in a column: quadratic where x and y differ by less than 1 / sigma**2."""
    square = 1.0 if sigma is None else float(sigma) ** 2
    difference = x - y if inside_weight is None else (x - y) * inside_weight
    loss = F.smooth_l1_loss(difference, _p.zeros_like(difference), "none", 1.0 / square) * square
    if outside_weight is not None:
        loss = loss * outside_weight
    return flatten(loss).sum(axis=1, keepdim=True)


pow = _defined("pow", lambda x, factor=1.0, name=None: _power(x, factor), "x to a power.")
pad = _defined("pad", lambda x, paddings, pad_value=0.0, name=None: F.pad(x, list(paddings), "constant", pad_value),
    "The tensor with elements before and behind along every axis: two counts for each, first axis first.")  # fmt: skip


def clip_by_norm(x: Any, max_norm: float, name: Any = None) -> Any:
    """The tensor, scaled down to the norm `max_norm` where its own is larger."""
    return x * _p.clip(max_norm / _p.norm(x), max=1.0)


def soft_relu(x: Any, threshold: float = 40.0, name: Any = None) -> Any:
    """log(1 + exp(x)) of x between -threshold and threshold."""
    return F.softplus(_p.clip(x, -threshold, threshold), threshold=threshold)


has_nan = _defined("has_nan", lambda x: _p.isnan(x).any().reshape([1]),
    "Whether any element is nan, as a tensor of one element.")  # fmt: skip
has_inf = _defined("has_inf", lambda x: _p.isinf(x).any().reshape([1]),
    "Whether any element is infinite, as a tensor of one element.")  # fmt: skip
size = _defined("size", lambda input: _p.numel(input).reshape([1]), "The number of elements, as a tensor of one element.")
reverse = _defined("reverse", lambda x, axis: _p.flip(x, axis), "The elements along some axes in the opposite order.")


def expand_as(x: Any, target_tensor: Any, name: Any = None) -> Any:
    """The tensor repeated along each axis to the shape of another."""
    times = [n // m for n, m in zip(shape_of(target_tensor), shape_of(x))]
    return _p.tile(x, times)


def create_global_var(
    shape: Any, value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False, name: Any = None
) -> Any:
    """A tensor of one number everywhere."""
    return fill_constant(shape, dtype, value)


_SAME_IN_PADDLE = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cumsum", "diag", "equal", "erf", "exp",
    "eye", "floor", "greater_equal", "greater_than", "increment", "isfinite", "less_equal", "less_than", "log",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "ones_like", "reciprocal", "round", "rsqrt",
    "scatter", "shape", "sign", "sin", "slice", "sqrt", "square", "stack", "strided_slice", "tanh", "topk", "unbind",
    "triu", "tril", "stanh", "unstack", "zeros_like", "rank", "gather_nd", "create_parameter",
)  # fmt: skip
_SAME_IN_FUNCTIONAL = (
    "elu", "gelu", "hardtanh", "log_loss", "log_softmax", "maxout", "mish", "pixel_shuffle", "relu", "selu", "sigmoid",
    "softplus", "softsign", "swish", "label_smooth", "hardsigmoid", "hardswish", "kl_div", "smooth_l1_loss", "mse_loss",
    "square_error_cost",
)  # fmt: skip

for _name in _SAME_IN_PADDLE:
    globals()[_name] = getattr(_p, _name)
for _name in _SAME_IN_FUNCTIONAL:
    globals()[_name] = getattr(F, _name)
globals().update(
    hard_swish=F.hardswish, hard_shrink=F.hardshrink, kldiv_loss=F.kl_div, linspace=linspace, logsigmoid=F.log_sigmoid,
    reduce_logsumexp=_p.logsumexp, tanh_shrink=F.tanhshrink,
)  # fmt: skip

__getattr__ = _attributes(globals())
