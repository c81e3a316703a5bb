"""Losses between predictions and labels; those over classes are in class_loss.py. `reduction`: mean, sum or none."""

from __future__ import annotations

from collections.abc import Callable
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


def _weighted(op: str, losses: Any, weight: Any, reduction: str) -> Any:
    """Losses times weights, reduced; the mean is over the losses."""
    return reduced(ew.multiply(*pair(op, losses, weight)), reduction, op)


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


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The absolute difference of input and label."""
    x, y = pair("l1_loss", floating("l1_loss", input, "input"), tensor_argument("l1_loss", label, "label"))
    return reduced(ew.absolute_stopped(ew.subtract(x, y)), reduction, "l1_loss")


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


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """log(1 + exp(-label * input)) for labels 1 and -1."""
    check_reduction("soft_margin_loss", reduction)
    x = floating("soft_margin_loss", input, "input")
    y = to_dtype(tensor_argument("soft_margin_loss", label, "label"), dtype_of(x))
    if tuple(shape_of(x)) != tuple(shape_of(y)):
        raise ValueError(
            f"soft_margin_loss: input {list(shape_of(x))} and label {list(shape_of(y))} must have one shape"
        )
    return ls.soft_margin_loss(x, y, reduction=reduction)


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


def _one_shape(op: str, x: Any, y: Any) -> None:
    if tuple(shape_of(x)) != tuple(shape_of(y)):
        raise ValueError(f"{op}: input {list(shape_of(x))} and label {list(shape_of(y))} must have one shape")


def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """The cross entropy of probabilities and labels in [0, 1]; raises ValueError for other inputs."""
    op = "binary_cross_entropy"
    check_reduction(op, reduction)
    x, y = _alike(op, input, label)
    _one_shape(op, x, y)
    plain = x._a
    if isinstance(plain, np.ndarray) and plain.size and not (plain.min() >= 0 and plain.max() <= 1):
        raise ValueError(
            f"{op}: the input must lie in [0, 1]; apply a sigmoid, or use binary_cross_entropy_with_logits"
        )
    y = fixed(y)
    if weight is None:
        return ls.binary_cross_entropy(x, y, None, reduction=reduction, lowest=-100.0)
    return _weighted(op, ls.binary_cross_entropy(x, y, None, reduction="none", lowest=-100.0), weight, reduction)


def binary_cross_entropy_with_logits(
    logit: Any, label: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The cross entropy of the sigmoids of the logits and labels in [0, 1]; positive labels may weigh pos_weight."""
    op = "binary_cross_entropy_with_logits"
    check_reduction(op, reduction)
    x, y = _alike(op, logit, label, RuntimeError)
    _one_shape(op, x, y)
    y = fixed(y)
    if pos_weight is not None:
        pos_weight = to_dtype(pos_weight, dtype_of(x))
    if weight is None:
        return ls.binary_cross_entropy_with_logits(x, y, None, pos_weight, reduction=reduction)
    losses = ls.binary_cross_entropy_with_logits(x, y, None, pos_weight, reduction="none")
    return _weighted(op, losses, weight, reduction)


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


def kl_div(input: Any, label: Any, reduction: str = "mean", log_target: bool = False, name: str | None = None) -> Any:
    """The Kullback-Leibler divergence label (log label - input), where input holds log-probabilities."""
    x, y = _alike("kl_div", input, label)
    if ndim_of(x) != ndim_of(y):
        raise ValueError(f"kl_div: input {list(shape_of(x))} and label {list(shape_of(y))} must have as many axes")
    losses = formulas.kl_divergence(x, fixed(y), log_target, positive_only=True)
    return formulas.divergence(losses, reduction, "kl_div", tuple(shape_of(x)))


def poisson_nll_loss(
    input: Any, label: Any, log_input: bool = True, full: bool = False, epsilon: float = 1e-8,
    reduction: str = "mean", name: str | None = None,
) -> Any:  # fmt: skip
    """The negative log likelihood of Poisson counts, of which input is the (logarithm of the) rate."""
    op = "poisson_nll_loss"
    if epsilon <= 0:
        raise ValueError(f"{op}: epsilon must be positive, got {epsilon}")
    x, y = _both(op, input, label)
    return reduced(formulas.poisson_nll(x, y, log_input, full, epsilon), reduction, op)


