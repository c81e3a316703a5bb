"""The update rules that accumulate squares, signs or the iterates: Adagrad, Adadelta, RMSprop, Rprop, ASGD.

Conventions as in `updates`: arrays first, in place; options by keyword; `step` counts from 1.
"""

from __future__ import annotations

from typing import Any

from .kernels import Array, run
from .updates import prepared


def _adagrad(
    k: Any, p: Array, g: Array, total: Array, step_size: float, eps: float, weight_decay: float, maximize: bool
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    k.addcmul_(total, g, g, 1.0, t)
    d = k.sqrt(total, d)
    k.add(d, eps, d)
    k.addcdiv_(p, g, d, -step_size, t)


def adagrad(
    p: Array,
    g: Array,
    total: Array,
    *,
    step: float,
    lr: float,
    lr_decay: float = 0.0,
    eps: float = 1e-10,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:
    """Adagrad (Duchi, Hazan and Singer 2011); `total` is the sum of squared gradients."""
    run(_adagrad, (p, g, total), lr / (1 + (step - 1) * lr_decay), eps, weight_decay, maximize)


def _adadelta(
    k: Any,
    p: Array,
    g: Array,
    v: Array,
    changes: Array,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    k.multiply(v, rho, v)
    k.addcmul_(v, g, g, 1.0 - rho, t)
    t = k.add(v, eps, t)
    t = k.sqrt(t, t)
    d = k.add(changes, eps, d)
    d = k.sqrt(d, d)
    d = k.divide(d, t, d)
    d = k.multiply(d, g, d)
    k.multiply(changes, rho, changes)
    k.addcmul_(changes, d, d, 1.0 - rho, t)
    k.axpy_(p, -lr, d, t)


def adadelta(
    p: Array,
    g: Array,
    v: Array,
    changes: Array,
    *,
    lr: float = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:
    """Adadelta (Zeiler 2012); `v` and `changes` are moving averages of the squared gradient and squared change."""
    run(_adadelta, (p, g, v, changes), lr, rho, eps, weight_decay, maximize)


def _rmsprop(
    k: Any,
    p: Array,
    g: Array,
    v: Array,
    mean: Array | None,
    buffer: Array | None,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    k.multiply(v, alpha, v)
    k.addcmul_(v, g, g, 1.0 - alpha, t)
    if mean is not None:
        k.lerp_(mean, g, 1.0 - alpha, t)
        d = k.copy(v, d)
        k.addcmul_(d, mean, mean, -1.0, t)
        d = k.sqrt(d, d)
    else:
        d = k.sqrt(v, d)
    k.add(d, eps, d)
    if buffer is not None:
        k.multiply(buffer, momentum, buffer)
        k.addcdiv_(buffer, g, d, 1.0, t)
        k.axpy_(p, -lr, buffer, t)
    else:
        k.addcdiv_(p, g, d, -lr, t)


def rmsprop(
    p: Array,
    g: Array,
    v: Array,
    mean: Array | None = None,
    buffer: Array | None = None,
    *,
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    maximize: bool = False,
) -> None:
    """RMSprop (Hinton, lecture 6e): centred where `mean` is given (Graves 2013), with momentum where `buffer` is."""
    run(_rmsprop, (p, g, v, mean, buffer), lr, alpha, eps, weight_decay, momentum, maximize)


def _rprop(
    k: Any,
    p: Array,
    g: Array,
    previous: Array,
    sizes: Array,
    shrink: float,
    grow: float,
    smallest: float,
    largest: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, 0.0, maximize, h, t)
    t = k.multiply(g, previous, t)
    turned = k.less(t, 0)
    k.scale_where_(sizes, grow, k.greater(t, 0))
    k.scale_where_(sizes, shrink, turned)
    k.clip(sizes, smallest, largest, sizes)
    d = k.copy(g, d)
    k.zero_where_(d, turned)
    k.subtract_where_(p, sizes, k.greater(d, 0))
    k.add_where_(p, sizes, k.less(d, 0))
    k.copy(d, previous)


def rprop(
    p: Array,
    g: Array,
    previous: Array,
    sizes: Array,
    *,
    etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50.0),
    maximize: bool = False,
) -> None:
    """Resilient propagation (Riedmiller and Braun 1993): a step per element that grows while its sign holds."""
    run(_rprop, (p, g, previous, sizes), *etas, *step_sizes, maximize)


def _asgd(
    k: Any,
    p: Array,
    g: Array,
    average: Array,
    eta: float,
    mu: float,
    lambd: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    t, d, h = k.scratch(p)
    g = prepared(k, p, g, weight_decay, maximize, h, t)
    k.multiply(p, 1 - lambd * eta, p)
    k.axpy_(p, -eta, g, t)
    if mu == 1:
        k.copy(p, average)
    else:
        d = k.subtract(p, average, d)
        k.axpy_(average, mu, d, t)


def asgd(
    p: Array,
    g: Array,
    average: Array,
    *,
    eta: float,
    mu: float,
    lambd: float = 1e-4,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); `average` holds the averaged iterate.

    The caller keeps the step size `eta` and the averaging weight `mu`, which `asgd_schedule` gives.
    """
    run(_asgd, (p, g, average), eta, mu, lambd, weight_decay, maximize)


def asgd_schedule(step: float, lr: float, lambd: float, alpha: float, t0: float) -> tuple[float, float]:
    """The step size and the averaging weight that ASGD uses after `step` steps."""
    return lr / (1 + lambd * lr * step) ** alpha, 1 / max(1, step - t0)
