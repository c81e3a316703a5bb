"""The update rules of gradient descent and of the Adam family, in place on plain arrays.

Each function takes parallel sequences: parameters, gradients, and one for each kind of state (arrays of the parameter's
shape and dtype); then the options by keyword. Parameters and state are changed, gradients only read. `step`, the same
for all, counts from 1. The order of the
floating-point operations is that of the published reference implementations, so results agree to the last bits.
The rules that accumulate squares or signs are in `accumulating`, those for matrices in `factored`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.value import Value
from ..ops.elementwise import sqrt
from .blocks import Updated, Work, run
from .rules import rule
from .statements import Array, lerp_weight

Arrays = Sequence[Array]


def prepared(k: Any, work: Work, p: Array, g: Array, weight_decay: Any, decay: bool, maximize: bool) -> Array:
    """The gradient to descend along: negated to maximise, with the gradient of an L2 penalty where `decay`.

    It is the gradient itself, or in the third scratch array.
    """
    if maximize:
        g = k.negative(g, work[2])
        if decay:
            g = k.axpy(g, weight_decay, p, work[0])
    elif decay:
        g = k.plus(g, weight_decay, p, work[2])
    return g


def _sgd(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, buffer: Array | None, first: bool, nesterov: bool,
    decay: bool, maximize: bool,
) -> Any:  # fmt: skip
    minus_lr, momentum, share, weight_decay = coefficients
    t = work[0]
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    if buffer is not None:
        if first:
            # The first gradient enters as a constant where the update itself is differentiated, as in PyTorch.
            buffer = k.copy(k.constant(g), buffer)
        else:
            buffer = k.multiply(buffer, momentum, buffer)
            buffer = k.axpy(buffer, share, g, t)
        g = k.plus(g, momentum, buffer, work[1]) if nesterov else buffer
    return k.axpy(p, minus_lr, g, t), buffer


@rule(3, lr=0.1, momentum=0.9, nesterov=True)
def sgd(
    params: Arrays, grads: Arrays, buffers: Arrays | None = None, *, lr: float, momentum: float = 0.0,
    dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, maximize: bool = False,
    first: bool = False,
) -> Updated:  # fmt: skip
    """Gradient descent: `p -= lr * g`, with momentum where there are buffers (`first` fills them with the gradients).

    >>> import numpy as np
    >>> p = np.ones(2); sgd([p], [np.array([1.0, 2.0])], lr=0.5); p
    array([0.5, 0. ])
    """
    coefficients = (-lr, momentum, 1.0 - dampening, weight_decay)
    return run(_sgd, (params, grads, buffers), coefficients, first, nesterov, not _is_zero(weight_decay), maximize)


def _is_zero(x: Any) -> bool:
    """Whether an option switches its term off; a tensor to be differentiated does not."""
    return isinstance(x, (int, float, np.floating)) and x == 0


def _decay(lr: Any, weight_decay: float, decoupled: bool) -> tuple[Any, float, bool, bool]:
    """Factor of the weights, weight of the penalty, and which of the two applies."""
    if weight_decay == 0:
        return 1.0, 0.0, False, False
    return (1 - lr * weight_decay, 0.0, True, False) if decoupled else (1.0, weight_decay, False, True)


def _moments(k: Any, work: Work, g: Array, m: Array, v: Array, w1: Any, far: bool, beta2: Any, w2: Any) -> Any:
    """The moving averages of the gradient and of its square."""
    t = work[0]
    m = k.lerp(m, g, w1, far, t)
    v = k.multiply(v, beta2, v)
    return m, k.addcmul(v, g, g, w2, t)


def _adam(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, m: Array, v: Array, v_max: Array | None, far: bool,
    corrected: bool, nesterov: bool, shrink: bool, decay: bool, maximize: bool,
) -> Any:  # fmt: skip
    minus_step, w1, beta2, w2, root_correction2, eps, weight_decay, keep, beta1, share = coefficients
    t, d, h = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    if shrink:
        p = k.multiply(p, keep, p)
    m, v = _moments(k, work, g, m, v, w1, far, beta2, w2)
    if v_max is not None:
        v_max = k.maximum(v_max, v, v_max)
    d = k.sqrt(v if v_max is None else v_max, d)
    if corrected:
        d = k.divide(d, root_correction2, d)
    d = k.add(d, eps, d)
    ahead = k.axpy(k.multiply(g, share, h), beta1, m, t) if nesterov else m
    return k.addcdiv(p, ahead, d, minus_step, t), m, v, v_max


@rule(5, step=3, lr=0.1)
def adam(
    params: Arrays, grads: Arrays, m: Arrays, v: Arrays, v_max: Arrays | None = None, *, step: float | None = None,
    lr: Any, betas: tuple[Any, Any] = (0.9, 0.999), eps: Any = 1e-8, weight_decay: Any = 0.0, decoupled: bool = False,
    nesterov: bool = False, maximize: bool = False,
) -> Updated:  # fmt: skip
    """Adam (Kingma and Ba 2015), AdamW where `decoupled` (Loshchilov and Hutter 2019), AMSGrad where `v_max` is given.

    `m` and `v` are the moving averages of the gradient and of its square, `v_max` the largest v so far; `nesterov`
    takes m a step ahead. Without `step` the averages are not corrected for their bias, so that `eps` stands beside the
    bare root: `lr` then holds whatever correction is wanted (`corrected_rate`).

    >>> import numpy as np
    >>> p, m, v = np.ones(1), np.zeros(1), np.zeros(1)
    >>> adam([p], [np.full(1, 2.0)], [m], [v], lr=corrected_rate(0.1, 0.9, 0.999), eps=0.0); p.round(6)
    array([0.9])
    """
    beta1, beta2 = betas
    keep, penalty, shrink, decay = _decay(lr, weight_decay, decoupled)
    w1, far = lerp_weight(1 - beta1)
    rate, root_correction2 = (lr, None) if step is None else (lr / (1 - beta1**step), (1 - beta2**step) ** 0.5)
    coefficients = (-rate, w1, beta2, 1 - beta2, root_correction2, eps, penalty, keep, beta1, 1 - beta1)
    flags = (far, step is not None, nesterov, shrink, decay, maximize)
    return run(_adam, (params, grads, m, v, v_max), coefficients, *flags)


def corrected_rate(lr: Any, beta1_power: Any, beta2_power: Any) -> Any:
    """The rate that corrects the bias of Adam's averages, from the betas to the power of the step."""
    left = 1 - beta2_power
    return lr * (sqrt(left) if isinstance(left, Value) else np.sqrt(left)) / (1 - beta1_power)


