"""Losses: what each is (`Loss`), and the formulas of those that are made of operations, on values of one dtype.

Formulas are per element, before any reduction. Losses that are one operation (squared and absolute differences, cross
entropies, class losses, CTC) are in `ops` and reduce themselves. Dialects name and check arguments and dtypes, choose masks
where they differ (`near` and `apart`: which pairs belong together and which do not), the gradient at kinks (`positive`) and
the operands that have none; `dialects/_shared/losses.py` makes functions of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.unwrap import constant
from ..core.value import dtype_of, ndim_of, shape_of
from ..ops import ctc as sequences
from ..ops import loss, loss_classes
from ..ops.activation import log_sigmoid
from ..ops.comparison import equal, greater, not_equal
from ..ops.distance import shortfall
from ..ops.elementwise import (
    absolute_stopped,
    add,
    divide,
    exp,
    log,
    logaddexp,
    multiply,
    negative,
    power_by,
    sqrt,
    subtract,
)  # fmt: skip
from ..ops.indexing import advanced_index, take, take_add, take_along_axis
from ..ops.loss_classes import target_weights
from ..ops.reduction import mean as reduce_mean
from ..ops.reduction import sum as reduce_sum
from ..ops.selection import clip, drop, keep, minimum, where
from ..ops.softmax import log_softmax
from ..ops.special import xlogy
from ..ops.structural import concatenate, getitem, reshape, stack


def check_reduction(op: str, reduction: Any, *more: str) -> str:
    """The reduction, if it is "mean", "sum", "none" or one of `more`; raises ValueError otherwise."""
    if reduction in ("mean", "sum", "none") or reduction in more:
        return reduction
    known = ", ".join(map(repr, ("mean", "sum", *more)))
    raise ValueError(f"{op}: reduction must be {known} or 'none', got {reduction!r}")


def reduced(x: Any, reduction: str, op: str = "") -> Any:
    """Losses as they are ("none"), their "mean" or their "sum"; where `op` is given, the reduction is checked first."""
    if op:
        check_reduction(op, reduction)
    if reduction == "none":
        return x
    return (reduce_mean if reduction == "mean" else reduce_sum)(x, axis=tuple(range(ndim_of(x))), keepdims=False)


def divergence(losses: Any, reduction: str, shape: tuple[int, ...]) -> Any:
    """Divergences reduced; "batchmean" is their sum over the first length of the input's shape."""
    if reduction != "batchmean":
        return reduced(losses, reduction)
    total = reduced(losses, "sum")
    return divide(total, np.asarray(shape[0], dtype_of(total))) if shape else total


def hinge(x: Any) -> Any:
    """max(x, 0), with the whole gradient at 0."""
    return clip(x, low=0.0, high=None)


# ------------------------------------------------------------------------------------------ likelihoods


def kl_divergence(x: Any, y: Any, log_target: bool = False, positive_only: bool = False) -> Any:
    """y (log y - x) for log-probabilities x and probabilities y, or their logarithms where `log_target`.

    positive_only: probabilities of 0 and below count for nothing (else those below 0 give nan).
    """
    if log_target:
        return multiply(exp(y), subtract(y, x))
    losses = subtract(xlogy(y, y), multiply(y, x))
    return keep(losses, greater(y, 0.0)) if positive_only else losses


def poisson_nll(x: Any, y: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8) -> Any:
    """The negative log likelihood of counts y, of which x is the (logarithm of the) rate; Stirling's terms if `full`."""
    losses = subtract(exp(x), multiply(y, x)) if log_input else subtract(x, multiply(y, log(add(x, eps))))
    if full:
        counts = clip(y, low=1.0, high=None)  # so that the gradient by a count of 0 is not nan
        stirling = add(
            subtract(multiply(counts, log(counts)), counts), multiply(log(multiply(counts, 2 * math.pi)), 0.5)
        )
        losses = add(losses, keep(stirling, greater(y, 1.0)))
    return losses


def gaussian_nll(x: Any, y: Any, var: Any, full: bool = False, eps: float = 1e-6) -> Any:
    """The negative log likelihood of y under a Gaussian with mean x and variance `var`, which is at least eps.

    The gradient passes to `var` as if it had not been raised.
    """
    var = add(var, shortfall(var, bound=float(eps)))
    losses = multiply(add(log(var), divide(power_by(subtract(x, y), exponent=2.0), var)), 0.5)
    return add(losses, 0.5 * math.log(2 * math.pi)) if full else losses


def multilabel_soft_margin(x: Any, y: Any, weight: Any = None) -> Any:
    """The binary cross entropies of the sigmoids of x and labels y, averaged over the last axis."""
    positive, other = multiply(y, log_sigmoid(x)), multiply(subtract(1.0, y), log_sigmoid(negative(x)))
    losses = negative(add(positive, other))
    if weight is not None:
        losses = multiply(losses, weight)
    return reduce_mean(losses, axis=(ndim_of(losses) - 1,) if ndim_of(losses) else (), keepdims=False)


