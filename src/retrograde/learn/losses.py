"""Losses that are made of operations, per element: on values of one dtype, before any reduction.

Those that are one operation (squared and absolute differences, cross entropies, class losses, CTC) are in `ops`.
Dialects check arguments and dtypes, choose masks where they differ (`near` and `apart`: which pairs belong together and
which do not) and reduce.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.unwrap import constant
from ..core.value import dtype_of, ndim_of, shape_of
from ..ops.activation import log_sigmoid
from ..ops.comparison import equal, greater, not_equal
from ..ops.distance import shortfall
from ..ops.elementwise import add, divide, exp, log, logaddexp, multiply, negative, power_by, sqrt, subtract
from ..ops.indexing import advanced_index, take, take_along_axis
from ..ops.loss_classes import target_weights
from ..ops.reduction import mean as reduce_mean
from ..ops.reduction import sum as reduce_sum
from ..ops.selection import clip, drop, keep, minimum
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


def divergence(losses: Any, reduction: str, op: str, shape: tuple[int, ...]) -> Any:
    """Divergences reduced; "batchmean" is their sum over the first length of the input's shape."""
    if check_reduction(op, reduction, "batchmean") != "batchmean":
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


# ------------------------------------------------------------------------------------------ sequences

_NEVER = -1e30
"""The logarithm of a probability of 0 as a number, so that no gradient through it is nan."""


def transducer(x: Any, labels: np.ndarray, frames: np.ndarray, counts: np.ndarray, blank: int, emphasis: float = 0.0) -> Any:
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
    distance: Callable[[Any, Any], Any], anchor: Any, near: Any, far: Any, margin: float, swap: bool = False,
    positive: Positive = hinge, pair: Callable[[Any, Any], tuple[Any, Any]] | None = None,
) -> Any:  # fmt: skip
    """max(0, d(anchor, near) - d(anchor, far) + margin); with `swap`, far is what is far from the anchor and from `near`.

    pair: brings the two distances to one dtype.
    """
    apart = distance(anchor, far)
    if swap:
        apart = minimum(apart, distance(near, far), ties="half")
    together = distance(anchor, near)
    if pair is not None:
        together, apart = pair(together, apart)
    return positive(subtract(add(together, margin), apart))