GRADIENT, DECAYED, SCALE = "gradient", "decayed", "scale"
"""Where Adamax adds epsilon: to the gradient's magnitude, to the decayed maximum before both are compared, or to the
maximum where it divides."""


def _adamax(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, m: Array, u: Array, far: bool, eps_at: str, decay: bool,
    maximize: bool,
) -> Any:  # fmt: skip
    minus_rate, w1, beta2, eps, weight_decay = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    m = k.lerp(m, g, w1, far, t)
    u = k.multiply(u, beta2, u)
    if eps_at == DECAYED:
        u = k.add(u, eps, u)
    d = k.absolute(g, d)
    if eps_at == GRADIENT:
        d = k.add(d, eps, d)
    u = k.maximum(u, d, u)
    return k.addcdiv(p, m, k.add(u, eps, d) if eps_at == SCALE else u, minus_rate, t), m, u


@rule(4, step=2, lr=0.1)
def adamax(
    params: Arrays, grads: Arrays, m: Arrays, u: Arrays, *, step: float | None = None, lr: Any,
    betas: tuple[Any, Any] = (0.9, 0.999), eps: Any = 1e-8, eps_at: str = GRADIENT, weight_decay: float = 0.0,
    maximize: bool = False,
) -> Updated:  # fmt: skip
    """Adamax (Kingma and Ba 2015, section 7): the scale `u` is a decaying maximum of the gradient's magnitude.

    Without `step`, `lr` holds the correction of the bias of m. `eps_at` is GRADIENT, DECAYED or SCALE.
    """
    beta1, beta2 = betas
    w1, far = lerp_weight(1 - beta1)
    rate = lr if step is None else lr / (1 - beta1**step)
    coefficients = (-rate, w1, beta2, eps, weight_decay)
    return run(_adamax, (params, grads, m, u), coefficients, far, eps_at, weight_decay != 0, maximize)


def nadam_schedule(step: float, beta1: float, momentum_decay: float) -> tuple[float, float]:
    """NAdam's momentum coefficients for this step and the next."""
    now = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
    following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
    return now, following


