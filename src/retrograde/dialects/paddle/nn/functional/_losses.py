"""Losses between predictions and labels; those over classes are in class_loss.py. `reduction`: mean, sum or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....core.value import Value, dtype_of, ndim_of, shape_of
from .....learn import losses as formulas
from .....learn.losses import check_reduction, reduced
from .....ops import elementwise as ew
from .....ops import loss as ls
from .....ops import reduction as rd
from .....ops.activation import relu, sigmoid
from .....ops.comparison import equal
from .....ops.structural import broadcast_to, reshape
from ...._shared.axes import length_of
from ...._shared.losses import Losses, one_shape, variance
from ..._api import to_dtype
from ..._promote import pair
from ._arguments import constant, fixed, floating, tensor_argument
from ._distances import pairwise_distance


def _both(op: str, input: Any, label: Any) -> tuple[Any, Any]:
    """Prediction and label in one dtype; raises ValueError where they are no tensors."""
    return pair(op, floating(op, input, "input"), tensor_argument(op, label, "label"))


def _alike(op: str, input: Any, label: Any, error: type[Exception] = ValueError) -> tuple[Any, Any]:
    """Prediction and label, which must have one dtype; raises `error` where they have not."""
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    if dtype_of(x) != dtype_of(y):
        raise error(f"{op}: input is {x.dtype} and label {y.dtype}; convert one with astype()")
    return x, y


def _common(op: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors in their common shape; raises ValueError where there is none."""
    try:
        shape = np.broadcast_shapes(tuple(shape_of(x)), tuple(shape_of(y)))
    except ValueError:
        raise ValueError(
            f"{op}: input {list(shape_of(x))} and label {list(shape_of(y))} cannot be broadcast to one shape"
        ) from None
    x, y = (v if tuple(shape_of(v)) == shape else broadcast_to(v, shape=shape) for v in (x, y))
    return x, y


def _weighing(what: formulas.Loss) -> formulas.Loss:
    """A loss whose weights have gradients and a dtype of their own; the mean is over the losses."""

    def value(x: Any, y: Any, weight: Any, *more: Any, reduction: str, **options: Any) -> Any:
        if weight is None:
            return what.value(x, y, None, *more, reduction=reduction, **options)
        losses = what.value(x, y, None, *more, reduction="none", **options)
        return reduced(ew.multiply(*pair("weight", losses, weight)), reduction)

    return what._replace(value=value)


_ENDS = "reduction='mean'"
loss = Losses(
    check_reduction, also="name: str | None = None", called={"epsilon": "eps", "distance_function": "distance"}
)

# ------------------------------------------------------------------------------------------ differences


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The squared difference of input and label."""
    check_reduction("mse_loss", reduction)
    if isinstance(input, Value) and dtype_of(input).kind in "iu":  # the mean of integers is cut to one
        square = (input - tensor_argument("mse_loss", label, "label")).square()
        return square if reduction == "none" else square.mean() if reduction == "mean" else square.sum()
    x, y = _both("mse_loss", input, label)
    if shape_of(x) != shape_of(y):
        x, y = _common("mse_loss", x, y)
    return ls.mse_loss(x, y, reduction=reduction)


def square_error_cost(input: Any, label: Any) -> Any:
    """The squared difference of input and label, elementwise."""
    return ew.square(ew.subtract(*_both("square_error_cost", input, label)))


l1_loss = loss("l1_loss", f"input, label, {_ENDS}", formulas.L1, _both)


def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Half the squared difference below delta, linear beyond; divided by delta unless `is_huber`."""
    check_reduction("smooth_l1_loss", reduction)
    if delta <= 0:
        raise ValueError(f"smooth_l1_loss: delta must be positive, got {delta}")
    x, y = _common("smooth_l1_loss", *_both("smooth_l1_loss", input, label))
    if is_huber:
        return ls.huber_loss(x, y, reduction=reduction, delta=float(delta))
    return ls.smooth_l1_loss(x, y, reduction=reduction, beta=float(delta))


def _as_input(op: str, input: Any, label: Any) -> tuple[Any, Any]:
    x = floating(op, input, "input")
    y = to_dtype(tensor_argument(op, label, "label"), dtype_of(x))
    one_shape(op, x, y)
    return x, y


