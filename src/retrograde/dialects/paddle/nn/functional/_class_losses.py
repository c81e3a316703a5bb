"""Losses over classes, whose labels are class numbers or probabilities; the CTC and transducer losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import dtype_of, ndim_of, shape_of
from .....learn import losses as formulas
from .....learn.losses import check_reduction, reduced
from .....ops import elementwise as ew
from .....ops import loss_classes as lc
from .....ops import reduction as rd
from .....ops import softmax as sm
from .....ops import structural as st
from .....ops.activation import softplus
from .....ops.indexing import take, take_along_axis
from ...._shared.losses import lengths, one_shape
from ..._api import aliases, deprecated, to_dtype
from ._arguments import axis_of, fixed, floating, move_axis, squeezed, tensor_argument
from ._distances import label_smooth
from ._losses import loss

_INT64 = np.dtype(np.int64)


def _log_probabilities(x: Any, axis: int, use_softmax: bool) -> Any:
    return sm.log_softmax(x, axis=axis) if use_softmax else ew.log(x)


def _soft_cross_entropy(x: Any, label: Any, axis: int = -1, use_softmax: bool = True) -> Any:
    """-sum(label log softmax(x)) along an axis, which stays with length 1."""
    axis %= ndim_of(x)
    terms = ew.multiply(fixed(label), _log_probabilities(x, axis, use_softmax))
    return -rd.sum(terms, axis=(axis,), keepdims=True)


def _class_numbers(op: str, x: Any, label: Any, axis: int) -> tuple[Any, bool]:
    """Labels as int64 without the axis of classes, and whether they had it."""
    shape, got = tuple(shape_of(x)), tuple(shape_of(label))
    wanted = (*shape[:axis], *shape[axis + 1 :])
    kept = len(got) == len(shape)
    if kept:
        if got[axis] != 1:
            raise ValueError(
                f"{op}: labels that are class numbers have length 1 along the axis of classes, got shape {list(got)}; "
                "pass soft_label=True for probabilities"
            )
        label, got = squeezed(label, axis), (*got[:axis], *got[axis + 1 :])
    if got != wanted:
        raise ValueError(f"{op}: an input of shape {list(shape)} takes labels {list(wanted)}, got {list(got)}")
    return to_dtype(label, _INT64), kept


def _classes_second(x: Any, label: Any, axis: int) -> tuple[Any, Any]:
    """Input and labels as the primitive wants them: classes along axis 1, or the only one."""
    n = ndim_of(x)
    if n == 1:
        return x, label
    if n == 2 and axis == 1:
        return x, label
    if axis == n - 1 and n > 2:
        shape = tuple(shape_of(x))
        rows = math.prod(shape[:-1])
        return st.reshape(x, shape=(rows, shape[-1])), st.reshape(label, shape=(rows,))
    return move_axis(x, axis, 1), label  # a batch that was not in front keeps its place among what follows


def _hard(op: str, logs: Any, label: Any, weight: Any, ignore_index: int, reduction: str, axis: int) -> Any:
    """The negative log-probability of the labels' classes; the mean is over the weights of those that count."""
    shape = tuple(shape_of(label))
    x, y = _classes_second(logs, label, axis)
    if reduction == "none" or reduction == "sum":
        out = lc.nll_loss(x, y, weight, reduction=reduction, ignore_index=ignore_index)
        return out if reduction == "sum" else st.reshape(out, shape=shape)
    if _none_counts(op, y, weight, ignore_index):  # 0, where others give nan
        return lc.nll_loss(x, y, weight, reduction="sum", ignore_index=ignore_index)
    return lc.nll_loss(x, y, weight, reduction="mean", ignore_index=ignore_index)


def _none_counts(op: str, label: Any, weight: Any, ignore_index: int) -> bool:
    """Whether there are labels, and all of them are left out or of weight 0."""
    plain = concrete(op, label)
    counts = plain != ignore_index
    if weight is not None and counts.any():
        counts = counts & (concrete(op, weight)[np.where(counts, plain, 0)] != 0)
    return plain.size > 0 and not counts.any()


def _weight(op: str, weight: Any, classes: int, like: Any) -> Any:
    if weight is None:
        return None
    if tuple(shape_of(weight)) != (classes,):
        raise ValueError(
            f"{op}: weight must have one entry for each of {classes} classes, got {list(shape_of(weight))}"
        )
    return to_dtype(weight, dtype_of(like))