# ------------------------------------------------------------------------------------------ classes


def of_classes(weight: Any, ndim: int, axis: int) -> Any:
    """Weights of classes (C,) as they multiply values of `ndim` axes, of which one is that of the classes."""
    return reshape(weight, shape=tuple(shape_of(weight)[0] if i == axis else 1 for i in range(ndim)))


def _own_weights(target: Any, weight: Any, ignore_index: int) -> Any:
    """The weight of each target, 0 where it is ignored."""
    kept = not_equal(target, ignore_index)
    return keep(take(weight, keep(target, kept), axis=0), kept)


def weighted_nll(nll: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    """Negative log likelihoods (unreduced, without weights) times the weights of their targets, reduced.

    The mean is over these weights. What the weights are comes into the derivative, as it does not where `nll_loss` weighs.
    """
    own = _own_weights(target, weight, ignore_index)
    losses = multiply(nll, own)
    if reduction != "mean":
        return reduced(losses, reduction)
    return divide(reduced(losses, "sum"), reduced(own, "sum"))


def varies(weight: Any) -> bool:
    """Whether a derivative by weights may be asked for."""
    return weight is not None and (weight._node is not None or bool(weight._level))


def smoothed_nll(
    nll: Any, logs: Any, target: Any, weight: Any, axis: int, smoothing: float, reduction: str, ignore_index: int
) -> Any:
    """The negative log likelihoods `nll` (reduced already) of class numbers of which a part is spread over all classes.

    logs: the log-probabilities; target: int64, without the axis of classes. The mean is over the weights of the targets.
    """
    classes = shape_of(logs)[axis]
    terms = logs if weight is None else multiply(logs, of_classes(weight, ndim_of(logs), axis))
    smooth = negative(reduce_sum(terms, axis=(axis,), keepdims=False))
    smooth = drop(smooth, equal(reshape(target, shape=tuple(shape_of(smooth))), ignore_index))
    if reduction != "none":
        smooth = reduced(smooth, "sum")
    if reduction == "mean":
        if varies(weight):
            weights = _own_weights(target, weight, ignore_index)
        else:
            weights = target_weights(target, weight, classes=classes, ignore_index=ignore_index, dtype=dtype_of(logs))
        smooth = divide(smooth, reduced(weights, "sum"))
    return add(multiply(nll, 1 - smoothing), multiply(smooth, smoothing / classes))


def adaptive_logs(
    x: Any, numbers: np.ndarray, head: Any, tails: Sequence[Callable[[Any], Any]], bounds: Sequence[int]
) -> Any:
    """The log-probabilities (N,) of class numbers in a softmax over clusters of classes (Grave et al., 2017).

    head: the logits of the first classes and of the clusters behind them; tails: each makes those within a cluster from some
    rows of x (N, features); bounds: 0, and the class numbers at which the first classes and each cluster end.
    """
    cluster = np.searchsorted(np.asarray(bounds[1:]), numbers, side="right")
    column = np.where(cluster == 0, numbers, bounds[1] + cluster - 1)
    count = len(numbers)
    found = reshape(take_along_axis(log_softmax(head, axis=1), column[:, None], axis=1), shape=(count,))
    for k, tail in enumerate(tails, 1):
        inside = np.flatnonzero(cluster == k)
        if inside.size:
            logs = log_softmax(tail(take(x, inside, axis=0)), axis=1)
            own = take_along_axis(logs, (numbers[inside] - bounds[k])[:, None], axis=1)
            found = add(found, take_add(reshape(own, shape=(len(inside),)), inside, shape=(count,), axis=0))
    return found


# ------------------------------------------------------------------------------------------ sequences

_NEVER = -1e30
"""The logarithm of a probability of 0 as a number, so that no gradient through it is nan."""


def transducer(
    x: Any, labels: np.ndarray, frames: np.ndarray, counts: np.ndarray, blank: int, emphasis: float = 0.0
) -> Any:
    """The negative log likelihood of label sequences (Graves, 2012): of log-probabilities (N, T, 1 + labels, classes).

    The paths go a frame on with the blank, or a label on within the frame. All places of the lattice as many steps from its
    beginning are computed at once. emphasis: by what part gradients of labels are raised (FastEmit, Yu et al., 2021).
    """
    n, duration, width, _ = shape_of(x)
    on = getitem(x, index=(Ellipsis, blank))
    rows = np.broadcast_to(labels[:, None, : width - 1, None], (n, duration, width - 1, 1)).astype(np.int64)
    label = reshape(take_along_axis(getitem(x, index=(slice(None), slice(None), slice(0, width - 1))), rows, axis=3),
                    shape=(n, duration, width - 1))  # fmt: skip
    if emphasis:
        label = add(multiply(label, 1.0 + emphasis), multiply(constant(label), -emphasis))
    steps, places = np.arange(duration + width - 2)[:, None], np.arange(width)
    time = steps - places  # the frame in which a place is, so many steps from the beginning
    there, at = (time >= 0) & (time < duration), np.clip(time, 0, duration - 1)

    def askew(scores: Any, upto: int) -> Any:
        found = advanced_index(scores, at[:, :upto], np.broadcast_to(places[:upto], at[:, :upto].shape), axes=(1, 2))
        return drop(found, np.broadcast_to(~there[:, :upto], shape_of(found)))

    waits, moves = askew(on, width), askew(label, width - 1)
    lost = np.where(there, 0, _NEVER).astype(dtype_of(x))
    never = np.full((n, 1), _NEVER, dtype_of(x))
    reached: list[Any] = [np.concatenate([np.zeros_like(never), np.repeat(never, width - 1, 1)], axis=1)]
    for k in range(duration + width - 2):
        now = add(reached[-1], lost[k])
        aside = add(getitem(moves, index=(slice(None), k)), getitem(now, index=(slice(None), slice(0, width - 1))))
        reached.append(logaddexp(add(getitem(waits, index=(slice(None), k)), now), concatenate(never, aside, axis=1)))
    every = stack(*reached, axis=1)
    item = np.arange(n)
    last = advanced_index(every, item, frames - 1 + counts, counts, axes=(0, 1, 2))
    return negative(add(last, advanced_index(on, item, frames - 1, counts, axes=(0, 1, 2))))


# ------------------------------------------------------------------------------------------ margins


Positive = Callable[[Any], Any]
"""max(x, 0) with what a dialect takes for its gradient at 0: `hinge`, or `ops.activation.relu`, whose is 0."""


def margin_ranking(x: Any, other: Any, y: Any, margin: float, positive: Positive = hinge) -> Any:
    """max(0, -y (x - other) + margin): y = 1 wants x the larger, -1 the other."""
    return positive(add(multiply(negative(y), subtract(x, other)), margin))


def hinge_embedding(x: Any, near: Any, apart: Any, margin: float, positive: Positive = hinge) -> Any:
    """x where `near`, and max(0, margin - x) where `apart`."""
    return add(keep(positive(subtract(margin, x)), apart), keep(x, near))


def _inner(x: Any, y: Any, axis: int) -> Any:
    return reduce_sum(multiply(x, y), axis=(axis,), keepdims=False)


def cosine_embedding(
    x: Any, y: Any, axis: int, near: Any, apart: Any, margin: float, tiny: float = 1e-12, positive: Positive = hinge,
    inner: Callable[[Any, Any, int], Any] = _inner,
) -> Any:  # fmt: skip
    """1 - cos of vectors along an axis where `near`, max(0, cos - margin) where `apart`."""
    xy, xx, yy = inner(x, y, axis), inner(x, x, axis), inner(y, y, axis)
    cosine = divide(xy, sqrt(multiply(add(xx, tiny), add(yy, tiny))))
    return add(keep(subtract(1.0, cosine), near), keep(positive(subtract(cosine, margin)), apart))


def triplet(
    anchor: Any, near: Any, far: Any, *, margin: float, swap: bool = False, distance: Callable[..., Any] | None = None,
    standard: Callable[..., Any] | None = None, p: float | None = None, eps: float = 0.0, positive: Positive = hinge,
    pair: Callable[[Any, Any], tuple[Any, Any]] | None = None,
) -> Any:  # fmt: skip
    """max(0, d(anchor, near) - d(anchor, far) + margin); with `swap`, far is what is far from the anchor and from `near`.

    distance: d, `standard` if it is None; it takes p and eps too where there is a p. pair: brings two distances to one dtype.
    """
    d: Any = distance or standard
    more = () if p is None else (p, eps)
    apart = d(anchor, far, *more)
    if swap:
        apart = minimum(apart, d(near, far, *more), ties="half")
    together = d(anchor, near, *more)
    if pair is not None:
        together, apart = pair(together, apart)
    return positive(subtract(add(together, margin), apart))


# ------------------------------------------------------------------------------------------ what losses there are


class Loss(NamedTuple):
    """What a loss is in every dialect.

    doc: in words, with {0}, {1}, ... for the operands as a dialect calls them. value: the losses of operands that a dialect has
    brought together, with options by keyword; reduced already where `reduces`, which then takes `reduction`. more: reductions
    beside "mean", "sum" and "none". operands: what value takes, where that is not one for each operand of a dialect.
    """

    doc: str
    value: Callable[..., Any]
    reduces: bool = False
    more: tuple[str, ...] = ()
    operands: str = ""


def _smooth_l1(x: Any, y: Any, *, reduction: str, beta: float = 1.0) -> Any:
    return loss.smooth_l1_loss(x, y, reduction=reduction, beta=float(beta))


def _huber(x: Any, y: Any, *, reduction: str, delta: float = 1.0) -> Any:
    return loss.huber_loss(x, y, reduction=reduction, delta=float(delta))


def _multi_margin(x: Any, target: Any, weight: Any, *, reduction: str, p: int = 1, margin: float = 1.0) -> Any:
    return loss_classes.multi_margin_loss(x, target, weight, reduction=reduction, p=int(p), margin=float(margin))


def _divergence(x: Any, y: Any, *, reduction: str, log_target: bool = False, positive_only: bool = False) -> Any:
    return divergence(kl_divergence(x, y, log_target, positive_only), reduction, tuple(shape_of(x)))


def ctc(
    logs: Any, labels: np.ndarray, frames: np.ndarray, counts: np.ndarray, *, blank: int, reduction: str,
    zero_infinity: bool = False, drops: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss of log-probabilities (T, N, C) and rows of labels (N, S).

    The mean is over losses divided by how many labels there are. zero_infinity: elements without any alignment have no
    gradient; and count as 0 where the dialect `drops` them.
    """
    losses = sequences.ctc_loss(
        logs, sequences.with_blanks(labels, blank), frames, counts, zero_infinity=bool(zero_infinity), normalised=True
    )
    if zero_infinity and drops:
        infinity, zero = np.asarray([np.inf, 0], dtype_of(losses))[:, None]
        losses = where(equal(losses, infinity), zero, losses)
    if reduction == "mean":
        losses = divide(losses, np.maximum(counts, 1).astype(dtype_of(logs)))
    return reduced(losses, reduction)


L1 = Loss("The absolute difference of {0} and {1}.", lambda x, y: absolute_stopped(subtract(x, y)))
SMOOTH_L1 = Loss(
    "The squared difference over 2 beta where it is below beta, beyond the absolute one less beta/2.", _smooth_l1, True
)
HUBER = Loss(
    "Half the squared difference where it is at most delta, beyond delta times the absolute one less delta/2.",
    _huber,
    True,
)
SOFT_MARGIN = Loss("log(1 + exp(-{1} * {0})) for {1} 1 and -1.", loss.soft_margin_loss, True)
BINARY_CROSS_ENTROPY = Loss(
    "The cross entropy of probabilities and {1} in [0, 1], each times its weight.", loss.binary_cross_entropy, True
)
BINARY_CROSS_ENTROPY_WITH_LOGITS = Loss(
    "The cross entropy of the sigmoids of {0} and {1} in [0, 1]; where {1} is positive it may weigh pos_weight.",
    loss.binary_cross_entropy_with_logits, True,
)  # fmt: skip
KL_DIVERGENCE = Loss(
    "The Kullback-Leibler divergence: {1} * (log {1} - {0}), where {0} holds log-probabilities.", _divergence, True,
    ("batchmean",),
)  # fmt: skip
POISSON_NLL = Loss(
    "The negative log likelihood of Poisson counts, of which {0} is the (logarithm of the) rate.", poisson_nll
)
GAUSSIAN_NLL = Loss(
    "The negative log likelihood of {1} under a Gaussian with mean {0} and variance {2}, which is at least a bound.",
    gaussian_nll,
)  # fmt: skip
MARGIN_RANKING = Loss("max(0, -{2} * ({0} - {1}) + margin): {2} 1 wants {0} the larger, -1 {1}.", margin_ranking)
HINGE_EMBEDDING = Loss(
    "{0} where {1} is 1, max(0, margin - {0}) where it is -1.", hinge_embedding, operands="x, near, apart"
)
COSINE_EMBEDDING = Loss(
    "1 - cos({0}, {1}) where {2} is 1, max(0, cos - margin) where it is -1.", cosine_embedding,
    operands="x, y, axis, near, apart",
)  # fmt: skip
TRIPLET = Loss("max(0, margin + d({0}, {1}) - d({0}, {2})), where d is a distance.", triplet)
MULTILABEL_SOFT_MARGIN = Loss(
    "The binary cross entropies of the sigmoids of {0} and {1}, averaged over the last axis.", multilabel_soft_margin
)
MULTI_MARGIN = Loss(
    "The mean over classes of max(0, margin - {0}[{1}] + {0}[class])^p, the own class of {1} left out.",
    _multi_margin,
    True,
)
MULTILABEL_MARGIN = Loss(
    "The mean over classes of max(0, 1 - {0}[label] + {0}[other]), summed over the labels in {1}, which -1 ends.",
    loss_classes.multilabel_margin_loss, True,
)  # fmt: skip
