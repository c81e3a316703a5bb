"""Losses of `mindspore.ops`: argument checks and reductions over the primitives of `ops.loss` and plain arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import constant
from ...core.value import dtype_of
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
from ...ops.ctc import arrivals, with_blanks
from .._shared.losses import Losses, lengths, one_shape, variance
from ._api import api
from ._dtype import int64
from ._promote import FLOAT, FLOATING, NUMBER, pair, same_dtype, single, tensor_argument, to_dtype
from ._reductions import mean
from ._statistics import vector_norm
from ._tensor import from_array

LOWEST = math.log(1e-12)
"""What the logarithm of a probability of 0 counts as in `binary_cross_entropy`."""


def together(
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
    x, y = together("mse_loss", input, target, same_shape=False, kinds=FLOAT)
    if x.shape == y.shape:
        return ls.mse_loss(x, y, reduction=reduction)
    return reduced(ew.square(x - y), reduction)


@api(method=False)
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute difference of input and target."""
    check_reduction("l1_loss", reduction)
    x, y = together("l1_loss", input, target, same_shape=False, kinds=NUMBER)
    losses = ew.absolute(x - y)
    if reduction == "mean" and dtype_of(losses).kind in "iu":
        return mean(losses)
    return reduced(losses, reduction)


_MEAN = "reduction='mean'"
loss = Losses(check_reduction, offer=api(method=False))
smooth_l1_loss = loss("smooth_l1_loss", "input, target, beta=1.0, reduction='none'", formulas.SMOOTH_L1, together,
                      checks="beta: number > 0", error=RuntimeError)  # fmt: skip


def _of_one_shape(op: str, input: Any, target: Any) -> tuple[Any, ...]:
    x, y = together(op, input, target, same_shape=False, kinds=FLOAT)
    shape = np.broadcast_shapes(x.shape, y.shape)
    return tuple(z if z.shape == shape else st.broadcast_to(z, shape=shape) for z in (x, y))


huber_loss = loss("huber_loss", f"input, target, {_MEAN}, delta=1.0", formulas.HUBER, _of_one_shape,
                  checks="delta: number > 0")  # fmt: skip
soft_margin_loss = loss("soft_margin_loss", f"input, target, {_MEAN}", formulas.SOFT_MARGIN, together)


# ------------------------------------------------------------------------------------------ probabilities


def _alike(op: str, logits: Any, labels: Any) -> tuple[Any, Any]:
    return together(op, logits, labels, ("logits", "labels"), one_dtype=True)


