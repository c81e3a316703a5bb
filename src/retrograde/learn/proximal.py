"""The update rules that shrink with an L1 penalty or scale by the norm of a parameter: FTRL, proximal Adagrad, LAMB, LARS.

Each takes one parameter at a time (NumPy arrays, in place): they mix powers and norms, which the statements of
`statements` do not have. Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.kernels import in_single
from ..ops.samples import normal, sample, uniform
from .rules import rule_of_one
from .statements import Array


def shrunk(x: Array, amount: Any) -> Array:
    """`x` moved towards 0 by `amount`, at most to it: the proximal step of an L1 penalty.

    >>> shrunk(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-2.,  0.,  1.])
    """
    return np.sign(x) * np.maximum(np.abs(x) - amount, 0)


def _samples(**options: Any) -> Any:
    """Samples of a parameter, its gradient and two kinds of state."""
    state = (uniform(0.2, 0.9, 3), uniform(0.1, 0.5, 3, seed=1))
    return lambda: [sample(normal(3), normal(3, seed=1), *state, count=4, options=tuple(options.items()))]


@rule_of_one(_samples(lr=0.1, l1=0.01))
def ftrl(
    p: Array, g: Array, total: Array, linear: Array, *, lr: Any, l1: Any = 0.0, l2: Any = 0.0, lr_power: Any = -0.5
) -> None:
    """Follow the regularised leader (McMahan et al. 2013); `total` sums squares, `linear` gradients less past pulls."""
    x, a, z, d = (in_single(v) for v in (p, total, linear, g))
    after = a + d * d
    before, power = a**-lr_power, after**-lr_power
    z = z + d - (power - before) / lr * x
    p[...] = -shrunk(z, l1) / (power / lr + 2 * l2)
    total[...], linear[...] = after, z


@rule_of_one(lambda: [sample(normal(3), normal(3, seed=1), uniform(0.2, 0.9, 3), count=3, options=(("lr", 0.1),))])
def proximal_adagrad(p: Array, g: Array, total: Array, *, lr: Any, l1: Any = 0.0, l2: Any = 0.0) -> None:
    """Adagrad with L1 and L2 penalties taken as proximal steps (Duchi and Singer 2009)."""
    x, d = in_single(p), in_single(g)
    after = in_single(total) + d * d
    rate = lr / np.sqrt(after)
    stepped = x - d * rate
    p[...] = (shrunk(stepped, rate * l1) if l1 > 0 else stepped) / (1 + l2 * rate)
    total[...] = after


@rule_of_one(_samples(step=2, lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01))
def lamb(
    p: Array, g: Array, m: Array, v: Array, *, step: int, lr: Any, betas: tuple[Any, Any], eps: Any, weight_decay: Any,
    adapt: bool = True,
) -> None:  # fmt: skip
    """LAMB (You et al. 2020): Adam's direction, with the norm of the parameter unless `adapt` is off."""
    beta1, beta2 = betas
    x, d = in_single(p), in_single(g)
    first = beta1 * in_single(m) + (1 - beta1) * d
    second = beta2 * in_single(v) + (1 - beta2) * d * d
    direction = first / (1 - beta1**step) / (np.sqrt(second / (1 - beta2**step)) + eps) + weight_decay * x
    scale = _ratio(np.linalg.norm(x), np.linalg.norm(direction)) if adapt else 1.0
    p[...] = x - lr * scale * direction
    m[...], v[...] = first, second


def lars_gradient(p: Array, g: Array, *, weight_decay: Any, coefficient: Any, eps: Any, limit: Any = None) -> Array:
    """The gradient with weight decay, scaled by the norms of parameter and gradient (You, Gitman and Ginsburg 2017).

    limit: the learning rate, where the scale times it is not to exceed it (LARC).
    """
    x, d = in_single(p), in_single(g)
    size, slope = np.linalg.norm(x), np.linalg.norm(d)
    scale = _ratio(coefficient * size, slope + weight_decay * size + eps) if size > 0 and slope > 0 else 1.0
    if limit is not None:
        scale = min(scale / limit, 1.0)
    scaled: Array = ((d + weight_decay * x) * x.dtype.type(scale)).astype(g.dtype, copy=False)
    return scaled


def _ratio(size: Any, other: Any) -> Any:
    """One norm by another; 1 where either is 0."""
    return size / other if size > 0 and other > 0 else 1.0