@aliases(target="label")
def cross_entropy(
    input: Any, label: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The cross entropy of the softmax of the input along an axis and labels: class numbers, or with `soft_label` (and
    where they are smoothed) probabilities.

    The mean is over all labels, those left out by a negative `ignore_index` too; a positive one, or a weight, lets the
    mean be over those that count. Raises ValueError where shapes do not fit, IndexError for a label that is no class.
    """
    op = "cross_entropy"
    check_reduction(op, reduction)
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    shape = shape_of(x)
    if not shape:
        raise ValueError(f"{op}: the input must have at least one dimension")
    if ignore_index > 0 and soft_label:
        raise ValueError(f"{op}: ignore_index goes with class numbers, not with soft_label=True")
    axis = axis_of(op, axis, len(shape))
    weight = _weight(op, weight, shape[axis], x)
    if label_smoothing > 0.0:
        if tuple(shape_of(y)) != tuple(shape) or (not soft_label and dtype_of(y).kind in "iu"):
            hard, _ = _class_numbers(op, x, y, axis)
            y = lc.one_hot(hard, classes=shape[axis], dtype=dtype_of(x))
            y = move_axis(y, -1, axis)
        soft_label = True
        y = move_axis(label_smooth(move_axis(to_dtype(y, dtype_of(x)), axis, -1), epsilon=label_smoothing), -1, axis)
    if soft_label:
        return _soft(op, x, to_dtype(y, dtype_of(x)), weight, reduction, axis, use_softmax)
    y, kept = _class_numbers(op, x, y, axis)
    over_all = reduction == "mean" and weight is None and ignore_index < 0
    varied = formulas.varies(weight)
    out = _hard(
        op, _log_probabilities(x, axis, use_softmax), y, None if varied else weight, ignore_index,
        "none" if over_all or varied else reduction, axis,
    )  # fmt: skip
    if varied:
        mean = reduction == "mean" and not _none_counts(op, y, weight, ignore_index)
        out = formulas.weighted_nll(out, y, weight, "mean" if mean else reduction.replace("mean", "sum"), ignore_index)
    if over_all:
        return reduced(out, "mean")
    if kept and reduction == "none":
        return st.reshape(out, shape=tuple(shape_of(label)))
    return out


def _soft(op: str, x: Any, y: Any, weight: Any, reduction: str, axis: int, use_softmax: bool) -> Any:
    if tuple(shape_of(x)) != tuple(shape_of(y)):
        raise ValueError(f"{op}: labels that are probabilities have the input's shape {list(shape_of(x))}, got "
                         f"{list(shape_of(y))}")  # fmt: skip
    losses = _soft_cross_entropy(x, y, axis, use_softmax)
    if weight is None:
        return reduced(losses, reduction)
    spread = st.reshape(weight, shape=tuple(n if i == axis else 1 for i, n in enumerate(shape_of(x))))
    weights = rd.sum(ew.multiply(y, spread), axis=(axis,), keepdims=True)
    losses = ew.multiply(losses, weights)
    if reduction == "mean":
        return ew.divide(reduced(losses, "sum"), reduced(weights, "sum"))
    return reduced(losses, reduction)


def softmax_with_cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True,
    return_softmax: bool = False, axis: int = -1,
) -> Any:  # fmt: skip
    """The cross entropy per element, with an axis of length 1 for the classes, and the softmax if asked."""
    deprecated("softmax_with_cross_entropy", "2.0", "cross_entropy")
    op = "softmax_with_cross_entropy"
    x, y = floating(op, logits, "logits"), tensor_argument(op, label, "label")
    axis = axis_of(op, axis, ndim_of(x))
    if soft_label:
        out = _soft(op, x, y, None, "none", axis, True)
    else:
        if ndim_of(y) != ndim_of(x):
            raise ValueError(
                f"{op}: labels {list(shape_of(y))} need the axes of the logits {list(shape_of(x))}, with one class"
            )
        y, _ = _class_numbers(op, x, y, axis)
        out = _hard(op, sm.log_softmax(x, axis=axis), y, None, ignore_index, "none", axis)
        shape = tuple(shape_of(x))
        out = st.reshape(out, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
    return (
        (out, sm.softmax(fixed(x), axis=axis)) if return_softmax else out
    )  # through the softmax no gradient flows there


def nll_loss(
    input: Any, label: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    name: str | None = None,
) -> Any:  # fmt: skip
    """The negative log-probability (N, C, ...) of the labels' classes; the mean is over the weights of the labels."""
    op = "nll_loss"
    check_reduction(op, reduction)
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    shape = tuple(shape_of(x))
    if len(shape) < 2:
        raise ValueError(f"{op}: the input must have 2 dimensions or more (batch, classes, ...), got {list(shape)}")
    if tuple(shape_of(y)) != (shape[0], *shape[2:]):
        raise ValueError(f"{op}: an input {list(shape)} takes labels {[shape[0], *shape[2:]]}, got {list(shape_of(y))}")
    plain = concrete(op, y)
    wrong = (plain != ignore_index) & ((plain < 0) | (plain >= shape[1]))
    if wrong.any():
        raise ValueError(f"{op}: label {int(plain[wrong].flat[0])} is no class number; there are {shape[1]} classes")
    weight = _weight(op, weight, shape[1], x)
    return _hard(op, x, to_dtype(y, _INT64), weight, ignore_index, reduction, 1)


# ------------------------------------------------------------------------------------------ margins


def multi_margin_loss(
    input: Any, label: Any, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean",
    name: str | None = None,
) -> Any:  # fmt: skip
    """The mean over classes of max(0, margin - input[label] + input[class])^p, the label's own class left out."""
    op = "multi_margin_loss"
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    if ndim_of(x) != 2 or tuple(shape_of(y)) != (shape_of(x)[0],):
        raise ValueError(
            f"{op}: wanted an input (N, C) and labels (N), got {list(shape_of(x))} and {list(shape_of(y))}"
        )
    if p not in (1, 2):
        raise ValueError(f"{op}: p must be 1 or 2, got {p}")
    weight = _weight(op, weight, shape_of(x)[1], x)
    at = concrete(op, y).astype(np.int64)
    terms = formulas.hinge(margin - take_along_axis(x, at.reshape(-1, 1), axis=1) + x) ** int(p)
    losses = rd.mean(terms, axis=(1,), keepdims=False) - margin**p / shape_of(x)[1]  # the term of the own class
    return reduced(losses if weight is None else losses * take(weight, at, axis=0), reduction, op)


def _label_lists(op: str, input: Any, label: Any) -> tuple[Any, Any]:
    x, y = floating(op, input, "input"), tensor_argument(op, label, "label")
    one_shape(op, x, y)
    if ndim_of(x) != 2:
        raise ValueError(f"{op}: wanted input and label of shape (N, C), got {list(shape_of(x))}")
    return x, to_dtype(y, _INT64)


multi_label_margin_loss = loss(
    "multi_label_margin_loss", "input, label, reduction='mean'", formulas.MULTILABEL_MARGIN, _label_lists
)


# ------------------------------------------------------------------------------------------ sequences


def _lengths(op: str, name: str, x: Any, n: int) -> np.ndarray:
    return lengths(op, name, tensor_argument(op, x, name), n, ValueError)


def ctc_loss(
    log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int = 0, reduction: str = "mean",
    norm_by_times: bool = False, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss of logits (T, N, C) and label rows (N, S).

    The mean is over losses divided by their label lengths. norm_by_times divides gradients by the frames.
    """
    op = "ctc_loss"
    check_reduction(op, reduction)
    x = floating(op, log_probs, "log_probs")
    if ndim_of(x) != 3:
        raise ValueError(f"{op}: log_probs must be (frames, batch, classes), got shape {list(shape_of(x))}")
    duration, n, classes = shape_of(x)
    if not 0 <= blank < classes:
        raise ValueError(f"{op}: blank must be one of {classes} classes, got {blank}")
    frames, counts = _lengths(op, "input_lengths", input_lengths, n), _lengths(op, "label_lengths", label_lengths, n)
    rows = concrete(op, tensor_argument(op, labels, "labels")).astype(np.int64)
    longest = int(counts.max(initial=0))
    if rows.ndim != 2 or rows.shape[0] != n or rows.shape[1] < longest or (frames > duration).any():
        raise ValueError(f"{op}: labels {list(rows.shape)} or lengths do not fit log_probs {[duration, n, classes]}")
    logs = sm.log_softmax(x, axis=2)
    if norm_by_times:  # in the gradient only, as PaddlePaddle has it
        scaled = logs / np.maximum(frames, 1).astype(dtype_of(x)).reshape(1, n, 1)
        logs = scaled + (logs - scaled).detach()
    return formulas.ctc(
        logs, rows[:, :longest], frames, counts, blank=blank, reduction=reduction, zero_infinity=zero_infinity
    )


def rnnt_loss(
    input: Any, label: Any, input_lengths: Any, label_lengths: Any, blank: int = 0, fastemit_lambda: float = 0.001,
    reduction: str = "mean", name: str | None = None,
) -> Any:  # fmt: skip
    """The transducer loss of log-probabilities (N, T, 1 + labels, classes) and label rows (N, labels).

    fastemit_lambda: by what part gradients of labels are raised. Raises ValueError where shapes and lengths do not fit.
    """
    op = "rnnt_loss"
    x = floating(op, input, "input")
    if ndim_of(x) != 4:
        raise ValueError(f"{op}: the input must be (batch, frames, 1 + labels, classes), got shape {list(shape_of(x))}")
    n, duration, width, classes = shape_of(x)
    frames, counts = _lengths(op, "input_lengths", input_lengths, n), _lengths(op, "label_lengths", label_lengths, n)
    rows = concrete(op, tensor_argument(op, label, "label")).astype(np.int64)
    if rows.shape != (n, width - 1) or (frames > duration).any() or (frames < 1).any() or (counts >= width).any():
        raise ValueError(
            f"{op}: labels {list(rows.shape)} or lengths do not fit the input {[n, duration, width, classes]}"
        )
    if not 0 <= blank < classes or (rows.size and not 0 <= rows.min() <= rows.max() < classes):
        raise ValueError(f"{op}: blank and labels must be among {classes} classes")
    losses = formulas.transducer(x, rows, frames, counts, blank, float(fastemit_lambda))
    return reduced(losses, reduction, op)


def hsigmoid_loss(
    input: Any, label: Any, num_classes: int, weight: Any, bias: Any = None, path_table: Any = None,
    path_code: Any = None, is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The hierarchical sigmoid loss over a complete binary tree of classes, or the tree that table and codes give.

    As in PaddlePaddle, each step by which a path is shorter than the longest adds log 2, the loss of a logit of 0.
    """
    op = "hsigmoid_loss"
    x = floating(op, input, "input")
    if num_classes < 2:
        raise ValueError(f"{op}: num_classes must be at least 2, got {num_classes}")
    n = shape_of(x)[0]
    if (path_table is None) != (path_code is None):
        raise ValueError(f"{op}: path_table and path_code must both be given, or neither")
    if path_table is not None:
        rows = concrete(op, path_table).astype(np.int64)
        codes = concrete(op, path_code).astype(np.int64)
        used = rows >= 0
    else:
        numbers = concrete(op, label).reshape(-1).astype(np.int64) + num_classes
        depth = (num_classes - 1).bit_length()
        steps = np.arange(depth)
        lengths = np.array([int(c).bit_length() - 1 for c in numbers])
        rows = (numbers[:, None] >> (steps + 1)) - 1
        codes = (numbers[:, None] >> steps) & 1
        used = steps < lengths[:, None]
    rows = np.where(used, rows, 0)
    chosen = take(weight, rows, axis=0)
    logits = rd.sum(chosen * st.reshape(x, shape=(n, 1, shape_of(x)[1])), axis=(2,), keepdims=False)
    if bias is not None:
        logits = logits + take(st.reshape(bias, shape=(int(bias.size),)), rows, axis=0)
    logits = logits * used.astype(dtype_of(x))
    return rd.sum(
        softplus(logits, beta=1.0, threshold=1e9) - logits * codes.astype(dtype_of(x)), axis=(1,), keepdims=True
    )


def adaptive_log_softmax_with_loss(
    input: Any, label: Any, head_weight: Any, tail_weights: Any, cutoffs: Any, head_bias: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The log-probability of each label in a softmax over clusters of classes, and the mean loss (Grave et al., 2017).

    Raises ValueError for labels outside the classes.
    """
    op = "adaptive_log_softmax_with_loss"
    x = floating(op, input, "input")
    numbers = concrete(op, label).astype(np.int64)
    bounds = [0, *cutoffs]
    single = numbers.ndim == 0
    if single:
        x, numbers = st.reshape(x, shape=(1, shape_of(x)[0])), numbers.reshape(1)
    if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < bounds[-1]):
        raise ValueError(
            f"{op}: labels must be in [0, {bounds[-1] - 1}], got {int(numbers.min())} to {int(numbers.max())}"
        )
    head = x @ head_weight
    tails = [lambda rows, tail=tail: rows @ tail[0] @ tail[1] for tail in tail_weights]
    out = formulas.adaptive_logs(x, numbers, head if head_bias is None else head + head_bias, tails, bounds)
    return (st.reshape(out, shape=()) if single else out), -rd.mean(out, axis=(0,), keepdims=False)