soft_margin_loss = loss("soft_margin_loss", f"input, label, {_ENDS}", formulas.SOFT_MARGIN, _as_input)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """The cross entropy of the similarities of anchors and positives, plus an L2 penalty (Sohn, 2016)."""
    from ._class_losses import _soft_cross_entropy

    a, b = floating("npair_loss", anchor, "anchor"), floating("npair_loss", positive, "positive")
    n = length_of("npair_loss", shape_of(labels), 0)
    column = reshape(to_dtype(labels, dtype_of(a)), shape=(n, 1))
    same = to_dtype(equal(column, reshape(column, shape=(1, n))), dtype_of(a))
    target = ew.divide(same, rd.sum(same, axis=(1,), keepdims=True))
    penalty = sum(rd.mean(rd.sum(ew.square(v), axis=(1,), keepdims=False), axis=(0,), keepdims=False) for v in (a, b))
    losses = _soft_cross_entropy(a @ b.T, target)
    cross = rd.mean(rd.sum(ew.multiply(target, losses), axis=(0,), keepdims=False), axis=(0,), keepdims=False)
    return ew.add(ew.multiply(penalty, constant(0.25 * l2_reg, penalty)), cross)


# ------------------------------------------------------------------------------------------ probabilities


def _probabilities(op: str, input: Any, label: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _alike(op, input, label)
    one_shape(op, x, y)
    plain = x._a
    if isinstance(plain, np.ndarray) and plain.size and not (plain.min() >= 0 and plain.max() <= 1):
        raise ValueError(
            f"{op}: the input must lie in [0, 1]; apply a sigmoid, or use binary_cross_entropy_with_logits"
        )
    return x, y, weight


def _logits(op: str, logit: Any, label: Any, weight: Any, pos_weight: Any) -> tuple[Any, ...]:
    x, y = _alike(op, logit, label, RuntimeError)
    one_shape(op, x, y)
    return x, y, weight, None if pos_weight is None else to_dtype(pos_weight, dtype_of(x))


binary_cross_entropy = loss(
    "binary_cross_entropy", f"input, label, weight=None, {_ENDS}", _weighing(formulas.BINARY_CROSS_ENTROPY), _probabilities,
    constant="label", lowest=-100.0,
)  # fmt: skip
binary_cross_entropy_with_logits = loss(
    "binary_cross_entropy_with_logits", f"logit, label, weight=None, {_ENDS}, pos_weight=None",
    _weighing(formulas.BINARY_CROSS_ENTROPY_WITH_LOGITS), _logits, constant="label",
)  # fmt: skip


def sigmoid_focal_loss(
    logit: Any, label: Any, normalizer: Any = None, alpha: float = 0.25, gamma: float = 2.0,
    reduction: str = "sum", name: str | None = None,
) -> Any:  # fmt: skip
    """Binary cross entropy with logits, each weighted by alpha and (1 - probability of the label)^gamma."""
    op = "sigmoid_focal_loss"
    check_reduction(op, reduction)
    x, y = _alike(op, logit, label)
    if normalizer is not None and ndim_of(normalizer) > 1:
        raise ValueError(f"{op}: normalizer must have one element, got shape {list(shape_of(normalizer))}")
    p = sigmoid(x)
    losses = ls.binary_cross_entropy_with_logits(x, fixed(y), None, None, reduction="none")
    right = p * y + (1 - p) * (1 - y)
    losses = (alpha * y + (1 - alpha) * (1 - y)) * losses * ew.power_by(1 - right, exponent=float(gamma))
    return reduced(losses if normalizer is None else losses / normalizer, reduction)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """-label log(input + epsilon) - (1 - label) log(1 - input + epsilon), elementwise."""
    x, y = _alike("log_loss", input, label, RuntimeError)
    y = fixed(y)
    return -(y * ew.log(x + epsilon)) - (1 - y) * ew.log(1 - x + epsilon)


def _alike_axes(op: str, input: Any, label: Any) -> tuple[Any, Any]:
    x, y = _alike(op, input, label)
    if ndim_of(x) != ndim_of(y):
        raise ValueError(f"{op}: input {list(shape_of(x))} and label {list(shape_of(y))} must have as many axes")
    return x, y


def _gaussian(op: str, input: Any, label: Any, given: Any) -> tuple[Any, ...]:
    x, y = _both(op, input, label)
    v = variance(op, floating(op, given, "variance"), tuple(shape_of(x)), "variance")
    return x, y, to_dtype(v, dtype_of(x))


kl_div = loss("kl_div", f"input, label, {_ENDS}, log_target=False", formulas.KL_DIVERGENCE, _alike_axes, constant="label",
              positive_only=True)  # fmt: skip
poisson_nll_loss = loss("poisson_nll_loss", f"input, label, log_input=True, full=False, epsilon=1e-8, {_ENDS}",
                        formulas.POISSON_NLL, _both, checks="epsilon > 0")  # fmt: skip
gaussian_nll_loss = loss("gaussian_nll_loss", f"input, label, variance, full=False, epsilon=1e-6, {_ENDS}",
                         formulas.GAUSSIAN_NLL, _gaussian, constant="variance")  # fmt: skip


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """1 minus twice the overlap of probabilities (N, ..., C) and labels (N, ..., 1), over the sum of both."""
    from ._linear import one_hot

    if ndim_of(input) < 2 or shape_of(label)[-1:] != (1,) or shape_of(input)[:-1] != shape_of(label)[:-1]:
        raise AssertionError(f"dice_loss: label must be {[*shape_of(input)[:-1], 1]}, got {list(shape_of(label))}")
    x = floating("dice_loss", input, "input")
    hot = one_hot(reshape(label, shape=tuple(shape_of(label)[:-1])), shape_of(x)[-1])
    axes = tuple(range(1, ndim_of(x)))
    both = rd.sum(x * hot, axis=axes, keepdims=False)
    total = rd.sum(x, axis=axes, keepdims=False) + rd.sum(hot, axis=axes, keepdims=False)
    return reduced(1 - both * 2 / (total + epsilon), "mean")


# ------------------------------------------------------------------------------------------ margins


def _ranked(op: str, input: Any, other: Any, label: Any) -> tuple[Any, ...]:
    x, y = _both(op, input, other)
    x, label = pair(op, x, tensor_argument(op, label, "label"))
    return x, y, label


def _masked(op: str, input: Any, label: Any) -> tuple[Any, ...]:
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    return x, equal(y, constant(1, y)), equal(y, constant(-1, y))


def _vectors(op: str, input1: Any, input2: Any, label: Any) -> tuple[Any, ...]:
    x, y = _both(op, input1, input2)
    if tuple(shape_of(x)) != tuple(shape_of(y)) or ndim_of(x) > 2 or ndim_of(label) != ndim_of(x) - 1:
        raise ValueError(
            f"{op}: wanted inputs (N, M) with a label (N), or (M) with a number, got {list(shape_of(x))}, "
            f"{list(shape_of(y))} and {list(shape_of(label))}"
        )
    return x, y, ndim_of(x) - 1, equal(label, constant(1, label)), equal(label, constant(-1, label))


margin_ranking_loss = loss("margin_ranking_loss", f"input, other, label, margin=0.0, {_ENDS}", formulas.MARGIN_RANKING, _ranked,
                           positive=relu)  # fmt: skip
hinge_embedding_loss = loss("hinge_embedding_loss", f"input, label, margin=1.0, {_ENDS}", formulas.HINGE_EMBEDDING, _masked,
                            positive=relu)  # fmt: skip
cosine_embedding_loss = loss("cosine_embedding_loss", f"input1, input2, label, margin: float = 0, {_ENDS}",
                             formulas.COSINE_EMBEDDING, _vectors, checks="margin in [-1, 1]")  # fmt: skip


def _three(op: str, input: Any, positive: Any, negative: Any) -> tuple[Any, ...]:
    shapes = {tuple(shape_of(tensor_argument(op, x, name))) for name, x in
              (("input", input), ("positive", positive), ("negative", negative))}  # fmt: skip
    if len(shapes) > 1:
        raise ValueError(f"{op}: input, positive and negative must have one shape, got {sorted(shapes)}")
    return input, positive, negative


triplet_margin_loss = loss(
    "triplet_margin_loss", f"input, positive, negative, margin=1.0, p: float = 2, epsilon=1e-6, swap=False, {_ENDS}",
    formulas.TRIPLET, _three, checks="margin >= 0", distance=pairwise_distance,
)  # fmt: skip
triplet_margin_with_distance_loss = loss(
    "triplet_margin_with_distance_loss", "input, positive, negative, distance_function: Callable[[Any, Any], Any] | None = "
    f"None, margin=1.0, swap=False, {_ENDS}", formulas.TRIPLET, _three, checks="margin >= 0", standard=pairwise_distance,
)  # fmt: skip


def _labelled(op: str, input: Any, label: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _both(op, input, label)
    one_shape(op, x, y)
    return x, y, None if weight is None else to_dtype(weight, dtype_of(x))


multi_label_soft_margin_loss = loss(
    "multi_label_soft_margin_loss", f"input, label, weight=None, {_ENDS}", formulas.MULTILABEL_SOFT_MARGIN, _labelled
)
