"""Losses between predictions and targets of one shape, each one operation. `reduction` is "none", "mean" or "sum".

Losses over classes are in loss_classes.py, the CTC loss in ctc.py.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..backend.dtypes import astype, is_half
from ..backend.jit.operands import LEAST
from ..core.aval import Aval
from ..core.large import CHEAP_LEAST, Large
from ..core.primitive import primitive
from ..core.value import shape_of
from .activation import hardtanh, sigmoid
from .elementwise import log, log1p, logaddexp
from .kernels import elements, in_single, scalar, widened, widened_numpy, zero_of
from .reduction import mean, ones, sum, sum_array
from .rules import batch_elementwise, sum_tangents
from .samples import normal, sample, uniform
from .selection import clip

# ------------------------------------------------------------------------------------------ what losses share

REDUCTIONS = ("none", "mean", "sum")


def reduced(xp: Any, losses: Any, reduction: str) -> Any:
    """In kernels: the losses themselves, their mean or their sum."""
    if reduction == "none":
        return losses
    return _averaged(xp.sum(losses, dtype=losses.dtype), losses, reduction)


def reduced_numpy(losses: Any, reduction: str) -> Any:
    """The same for NumPy's arrays."""
    if reduction == "none":
        return losses
    n = losses.size
    if losses.ndim == 1 and 0 < n <= 128 and losses.dtype.char in "fd":
        total = losses.dot(ones(n, losses.dtype.char))  # of two numbers in 0.26 µs, where the sum takes 0.68
    else:
        total = sum_array(losses, tuple(range(losses.ndim)), False)
    return total / losses.size if reduction == "mean" and losses.size else _averaged(total, losses, reduction)


def _averaged(total: Any, losses: Any, reduction: str) -> Any:
    if reduction == "mean":
        total = total / elements(losses) if elements(losses) else total * math.nan
    return total


def kernels_of(losses: Any, by_numpy: Any = None, *, least: int = LEAST) -> dict[str, Any]:
    """The standard and the NumPy kernel of a loss from `losses(xp, *arrays, **params)`, the unreduced ones, and what NumPy
    does better than that; without such a thing, arrays of `least` elements and more are computed and added up in one loop."""
    generated = by_numpy is None
    by_numpy = losses if by_numpy is None else by_numpy

    @widened
    def kernel(xp: Any, *arrays: Any, reduction: str, **params: Any) -> Any:
        return reduced(xp, losses(xp, *arrays, **params), reduction)

    @widened_numpy
    def numpy(*arrays: Any, reduction: str, **params: Any) -> Any:
        return reduced_numpy(by_numpy(np, *arrays, **params), reduction)

    class LargeLoss(_LargeLoss):
        def __init__(self, prim: Any) -> None:
            super().__init__(prim)
            self.least = self.pulls_least = least

        def trace(self, dtypes: tuple[Any, ...], params: dict[str, Any]) -> Any:
            from ..core.expression import traced

            return traced(widened(losses), dtypes, {k: v for k, v in params.items() if k != "reduction"})

    return {"kernel": kernel, "numpy": numpy, "generated": LargeLoss if generated else False}


class _LargeLoss(Large):
    """Losses of large arrays, added up as they are computed; the derivative of one that is reduced is that of the unreduced
    ones for a cotangent that they share."""

    def __call__(self, *arrays: Any, reduction: str, **params: Any) -> Any:
        if reduction == "none":
            return super().__call__(*arrays, reduction=reduction, **params)
        x = arrays[0]
        fused: Any = self.fused(arrays, {"reduction": "none", **params}) if x.dtype.itemsize > 2 else False
        found = fused.sums(*arrays) if fused is not False else None
        if found is None:
            return self.prim.numpy_kernel(*arrays, reduction=reduction, **params)
        size = x.size
        if any(y is not None and y.shape != x.shape for y in arrays):
            size = math.prod(np.broadcast_shapes(*(y.shape for y in arrays if y is not None)))
        return np.asarray(found[0] / size if reduction == "mean" else found[0], x.dtype)

    def pulled(self, g: Any, edges: Any, saved: Any, params: dict[str, Any]) -> Any:
        x = next((y for y in saved if y is not None), None)
        if x is None:
            return None
        return super().pulled(share(g, x, params["reduction"]), edges, saved, {**params, "reduction": "none"})


