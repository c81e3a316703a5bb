"""Losses of `mindspore.ops`: argument checks and reductions over the primitives of `ops.loss` and plain arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import constant
from ...core.value import Value, dtype_of
from ...learn import losses as formulas
from ...learn.losses import check_reduction, reduced
from ...ops import activation as act
from ...ops import elementwise as ew
from ...ops import loss as ls
from ...ops import loss_classes as lc
from ...ops import reduction as rd
from ...ops import selection as sel
from ...ops import softmax as soft
from ...ops import structural as st
from ._api import api
from ._dtype import int64
from ._promote import FLOAT, FLOATING, NUMBER, pair, same_dtype, single, tensor_argument, to_dtype
from ._reductions import mean
from ._tensor import from_array

_LOWEST = math.log(1e-12)
"""What the logarithm of a probability of 0 counts as in `binary_cross_entropy`."""


def _pair(
    op: str, x: Any, y: Any, names: tuple[str, str] = ("input", "target"), same_shape: bool = True, one_dtype: bool = False,
    kinds: str = FLOATING,
) -> Any:  # fmt: skip
    x, y = tensor_argument(op, x, names[0]), tensor_argument(op, y, names[1])
    if one_dtype:
        same_dtype(op, x, y)
    if same_shape and x.shape != y.shape:
        raise ValueError(f"{op}: {names[0]} and {names[1]} must have one shape, got {x.shape} and {y.shape}")
    return pair(op, x, y, kinds)


# ------------------------------------------------------------------------------------------ differences


@api(method=False)
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared difference of input and target."""
    check_reduction("mse_loss", reduction)
    x, y = _pair("mse_loss", input, target, same_shape=False, kinds=FLOAT)
    if x.shape == y.shape:
        return ls.mse_loss(x, y, reduction=reduction)
    return reduced(ew.square(x - y), reduction)


@api(method=False)
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute difference of input and target."""
    check_reduction("l1_loss", reduction)
    x, y = _pair("l1_loss", input, target, same_shape=False, kinds=NUMBER)
    losses = ew.absolute(x - y)
    if reduction == "mean" and dtype_of(losses).kind in "iu":
        return mean(losses)
    return reduced(losses, reduction)


def _positive(op: str, name: str, value: Any, kind: type[Exception] = ValueError) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{op}: {name} must be a float, got {type(value).__name__}")
    if value <= 0:
        raise kind(f"{op}: {name} must be positive, got {value}")
    return float(value)


@api(method=False)
def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Any:
    """The squared difference over 2 beta where it is below beta, beyond the absolute one less beta/2."""
    check_reduction("smooth_l1_loss", reduction)
    x, y = _pair("smooth_l1_loss", input, target)
    return ls.smooth_l1_loss(x, y, reduction=reduction, beta=_positive("smooth_l1_loss", "beta", beta, RuntimeError))


@api(method=False)
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the squared difference where it is at most delta, beyond delta times the absolute one less delta/2."""
    check_reduction("huber_loss", reduction)
    delta = _positive("huber_loss", "delta", delta)
    x, y = _pair("huber_loss", input, target, same_shape=False, kinds=FLOAT)
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = (z if z.shape == shape else st.broadcast_to(z, shape=shape) for z in (x, y))
    return ls.huber_loss(x, y, reduction=reduction, delta=delta)


@api(method=False)
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * input)) for targets 1 and -1."""
    check_reduction("soft_margin_loss", reduction)
    x, y = _pair("soft_margin_loss", input, target)
    return ls.soft_margin_loss(x, y, reduction=reduction)


# ------------------------------------------------------------------------------------------ probabilities


@api(method=False)
def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The cross entropy of probabilities and labels in [0, 1]."""
    op = "binary_cross_entropy"
    check_reduction(op, reduction)
    x, y = _pair(op, logits, labels, ("logits", "labels"), one_dtype=True)
    if weight is not None:
        weight = to_dtype(tensor_argument(op, weight, "weight"), x.dtype)
        if weight.shape != x.shape:
            raise ValueError(f"{op}: weight must have the shape of logits, {x.shape}, got {weight.shape}")
    return ls.binary_cross_entropy(x, y, weight, reduction=reduction, lowest=_LOWEST)


@api(method=False)
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """The cross entropy of the sigmoids of the input and targets in [0, 1]; positive targets may weigh pos_weight."""
    op = "binary_cross_entropy_with_logits"
    check_reduction(op, reduction)
    x, y = _pair(op, input, target, one_dtype=True)
    weight, pos_weight = (
        None if w is None else to_dtype(tensor_argument(op, w, "weight"), x.dtype) for w in (weight, pos_weight)
    )
    return ls.binary_cross_entropy_with_logits(x, y, weight, pos_weight, reduction=reduction)


