"""The update rules of gradient descent and of the Adam family, in place on plain arrays.

Each function takes the parameter, its gradient and its state arrays (same shape and dtype), then the options by
keyword, and changes the parameter and the state; the gradient is only read. `step` counts from 1. The order of the
floating-point operations is that of the published reference implementations, so results agree to the last bits.
The rules that accumulate squares or signs are in `accumulating`, those for matrices in `factored`.
"""

from __future__ import annotations

import math
from typing import Any

from .kernels import Array, run


def prepared(k: Any, p: Array, g: Array, weight_decay: float, maximize: bool, h: Array, t: Array) -> Array:
    """The gradient to descend along: negated to maximise, with the gradient of an L2 penalty added (g itself or h)."""
    if maximize:
        g = k.negative(g, h)
        if weight_decay != 0:
            k.axpy_(g, weight_decay, p, t)
    elif weight_decay != 0:
        g = k.plus(g, weight_decay, p, h)
    return g


def _sgd(
    k: Any,
    p: Array,
    g: Array,
    buffer: Array | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    if buffer is not None:
        if first:
            # The first gradient enters as a constant where the update itself is differentiated, as in PyTorch.
            k.copy(k.constant(g), buffer)
        else:
            k.multiply(buffer, momentum, buffer)
            k.axpy_(buffer, 1.0 - dampening, g, t)
        g = k.plus(g, momentum, buffer, d) if nesterov else buffer
    k.axpy_(p, -lr, g, t)


def sgd(
    p: Array,
    g: Array,
    buffer: Array | None = None,
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
    first: bool = False,
) -> None:
    """Gradient descent: `p -= lr * g`, with momentum where a buffer is given (`first` fills it with the gradient).

    >>> import numpy as np
    >>> p = np.ones(2); sgd(p, np.array([1.0, 2.0]), lr=0.5); p
    array([0.5, 0. ])
    """
    run(_sgd, (p, g, buffer), lr, momentum, dampening, weight_decay, nesterov, maximize, first)


def _adam(
    k: Any,
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    v_max: Array | None,
    step_size: float,
    beta1: float,
    beta2: float,
    eps: float,
    root_correction2: float,
    weight_decay: float,
    keep: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    if keep != 1.0:
        k.multiply(p, keep, p)
    k.lerp_(m, g, 1.0 - beta1, t)
    k.multiply(v, beta2, v)
    k.addcmul_(v, g, g, 1.0 - beta2, t)
    if v_max is not None:
        k.maximum(v_max, v, v_max)
        v = v_max
    d = k.sqrt(v, d)
    k.divide(d, root_correction2, d)
    k.add(d, eps, d)
    k.addcdiv_(p, m, d, -step_size, t)


def adam(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    v_max: Array | None = None,
    *,
    step: float,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled: bool = False,
    maximize: bool = False,
) -> None:
    """Adam (Kingma and Ba 2015), AdamW where `decoupled` (Loshchilov and Hutter 2019), AMSGrad where `v_max` is given.

    `m` and `v` are the moving averages of the gradient and of its square, `v_max` the largest v so far.
    """
    beta1, beta2 = betas
    step_size = lr / (1 - beta1**step)
    root_correction2 = (1 - beta2**step) ** 0.5
    keep = 1 - lr * weight_decay if decoupled else 1.0
    penalty = 0.0 if decoupled else weight_decay
    run(_adam, (p, g, m, v, v_max), step_size, beta1, beta2, eps, root_correction2, penalty, keep, maximize)


def _adamax(
    k: Any,
    p: Array,
    g: Array,
    m: Array,
    u: Array,
    step_size: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    k.lerp_(m, g, 1.0 - beta1, t)
    k.multiply(u, beta2, u)
    d = k.absolute(g, d)
    d = k.add(d, eps, d)
    k.maximum(u, d, u)
    k.addcdiv_(p, m, u, -step_size, t)


def adamax(
    p: Array,
    g: Array,
    m: Array,
    u: Array,
    *,
    step: float,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:
    """Adamax (Kingma and Ba 2015, section 7): the scale `u` is a decaying maximum of the gradient's magnitude."""
    beta1, beta2 = betas
    step_size = lr / (1 - beta1**step)
    run(_adamax, (p, g, m, u), step_size, beta1, beta2, eps, weight_decay, maximize)


def nadam_schedule(step: float, beta1: float, momentum_decay: float) -> tuple[float, float]:
    """NAdam's momentum coefficients for this step and the next."""
    now = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
    following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
    return now, following


def _nadam(
    k: Any,
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    gradient_step: float,
    average_step: float,
    beta1: float,
    beta2: float,
    eps: float,
    correction2: float,
    weight_decay: float,
    keep: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    if keep != 1.0:
        k.multiply(p, keep, p)
    k.lerp_(m, g, 1.0 - beta1, t)
    k.multiply(v, beta2, v)
    k.addcmul_(v, g, g, 1.0 - beta2, t)
    d = k.divide(v, correction2, d)
    d = k.sqrt(d, d)
    k.add(d, eps, d)
    k.addcdiv_(p, g, d, -gradient_step, t)
    k.addcdiv_(p, m, d, -average_step, t)


def nadam(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    *,
    step: float,
    mu: float,
    mu_next: float,
    mu_product: float,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled: bool = False,
    maximize: bool = False,
) -> None:
    """NAdam (Dozat 2016): Adam with Nesterov momentum.

    `mu, mu_next` come from `nadam_schedule`; `mu_product` is the product of all mu up to this step, which the caller
    keeps.
    """
    beta1, beta2 = betas
    gradient_step = lr * (1.0 - mu) / (1.0 - mu_product)
    average_step = lr * mu_next / (1.0 - mu_product * mu_next)
    keep = 1 - lr * weight_decay if decoupled else 1.0
    penalty = 0.0 if decoupled else weight_decay
    scalars = (gradient_step, average_step, beta1, beta2, eps, 1 - beta2**step, penalty, keep, maximize)
    run(_nadam, (p, g, m, v), *scalars)


def _radam(
    k: Any,
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    correction1: float,
    rectified: tuple[float, float] | None,
    weight_decay: float,
    keep: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    if keep != 1.0:
        k.multiply(p, keep, p)
    k.lerp_(m, g, 1.0 - beta1, t)
    k.multiply(v, beta2, v)
    k.addcmul_(v, g, g, 1.0 - beta2, t)
    t = k.divide(m, correction1, t)
    t = k.multiply(t, lr, t)
    if rectified is not None:
        root_correction2, rectification = rectified
        d = k.sqrt(v, d)
        k.add(d, eps, d)
        d = k.divide(root_correction2, d, d)
        t = k.multiply(t, d, t)
        t = k.multiply(t, rectification, t)
    k.subtract(p, t, p)


def radam(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    *,
    step: float,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled: bool = False,
    maximize: bool = False,
) -> None:
    """RAdam (Liu et al. 2020): Adam whose adaptive step is rectified, and left out while its variance is unbounded."""
    beta1, beta2 = betas
    correction2 = 1 - beta2**step
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / correction2
    rectified = None
    if length > 5.0:
        ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        rectified = (math.sqrt(correction2), math.sqrt(ratio))
    keep = 1 - lr * weight_decay if decoupled else 1.0
    penalty = 0.0 if decoupled else weight_decay
    run(_radam, (p, g, m, v), lr, beta1, beta2, eps, 1 - beta1**step, rectified, penalty, keep, maximize)