def reduce_value(losses: Any, reduction: str, batched: int = 0) -> Any:
    """In rules: losses reduced by operations, over all axes but the first `batched` ones."""
    if reduction == "none":
        return losses
    axis = tuple(range(batched, len(shape_of(losses))))
    return (mean if reduction == "mean" else sum)(losses, axis=axis, keepdims=False)


def share(g: Any, x: Any, reduction: str) -> Any:
    """The cotangent of each loss: that of the result, divided by the number of losses where they are averaged."""
    if reduction != "mean":
        return g
    each = g / max(math.prod(shape_of(x)), 1)
    return np.asarray(each) if isinstance(each, np.generic) else each  # a product with a number of NumPy's is slow


def infer_loss(avals: Any, params: dict[str, Any]) -> Aval:
    """The broadcast shape for reduction "none", a number otherwise."""
    shape = np.broadcast_shapes(*(a.shape for a in avals if a is not None))
    return Aval(shape if params["reduction"] == "none" else (), avals[0].dtype)


def batch_loss(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """The losses of the whole batch unreduced, then reduced within each element."""
    out, _ = batch_elementwise(op, arrays, dims, {**params, "reduction": "none"})
    return reduce_value(out, params["reduction"], 1), 0


def loss_samples(*operands: Any, **params: Any) -> Any:
    """One call for each reduction, and one on numbers."""

    def make() -> Any:
        for reduction in REDUCTIONS:
            yield sample(*operands, reduction=reduction, **params)
        numbers = (None if x is None else x.reshape(-1)[1] for x in operands)
        yield sample(*numbers, reduction="mean", **params)

    return make


def _push(tangents: Any, x: Any, y: Any, slope: Any, reduction: str) -> Any:
    """The tangent of a loss of the difference x - y, whose derivative by it is `slope`."""
    dx, dy = tangents
    return reduce_value(slope * sum_tangents([dx, None if dy is None else -dy]), reduction)


# ------------------------------------------------------------------------------------------ differences


def _squares(xp: Any, x: Any, y: Any) -> Any:
    d = x - y
    return d * d


# The squared difference.
mse_loss = primitive(
    "mse_loss", **kernels_of(_squares, least=CHEAP_LEAST), operands=("x", "y"), params=("reduction",),
    vjps=[lambda g, _out, x, y, *, reduction: (x - y) * (share(g, x, reduction) * 2),
          lambda g, _out, x, y, *, reduction: (y - x) * (share(g, x, reduction) * 2)],
    jvp=lambda tangents, out, x, y, *, reduction: _push(tangents, x, y, (x - y) * 2, reduction),
    batch=batch_loss, infer=infer_loss, samples=loss_samples(normal(2, 3), normal(2, 3, seed=1)),
)  # fmt: skip


def _smooth_l1(xp: Any, x: Any, y: Any, *, beta: float) -> Any:
    d = xp.abs(x - y)
    return xp.where(d < scalar(beta, d), d * d * scalar(0.5 / beta, d), d - scalar(0.5 * beta, d))


def _unit_slope(d: Any, beta: float) -> Any:
    return hardtanh(d if beta == 1 else d / beta, low=-1.0, high=1.0)


# Half the squared difference over `beta` where it is below `beta`, the absolute difference less beta/2 beyond.
smooth_l1_loss = primitive(
    "smooth_l1_loss", **kernels_of(_smooth_l1), operands=("x", "y"), params=("reduction", "beta"),
    vjps=[lambda g, _out, x, y, *, reduction, beta: _unit_slope(x - y, beta) * share(g, x, reduction),
          lambda g, _out, x, y, *, reduction, beta: _unit_slope(y - x, beta) * share(g, x, reduction)],
    jvp=lambda tangents, out, x, y, *, reduction, beta: _push(tangents, x, y, _unit_slope(x - y, beta), reduction),
    batch=batch_loss, infer=infer_loss, samples=loss_samples(normal(2, 3), normal(2, 3, seed=1), beta=0.7),
)  # fmt: skip


def _huber(xp: Any, x: Any, y: Any, *, delta: float) -> Any:
    d = xp.abs(x - y)
    return xp.where(d <= scalar(delta, d), d * d * scalar(0.5, d), (d - scalar(0.5 * delta, d)) * scalar(delta, d))


def _huber_slope(d: Any, delta: float) -> Any:
    return hardtanh(d, low=-delta, high=delta)


# `delta` times smooth_l1_loss with beta=delta.
huber_loss = primitive(
    "huber_loss", **kernels_of(_huber), operands=("x", "y"), params=("reduction", "delta"),
    vjps=[lambda g, _out, x, y, *, reduction, delta: _huber_slope(x - y, delta) * share(g, x, reduction),
          lambda g, _out, x, y, *, reduction, delta: _huber_slope(y - x, delta) * share(g, x, reduction)],
    jvp=lambda tangents, out, x, y, *, reduction, delta: _push(tangents, x, y, _huber_slope(x - y, delta), reduction),
    batch=batch_loss, infer=infer_loss, samples=loss_samples(normal(2, 3), normal(2, 3, seed=1), delta=0.7),
)  # fmt: skip


def _soft_margin_kernel(xp: Any, x: Any, y: Any, *, reduction: str) -> Any:
    losses = xp.log1p(xp.exp(-y * x))
    if reduction == "none":
        return losses
    return astype(xp, reduced(xp, astype(xp, losses, np.float32) if is_half(losses) else losses, reduction), x.dtype)


def _soft_margin_numpy(x: Any, y: Any, *, reduction: str) -> Any:
    losses = np.log1p(np.exp(-y * x))
    return reduced_numpy(in_single(losses), reduction).astype(x.dtype) if reduction != "none" else losses


def _soft_margin_jvp(tangents: Any, out: Any, x: Any, y: Any, *, reduction: str) -> Any:
    dx, dy = tangents
    d = sum_tangents([None if dx is None else y * dx, None if dy is None else x * dy])
    return None if d is None else reduce_value(-sigmoid(-y * x) * d, reduction)


# log(1 + exp(-y x)) with y = 1 or -1.
soft_margin_loss = primitive(
    "soft_margin_loss", kernel=_soft_margin_kernel, numpy=_soft_margin_numpy, operands=("x", "y"), params=("reduction",),
    vjps=[lambda g, _out, x, y, *, reduction: -y * sigmoid(-y * x) * share(g, x, reduction),
          lambda g, _out, x, y, *, reduction: -x * sigmoid(-y * x) * share(g, x, reduction)],
    jvp=_soft_margin_jvp, batch=batch_loss, infer=infer_loss,
    samples=loss_samples(normal(2, 3), np.sign(normal(2, 3, seed=1))),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ two classes

def _bce(xp: Any, x: Any, y: Any, weight: Any, *, lowest: float) -> Any:
    if elements(x) and not bool((xp.min(x) >= 0) & (xp.max(x) <= 1)):
        _refuse_probabilities()
    return _bce_losses(xp, x, y, weight, lowest)


def _bce_numpy(xp: Any, x: Any, y: Any, weight: Any, *, lowest: float) -> Any:
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        _refuse_probabilities()
    return _bce_losses(xp, x, y, weight, lowest)


def _refuse_probabilities() -> NoReturn:
    raise ValueError("the probabilities must lie between 0 and 1; use the form with logits for others")


def _bce_losses(xp: Any, x: Any, y: Any, weight: Any, lowest: float) -> Any:
    low = scalar(lowest, x)
    with np.errstate(divide="ignore"):
        losses = (y - 1) * xp.maximum(xp.log1p(-x), low) - y * xp.maximum(xp.log(x), low)
    return losses if weight is None else losses * weight


def _weighted(g: Any, x: Any, weight: Any, reduction: str) -> Any:
    g = share(g, x, reduction)
    return g if weight is None else g * weight


def _bce_slope(x: Any, y: Any) -> Any:
    return (x - y) / clip((1 - x) * x, low=1e-12, high=None)


def _bce_target_slope(x: Any, lowest: float) -> Any:
    return clip(log1p(-x), low=lowest, high=None) - clip(log(x), low=lowest, high=None)


def _bce_jvp(tangents: Any, out: Any, x: Any, y: Any, weight: Any, *, reduction: str, lowest: float) -> Any:
    dx, dy, _ = tangents
    d = sum_tangents([
        None if dx is None else dx * _bce_slope(x, y), None if dy is None else dy * _bce_target_slope(x, lowest)
    ])  # fmt: skip
    return None if d is None else reduce_value(d if weight is None else d * weight, reduction)


def _bce_samples() -> Any:
    for weight in (None, uniform(0.5, 2, 2, 3)):
        yield from loss_samples(uniform(0.1, 0.9, 2, 3), uniform(0.1, 0.9, 2, 3, seed=1), weight, lowest=-100.0)()


# -(y log x + (1 - y) log(1 - x)) of a probability x, times a weight (or None). Logarithms count as `lowest` at least, so that
# a certain error has a finite loss.
binary_cross_entropy = primitive(
    "binary_cross_entropy", **kernels_of(_bce, _bce_numpy), operands=("x", "y", "weight"), params=("reduction", "lowest"),
    vjps=[
        lambda g, _out, x, y, weight, *, reduction, lowest: _bce_slope(x, y) * _weighted(g, x, weight, reduction),
        lambda g, _out, x, _y, weight, *, reduction, lowest: _bce_target_slope(x, lowest) * _weighted(g, x, weight, reduction),
        None,
    ],
    jvp=_bce_jvp, batch=batch_loss, infer=infer_loss, samples=_bce_samples,
)  # fmt: skip


def _bce_logits(xp: Any, x: Any, y: Any, weight: Any, pos_weight: Any) -> Any:
    softplus = xp.log1p(xp.exp(-xp.abs(x))) - xp.minimum(x, zero_of(x))  # log(1 + exp(-x))
    if pos_weight is not None:
        softplus = softplus * ((pos_weight - 1) * y + 1)
    losses = (scalar(1, y) - y) * x + softplus
    return losses if weight is None else losses * weight


def _logits_slope(x: Any, y: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return sigmoid(x) - y
    return (1 - y) - ((pos_weight - 1) * y + 1) * sigmoid(-x)


def _logits_target_slope(x: Any, pos_weight: Any) -> Any:
    return -x if pos_weight is None else (pos_weight - 1) * logaddexp(x * 0, -x) - x


def _logits_jvp(tangents: Any, out: Any, x: Any, y: Any, weight: Any, pos_weight: Any, *, reduction: str) -> Any:
    dx, dy = tangents[:2]
    d = sum_tangents([
        None if dx is None else dx * _logits_slope(x, y, pos_weight),
        None if dy is None else dy * _logits_target_slope(x, pos_weight),
    ])  # fmt: skip
    return None if d is None else reduce_value(d if weight is None else d * weight, reduction)


def _logits_samples() -> Any:
    x, y = normal(2, 3), uniform(0.1, 0.9, 2, 3, seed=1)
    yield from loss_samples(x, y, None, None)()
    yield from loss_samples(x, y, uniform(0.5, 2, 2, 3), uniform(0.5, 2, 3, seed=2))()


# The same of a logit x; positive targets may have a weight of their own.
binary_cross_entropy_with_logits = primitive(
    "binary_cross_entropy_with_logits", **kernels_of(_bce_logits),
    operands=("x", "y", "weight", "pos_weight"), params=("reduction",),
    vjps=[lambda g, _out, x, y, weight, pos_weight, *, reduction:
          _logits_slope(x, y, pos_weight) * _weighted(g, x, weight, reduction),
          lambda g, _out, x, _y, weight, pos_weight, *, reduction:
          _logits_target_slope(x, pos_weight) * _weighted(g, x, weight, reduction), None, None],
    jvp=_logits_jvp, batch=batch_loss, infer=infer_loss, samples=_logits_samples,
)  # fmt: skip