@api(method=False)
def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """The Kullback-Leibler divergence: labels * (log labels - logits), where logits are log-probabilities and labels constant."""
    x, y = _pair("kl_div", logits, labels, ("logits", "labels"), one_dtype=True)
    return formulas.divergence(formulas.kl_divergence(x, constant(y)), reduction, "kl_div", x.shape)


@api(method=False)
def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-06, reduction: str = "mean"
) -> Any:
    """The negative log likelihood of a Gaussian with mean `x` and variance `var` (at least eps)."""
    op = "gaussian_nll_loss"
    x, y = _pair(op, x, target, ("x", "target"), same_shape=False)
    if not isinstance(var, Value):
        raise TypeError(f"{op}: var must be a Tensor, got {type(var).__name__}")
    if var.shape != x.shape:
        if var.shape == x.shape[:-1]:
            var = st.reshape(var, shape=(*var.shape, 1))
        elif var.shape[:-1] != x.shape[:-1] or var.shape[-1] != 1:
            raise ValueError(f"{op}: var must have the shape {x.shape}, or 1 for its last axis, got {var.shape}")
    if bool((var._concrete(op) < 0).any()):
        raise ValueError(f"{op}: var must not be negative")
    bounded = sel.maximum(var, np.asarray(eps, dtype_of(var)), ties="half")
    return reduced(formulas.gaussian_nll(x, y, bounded, full, 0.0), reduction, op)


# ------------------------------------------------------------------------------------------ margins


def _half_positive(x: Any) -> Any:
    """max(x, 0), with half of the gradient at 0."""
    return sel.maximum(x, np.asarray(0, dtype_of(x)), ties="half")


@api(method=False)
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """max(0, -target * (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2."""
    op = "margin_ranking_loss"
    x, y = _pair(op, input1, input2, ("input1", "input2"), one_dtype=True)
    y1 = to_dtype(tensor_argument(op, target, "target"), x.dtype)
    return reduced(formulas.margin_ranking(x, y, y1, float(margin)), reduction, op)