def _nadam(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, m: Array, v: Array, far: bool, shrink: bool, decay: bool,
    maximize: bool,
) -> Any:  # fmt: skip
    minus_gradient_step, minus_average_step, w1, beta2, w2, correction2, eps, weight_decay, keep = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    if shrink:
        p = k.multiply(p, keep, p)
    m, v = _moments(k, work, g, m, v, w1, far, beta2, w2)
    d = k.divide(v, correction2, d)
    d = k.sqrt(d, d)
    d = k.add(d, eps, d)
    p = k.addcdiv(p, g, d, minus_gradient_step, t)
    return k.addcdiv(p, m, d, minus_average_step, t), m, v


@rule(4, step=2, mu=0.5, mu_next=0.6, mu_product=0.4, lr=0.1)
def nadam(
    params: Arrays, grads: Arrays, m: Arrays, v: Arrays, *, step: float, mu: float, mu_next: float, mu_product: float,
    lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
    decoupled: bool = False, maximize: bool = False,
) -> Updated:  # fmt: skip
    """NAdam (Dozat 2016): Adam with Nesterov momentum.

    `mu, mu_next` come from `nadam_schedule`; `mu_product` is the product of all mu up to this step, which the caller
    keeps.
    """
    beta1, beta2 = betas
    keep, penalty, shrink, decay = _decay(lr, weight_decay, decoupled)
    w1, far = lerp_weight(1 - beta1)
    gradient_step = lr * (1.0 - mu) / (1.0 - mu_product)
    average_step = lr * mu_next / (1.0 - mu_product * mu_next)
    correction2 = 1 - beta2**step
    coefficients = (-gradient_step, -average_step, w1, beta2, 1 - beta2, correction2, eps, penalty, keep)
    return run(_nadam, (params, grads, m, v), coefficients, far, shrink, decay, maximize)


def _radam(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, m: Array, v: Array, far: bool, shrink: bool, decay: bool,
    maximize: bool,
) -> Any:  # fmt: skip
    lr, w1, beta2, w2, correction1, root_correction2, rectification, rectified, eps, weight_decay, keep = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    if shrink:
        p = k.multiply(p, keep, p)
    m, v = _moments(k, work, g, m, v, w1, far, beta2, w2)
    t = k.divide(m, correction1, t)
    t = k.multiply(t, lr, t)
    if rectification is not None:
        d = k.sqrt(v, d)
        d = k.add(d, eps, d)
        d = k.divide(root_correction2, d, d)
        if rectified is None:
            t = k.multiply(t, d, t)
            t = k.multiply(t, rectification, t)
        else:  # known only as an array is
            t = k.choose(k.greater(rectified, 0), t * d * rectification, t)
    return k.subtract(p, t, p), m, v


@rule(4, step=9, lr=0.1)
def radam(
    params: Arrays, grads: Arrays, m: Arrays, v: Arrays, *, step: float, lr: float,
    betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, decoupled: bool = False,
    maximize: bool = False,
) -> Updated:  # fmt: skip
    """RAdam (Liu et al. 2020): Adam whose adaptive step is rectified, and left out while its variance is unbounded."""
    beta1, beta2 = betas
    keep, penalty, shrink, decay = _decay(lr, weight_decay, decoupled)
    w1, far = lerp_weight(1 - beta1)
    correction2 = 1 - beta2**step
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / correction2
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    if isinstance(length, (int, float)):
        rectification, rectified = math.sqrt(ratio) if length > 5.0 else None, None
        root_correction2: Any = math.sqrt(correction2)
    else:  # below the threshold the root may be nan, and is not chosen
        rectification, rectified, root_correction2 = ratio**0.5, length - 5, correction2**0.5
    corrections = (1 - beta1**step, root_correction2, rectification, rectified)
    coefficients = (lr, w1, beta2, 1 - beta2, *corrections, eps, penalty, keep)
    return run(_radam, (params, grads, m, v), coefficients, far, shrink, decay, maximize)


def adam_of_rows(
    params: Arrays, grads: Arrays, m: Arrays, v: Arrays, *, step: int, lr: float, betas: tuple[float, float], eps: float,
    maximize: bool,
) -> None:  # fmt: skip
    """Adam where each array holds only the rows that have a gradient: the averages move by what is new, and epsilon stands
    beside the bare root."""
    rate = corrected_rate(lr, betas[0] ** step, betas[1] ** step)
    for p, g, mean, square in zip(params, grads, m, v):
        g = -g if maximize else g
        mean += (g - mean) * (1 - betas[0])
        square += (g * g - square) * (1 - betas[1])
        p -= rate * (mean / (np.sqrt(square) + eps))