def probabilities(op: str, logits: Any, labels: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _alike(op, logits, labels)
    if weight is not None:
        weight = to_dtype(tensor_argument(op, weight, "weight"), x.dtype)
        one_shape(op, weight, x, ("weight", "logits"))
    return x, y, weight


def logits(op: str, input: Any, target: Any, weight: Any, pos_weight: Any) -> tuple[Any, ...]:
    x, y = together(op, input, target, one_dtype=True)
    return (
        x,
        y,
        *(None if w is None else to_dtype(tensor_argument(op, w, "weight"), x.dtype) for w in (weight, pos_weight)),
    )


def _gaussian(op: str, x: Any, target: Any, var: Any) -> tuple[Any, ...]:
    x, y = together(op, x, target, ("x", "target"), same_shape=False)
    return x, y, variance(op, tensor_argument(op, var, "var"), x.shape, "var")


def _gaussian_nll(x: Any, y: Any, var: Any, full: bool, eps: float) -> Any:
    """As the formula, but the gradient does not pass to a variance that is raised to `eps`."""
    return formulas.gaussian_nll(x, y, sel.maximum(var, np.asarray(eps, dtype_of(var)), ties="half"), full, 0.0)


binary_cross_entropy = loss("binary_cross_entropy", f"logits, labels, weight=None, {_MEAN}", formulas.BINARY_CROSS_ENTROPY,
                            probabilities, lowest=LOWEST)  # fmt: skip
binary_cross_entropy_with_logits = loss(
    "binary_cross_entropy_with_logits", f"input, target, weight=None, pos_weight=None, {_MEAN}",
    formulas.BINARY_CROSS_ENTROPY_WITH_LOGITS, logits,
)  # fmt: skip
kl_div = loss("kl_div", f"logits, labels, {_MEAN}", formulas.KL_DIVERGENCE, _alike, constant="labels")
gaussian_nll_loss = loss(
    "gaussian_nll_loss", f"x, target, var, full=False, eps=1e-06, {_MEAN}", formulas.GAUSSIAN_NLL._replace(value=_gaussian_nll),
    _gaussian,
)  # fmt: skip


# ------------------------------------------------------------------------------------------ margins


def _half_positive(x: Any) -> Any:
    """max(x, 0), with half of the gradient at 0."""
    return sel.maximum(x, np.asarray(0, dtype_of(x)), ties="half")


def _ranked(op: str, input1: Any, input2: Any, target: Any) -> tuple[Any, ...]:
    x, y = together(op, input1, input2, ("input1", "input2"), one_dtype=True)
    return x, y, to_dtype(tensor_argument(op, target, "target"), x.dtype)


def _masked(op: str, inputs: Any, targets: Any) -> tuple[Any, ...]:
    x, y = single(op, inputs, FLOATING), tensor_argument(op, targets, "targets")
    return x, y == 1, y != 1


margin_ranking_loss = loss("margin_ranking_loss", f"input1, input2, target, margin=0.0, {_MEAN}", formulas.MARGIN_RANKING,
                           _ranked)  # fmt: skip
hinge_embedding_loss = loss("hinge_embedding_loss", f"inputs, targets, margin=1.0, {_MEAN}", formulas.HINGE_EMBEDDING, _masked,
                            positive=_half_positive)  # fmt: skip


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


def _vectors(op: str, input1: Any, input2: Any, target: Any) -> tuple[Any, ...]:
    x, y = together(op, input1, input2, ("input1", "input2"), same_shape=False)
    target = tensor_argument(op, target, "target")
    if target.ndim + 1 != max(x.ndim, y.ndim):
        raise ValueError(f"{op}: a target of {target.ndim} axes goes with inputs of {target.ndim + 1}")
    return x, y, 0 if x.ndim == 1 else 1, target == 1, target == -1


cosine_embedding_loss = loss("cosine_embedding_loss", f"input1, input2, target, margin=0.0, {_MEAN}", formulas.COSINE_EMBEDDING,
                             _vectors, checks="margin in [-1, 1]", positive=_half_positive)  # fmt: skip


def _three(op: str, anchor: Any, positive: Any, negative: Any) -> tuple[Any, ...]:
    return tuple(single(op, x, FLOATING) for x in (anchor, positive, negative))


def _distance(x: Any, y: Any, p: float, eps: float) -> Any:
    return vector_norm(x - y + float(eps), p, -1)


triplet_margin_loss = loss(
    "triplet_margin_loss", f"anchor, positive, negative, margin=1.0, p: float = 2, eps=1e-06, swap=False, {_MEAN}",
    formulas.TRIPLET, _three, distance=_distance, positive=act.relu,
)  # fmt: skip


def _labelled(op: str, input: Any, target: Any, weight: Any) -> tuple[Any, ...]:
    x, y = together(op, input, target)
    return x, y, None if weight is None else to_dtype(tensor_argument(op, weight, "weight"), x.dtype)


def _labels(op: str, x: Any, target: Any) -> Any:
    target = tensor_argument(op, target, "target")
    if dtype_of(target).kind not in "iu":
        raise TypeError(f"{op}: target must be an integer Tensor, got {target.dtype}")
    return to_dtype(target, int64)


def _label_lists(op: str, input: Any, target: Any) -> tuple[Any, ...]:
    x = single(op, input, FLOATING)
    return x, _labels(op, x, target)


def _class_rows(op: str, input: Any, target: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _label_lists(op, input, target)
    return x, y, None if weight is None else to_dtype(tensor_argument(op, weight, "weight"), x.dtype)


multilabel_soft_margin_loss = loss("multilabel_soft_margin_loss", f"input, target, weight=None, {_MEAN}",
                                   formulas.MULTILABEL_SOFT_MARGIN, _labelled)  # fmt: skip
multi_margin_loss = loss("multi_margin_loss", f"input, target, p=1, margin=1, weight=None, {_MEAN}", formulas.MULTI_MARGIN,
                         _class_rows, checks="p in {1, 2}")  # fmt: skip
multilabel_margin_loss = loss(
    "multilabel_margin_loss", f"input, target, {_MEAN}", formulas.MULTILABEL_MARGIN, _label_lists
)


# ------------------------------------------------------------------------------------------ classes


def _class_axis(op: str, x: Any) -> int:
    if x.ndim < 1:
        raise ValueError(f"{op}: the input must have at least one axis")
    return 0 if x.ndim == 1 else 1


def _nll(op: str, logs: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float) -> Any:
    axis = _class_axis(op, logs)
    classes = logs.shape[axis]
    if target.shape != logs.shape[:axis] + logs.shape[axis + 1 :]:
        raise ValueError(
            f"{op}: target {target.shape} does not go with an input of shape {logs.shape}; there is one target for each "
            "row of the input"
        )
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
    x, y = together(op, logits, labels, ("logits", "labels"), one_dtype=True)
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
    op = "ctc_loss"
    check_reduction(op, reduction)
    x = single(op, log_probs, FLOATING)
    squeeze = x.ndim == 2
    if squeeze:
        x = st.reshape(x, shape=(x.shape[0], 1, x.shape[1]))
    frames, counts = (
        lengths(op, name, tensor_argument(op, given, name), x.shape[1], ValueError)
        for name, given in (("input_lengths", input_lengths), ("target_lengths", target_lengths))
    )
    labels = np.atleast_2d(tensor_argument(op, targets, "targets")._concrete(op)).astype(np.int64)
    if len(labels) not in (1, x.shape[1]):
        raise ValueError(f"{op}: wanted a row of labels for each of {x.shape[1]} elements, got shape {targets.shape}")
    labels = np.where(np.arange(labels.shape[1]) < counts[:, None], labels, blank)  # what comes behind is padding
    if not 0 <= blank < x.shape[2]:
        raise ValueError(f"{op}: blank must be one of {x.shape[2]} classes, got {blank}")
    losses = formulas.ctc(x, labels, frames, counts, blank=blank, reduction=reduction, zero_infinity=zero_infinity)
    if squeeze and reduction == "none":
        losses = st.reshape(losses, shape=())
    return losses, from_array(arrivals(np.asarray(x._concrete(op)), with_blanks(labels, blank)))