@api(method=False)
def hinge_embedding_loss(inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    op = "hinge_embedding_loss"
    x, y = single(op, inputs, FLOATING), tensor_argument(op, targets, "targets")
    return reduced(formulas.hinge_embedding(x, y == 1, y != 1, float(margin), _half_positive), reduction, op)


@api(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Any:
    """The cosine of the angle between vectors along an axis; the product of their norms counts as at least eps."""
    from .._shared.axes import axis_of

    x, y = pair("cosine_similarity", tensor_argument("cosine_similarity", x1), tensor_argument("cosine_similarity", x2),
                FLOATING)  # fmt: skip
    n = max(x.ndim, y.ndim)
    i = axis_of("cosine_similarity", dim, n, "dim")

    def inner(a: Any, b: Any) -> Any:
        return rd.sum(a * b, axis=(i,), keepdims=False)

    squares = inner(x, x) * inner(y, y)
    return inner(x, y) / ew.sqrt(sel.maximum(squares, np.asarray(eps * eps, dtype_of(x)), ties="first"))


@api(method=False)
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1."""
    op = "cosine_embedding_loss"
    x, y = _pair(op, input1, input2, ("input1", "input2"), same_shape=False)
    target = tensor_argument(op, target, "target")
    if not -1 <= margin <= 1:
        raise ValueError(f"{op}: margin must lie in [-1, 1], got {margin}")
    if target.ndim + 1 != max(x.ndim, y.ndim):
        raise ValueError(f"{op}: a target of {target.ndim} axes goes with inputs of {target.ndim + 1}")
    losses = formulas.cosine_embedding(
        x, y, x.ndim - 1 if x.ndim == 1 else 1, target == 1, target == -1, float(margin), positive=_half_positive
    )
    return reduced(losses, reduction, op)


@api(method=False)
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: Any = 1.0, p: float = 2, eps: float = 1e-06, swap: bool = False,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, margin + |anchor - positive| - |anchor - negative|), in the p-norm along the last axis."""
    from ._norms import vector_norm

    op = "triplet_margin_loss"
    a, b, c = (single(op, x, FLOATING) for x in (anchor, positive, negative))

    def distance(x: Any, y: Any) -> Any:
        return vector_norm(x - y + float(eps), p, -1)

    return reduced(formulas.triplet(distance, a, b, c, float(margin), swap, act.relu), reduction, op)


@api(method=False)
def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The binary cross entropy of the sigmoids of the input, averaged over the last axis."""
    op = "multilabel_soft_margin_loss"
    x, y = _pair(op, input, target)
    weight = None if weight is None else to_dtype(tensor_argument(op, weight, "weight"), x.dtype)
    return reduced(formulas.multilabel_soft_margin(x, y, weight), reduction, op)


def _labels(op: str, x: Any, target: Any) -> Any:
    target = tensor_argument(op, target, "target")
    if dtype_of(target).kind not in "iu":
        raise TypeError(f"{op}: target must be an integer Tensor, got {target.dtype}")
    return to_dtype(target, int64)


@api(method=False)
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: Any = 1, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean over classes of max(0, margin - x[target] + x[i])^p."""
    op = "multi_margin_loss"
    check_reduction(op, reduction)
    if p not in (1, 2):
        raise ValueError(f"{op}: p must be 1 or 2, got {p}")
    x = single(op, input, FLOATING)
    if weight is not None:
        weight = to_dtype(tensor_argument(op, weight, "weight"), x.dtype)
    return lc.multi_margin_loss(x, _labels(op, x, target), weight, reduction=reduction, p=p, margin=float(margin))


@api(method=False)
def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The mean over classes of max(0, 1 - x[label] + x[i]) for each label before the first negative one."""
    op = "multilabel_margin_loss"
    check_reduction(op, reduction)
    x = single(op, input, FLOATING)
    return lc.multilabel_margin_loss(x, _labels(op, x, target), reduction=reduction)


# ------------------------------------------------------------------------------------------ classes


def _class_axis(op: str, x: Any) -> int:
    if x.ndim < 1:
        raise ValueError(f"{op}: the input must have at least one axis")
    return 0 if x.ndim == 1 else 1


def _nll(op: str, logs: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float) -> Any:
    axis = _class_axis(op, logs)
    classes = logs.shape[axis]
    if target.shape != logs.shape[:axis] + logs.shape[axis + 1 :]:
        raise ValueError(f"{op}: target {target.shape} does not go with an input of shape {logs.shape}")
    _check_labels(op, target, classes, ignore_index)
    if logs.ndim == 1 and target.ndim == 0:
        logs, target = st.reshape(logs, shape=(1, classes)), st.reshape(target, shape=(1,))
        out = _nll(op, logs, target, weight, ignore_index, reduction, smoothing)
        return st.reshape(out, shape=()) if reduction == "none" else out
    if formulas.varies(weight):
        loss = lc.nll_loss(logs, target, None, reduction="none", ignore_index=ignore_index)
        loss = formulas.weighted_nll(loss, target, weight, reduction, ignore_index)
    else:
        loss = lc.nll_loss(logs, target, weight, reduction=reduction, ignore_index=ignore_index)
    if not smoothing:
        return loss
    target = st.cast(target, dtype=np.dtype(np.int64))
    return formulas.smoothed_nll(loss, logs, target, weight, axis, smoothing, reduction, ignore_index)


def _check_labels(op: str, target: Any, classes: int, ignore_index: int) -> None:
    array = target._a
    if isinstance(array, np.ndarray):
        bad = (array != ignore_index) & ((array < 0) | (array >= classes))
        if bad.any():
            raise RuntimeError(
                f"{op}: label {array[bad].flat[0]} is out of range for {classes} classes, which are counted from 0 to "
                f"{classes - 1}"
            )


def _weights(op: str, weight: Any, x: Any) -> Any:
    if weight is None:
        return None
    weight = to_dtype(tensor_argument(op, weight, "weight"), x.dtype)
    if weight.shape != (x.shape[_class_axis(op, x)],):
        raise RuntimeError(f"{op}: there must be one weight per class, got shape {weight.shape} for {x.shape}")
    return weight


def _smoothing(op: str, label_smoothing: Any) -> float:
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"{op}: label_smoothing must lie in [0, 1], got {label_smoothing}")
    return float(label_smoothing)


@api(method=False)
def nll_loss(
    inputs: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The negative of the log-probability (on axis 1) of each target class, which may be weighted; mean by weights."""
    check_reduction("nll_loss", reduction)
    x = single("nll_loss", inputs, FLOATING)
    return _nll("nll_loss", x, _labels("nll_loss", x, target), _weights("nll_loss", weight, x), ignore_index, reduction,
                _smoothing("nll_loss", label_smoothing))  # fmt: skip


@api(method=False)
def cross_entropy(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of softmax over axis 1 with target classes (integers) or with target probabilities."""
    op = "cross_entropy"
    check_reduction(op, reduction)
    x, target = single(op, input, FLOATING), tensor_argument(op, target, "target")
    axis, smoothing = _class_axis(op, x), _smoothing(op, label_smoothing)
    weight = _weights(op, weight, x)
    logs = soft.log_softmax(x, axis=axis)
    if target.ndim < x.ndim:
        if dtype_of(target).kind not in "iu":
            raise ValueError(f"{op}: target classes must be integers, got {target.dtype}; convert them with .astype(ms.int32)")
        return _nll(op, logs, to_dtype(target, int64), weight, ignore_index, reduction, smoothing)
    if target.shape != x.shape or dtype_of(target).kind != "f":
        raise ValueError(f"{op}: target probabilities must be floating and have the shape {x.shape}, got {target!r}")
    if smoothing:
        target = target * (1 - smoothing) + smoothing / x.shape[axis]
    losses = -(logs * target if weight is None else logs * target * formulas.of_classes(weight, x.ndim, axis))
    losses = rd.sum(losses, axis=(axis,), keepdims=False)
    return reduced(losses, reduction)


def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> tuple[Any, Any]:
    """For each row the cross entropy of softmax with (constant) label probabilities, and its derivative by the logits."""
    op = "SoftmaxCrossEntropyWithLogits"
    x, y = _pair(op, logits, labels, ("logits", "labels"), one_dtype=True)
    y = constant(y)
    if x.ndim != 2:
        raise ValueError(f"{op}: wanted rows of logits, got shape {x.shape}")
    logs = soft.log_softmax(x, axis=1)
    return -rd.sum(logs * y, axis=(1,), keepdims=False), soft.softmax(x, axis=1) - y


def sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, is_grad: bool = False) -> Any:
    """The mean cross entropy of the rows' softmax with integer labels, or (is_grad) its derivative by the logits."""
    op = "SparseSoftmaxCrossEntropyWithLogits"
    x = single(op, logits, FLOATING)
    target = _labels(op, x, labels)
    if is_grad:
        chosen = lc.one_hot(target, classes=x.shape[1], dtype=dtype_of(x))
        return (soft.softmax(x, axis=1) - chosen) / x.shape[0]
    return _nll(op, soft.log_softmax(x, axis=1), target, None, -100, "mean", 0.0)


@api(method=False)
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The connectionist temporal classification loss of (T, N, C) log-probabilities.

    Also the logarithms (N, T, states) of the probabilities of having arrived in each state of the labels with blanks.
    """
    from ...ops.ctc import ctc_loss as primitive
    from ...ops.ctc import with_blanks

    op = "ctc_loss"
    check_reduction(op, reduction)
    x = single(op, log_probs, FLOATING)
    squeeze = x.ndim == 2
    if squeeze:
        x = st.reshape(x, shape=(x.shape[0], 1, x.shape[1]))
    given = [np.asarray(tensor_argument(op, v, "lengths")._concrete(op)) for v in (targets, input_lengths, target_lengths)]
    labels, frames, lengths = (np.atleast_2d(given[0]), np.atleast_1d(given[1]), np.atleast_1d(given[2]))
    labels = np.where(np.arange(labels.shape[1]) < lengths[:, None], labels, blank)  # what comes behind is padding
    if not 0 <= blank < x.shape[2]:
        raise ValueError(f"{op}: blank must be one of {x.shape[2]} classes, got {blank}")
    states = with_blanks(labels.astype(np.int64), blank)
    losses = primitive(x, states, frames.astype(np.int64),
                       lengths.astype(np.int64), zero_infinity=bool(zero_infinity), normalised=True)  # fmt: skip
    if reduction == "mean":
        losses = rd.mean(ew.divide(losses, np.maximum(lengths, 1).astype(dtype_of(x))), axis=(0,), keepdims=False)
    elif reduction == "sum":
        losses = rd.sum(losses, axis=(0,), keepdims=False)
    elif squeeze:
        losses = st.reshape(losses, shape=())
    return losses, from_array(_arrivals(np.asarray(x._concrete(op)), states))


def _arrivals(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The forward variables of the loss: for each element (N, T, states)."""
    n, count = labels.shape
    out = np.full((n, x.shape[0], count), -np.inf, x.dtype)
    skip = np.zeros(labels.shape, bool)
    skip[:, 2:] = (labels[:, 2:] != labels[:, :-2]) & (np.arange(2, count) % 2 == 1)
    emitted = np.take_along_axis(x, np.broadcast_to(labels, (x.shape[0], n, count)), axis=2)
    out[:, 0, :2] = emitted[0, :, :2]
    for t in range(1, x.shape[0]):
        before = out[:, t - 1]
        arrived = before.copy()
        arrived[:, 1:] = np.logaddexp(arrived[:, 1:], before[:, :-1])
        arrived[:, 2:] = np.where(skip[:, 2:], np.logaddexp(arrived[:, 2:], before[:, :-2]), arrived[:, 2:])
        out[:, t] = arrived + emitted[t]
    return out