def gaussian_nll_loss(
    input: Any, label: Any, variance: Any, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean",
    name: str | None = None,
) -> Any:  # fmt: skip
    """The negative log likelihood of a Gaussian with mean `input` and a variance, which is a constant, of epsilon at least.

    Raises ValueError for a negative variance or a shape that does not fit.
    """
    op = "gaussian_nll_loss"
    x, y = _both(op, input, label)
    v = floating(op, variance, "variance")
    shape, got = tuple(shape_of(x)), tuple(shape_of(v))
    if got != shape:
        if got == shape[:-1]:
            v = reshape(v, shape=(*got, 1))
        elif not (got[:-1] == shape[:-1] and got[-1] == 1):
            raise ValueError(f"{op}: variance {list(got)} must have the input's shape {list(shape)}, or 1 in its last")
    if isinstance(v._a, np.ndarray) and (v._a < 0).any():
        raise ValueError(f"{op}: the variance must not be negative")
    return reduced(formulas.gaussian_nll(x, y, to_dtype(fixed(v), dtype_of(x)), full, epsilon), reduction, op)


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


def margin_ranking_loss(
    input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """max(0, -label (input - other) + margin): label 1 wants input the larger, -1 other."""
    x, y = _both("margin_ranking_loss", input, other)
    x, label = pair("margin_ranking_loss", x, tensor_argument("margin_ranking_loss", label, "label"))
    return reduced(formulas.margin_ranking(x, y, label, margin, relu), reduction, "margin_ranking_loss")


def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """The input where the label is 1, max(0, margin - input) where it is -1."""
    x, y = floating("hinge_embedding_loss", input, "input"), tensor_argument("hinge_embedding_loss", label, "label")
    near, apart = (equal(y, constant(sign, y)) for sign in (1, -1))
    return reduced(formulas.hinge_embedding(x, near, apart, margin, relu), reduction, "hinge_embedding_loss")


def cosine_embedding_loss(
    input1: Any, input2: Any, label: Any, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Any:
    """1 - cos(input1, input2) where the label is 1, max(0, cos - margin) where it is -1."""
    op = "cosine_embedding_loss"
    x, y = _both(op, input1, input2)
    if tuple(shape_of(x)) != tuple(shape_of(y)) or ndim_of(x) > 2 or ndim_of(label) != ndim_of(x) - 1:
        raise ValueError(
            f"{op}: wanted inputs (N, M) with a label (N), or (M) with a number, got {list(shape_of(x))}, "
            f"{list(shape_of(y))} and {list(shape_of(label))}"
        )
    if not -1 <= margin <= 1:
        raise ValueError(f"{op}: margin must lie in [-1, 1], got {margin}")
    near, apart = (equal(label, constant(sign, label)) for sign in (1, -1))
    return reduced(formulas.cosine_embedding(x, y, ndim_of(x) - 1, near, apart, margin), reduction, op)


def triplet_margin_loss(
    input: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, epsilon: float = 1e-6,
    swap: bool = False, reduction: str = "mean", name: str | None = None,
) -> Any:  # fmt: skip
    """max(0, margin + |input - positive| - |input - negative|), in the p-norm."""
    return triplet_margin_with_distance_loss(
        input, positive, negative, lambda a, b: pairwise_distance(a, b, p, epsilon), margin, swap, reduction
    )


def triplet_margin_with_distance_loss(
    input: Any, positive: Any, negative: Any, distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean", name: str | None = None,
) -> Any:  # fmt: skip
    """max(0, margin + d(input, positive) - d(input, negative)) for a distance function d."""
    op = "triplet_margin_with_distance_loss"
    if margin < 0:
        raise ValueError(f"{op}: margin must not be negative, got {margin}")
    shapes = {tuple(shape_of(tensor_argument(op, x, name))) for name, x in
              (("input", input), ("positive", positive), ("negative", negative))}  # fmt: skip
    if len(shapes) > 1:
        raise ValueError(f"{op}: input, positive and negative must have one shape, got {sorted(shapes)}")
    distance = pairwise_distance if distance_function is None else distance_function
    return reduced(formulas.triplet(distance, input, positive, negative, margin, swap), reduction, op)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """The mean over classes of the binary cross entropies of the sigmoids of the inputs."""
    op = "multi_label_soft_margin_loss"
    x, y = _both(op, input, label)
    _one_shape(op, x, y)
    weight = None if weight is None else to_dtype(weight, dtype_of(x))
    return reduced(formulas.multilabel_soft_margin(x, y, weight), reduction, op)
