"""The update rules that accumulate squares, signs or the iterates: Adagrad, Adadelta, RMSprop, Rprop, ASGD.

Conventions as in `updates`: parallel sequences of arrays first, in place; options by keyword; `step` counts from 1.
"""

from __future__ import annotations

from typing import Any

from ..core.arrays import full
from ..core.value import Value, dtype_of
from ..ops.samples import normal, sample
from ..ops.selection import maximum
from .blocks import Updated, Work, run
from .rules import rule, rule_of_one
from .statements import Array, lerp_weight
from .updates import Arrays, prepared


def _adagrad(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, total: Array, grows: bool, decay: bool, maximize: bool
) -> Any:
    minus_step, eps, weight_decay = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    if grows:
        total = k.addmul(total, g, g, t)
    d = k.sqrt(total, d)
    d = k.add(d, eps, d)
    return k.addcdiv(p, g, d, minus_step, t), total


@rule(3, step=2, lr=0.1)
def adagrad(
    params: Arrays, grads: Arrays, totals: Arrays, *, step: float, lr: float, lr_decay: float = 0.0, eps: float = 1e-10,
    weight_decay: float = 0.0, maximize: bool = False, grows: bool = True,
) -> Updated:  # fmt: skip
    """Adagrad (Duchi, Hazan and Singer 2011); `totals` are the sums of squared gradients, which stay unless `grows`."""
    coefficients = (-(lr / (1 + (step - 1) * lr_decay)), eps, weight_decay)
    return run(_adagrad, (params, grads, totals), coefficients, grows, weight_decay != 0, maximize)


def _adadelta(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, v: Array, changes: Array, decay: bool, maximize: bool
) -> Any:
    minus_lr, rho, w, eps, weight_decay = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    v = k.multiply(v, rho, v)
    v = k.addcmul(v, g, g, w, t)
    t = k.add(v, eps, t)
    t = k.sqrt(t, t)
    d = k.add(changes, eps, d)
    d = k.sqrt(d, d)
    d = k.divide(d, t, d)
    d = k.multiply(d, g, d)
    changes = k.multiply(changes, rho, changes)
    changes = k.addcmul(changes, d, d, w, t)
    return k.axpy(p, minus_lr, d, t), v, changes


@rule(4)
def adadelta(
    params: Arrays, grads: Arrays, v: Arrays, changes: Arrays, *, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
    weight_decay: float = 0.0, maximize: bool = False,
) -> Updated:  # fmt: skip
    """Adadelta (Zeiler 2012); `v` and `changes` are moving averages of the squared gradient and squared change."""
    coefficients = (-lr, rho, 1 - rho, eps, weight_decay)
    return run(_adadelta, (params, grads, v, changes), coefficients, weight_decay != 0, maximize)


def _rmsprop(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, v: Array, buffer: Array | None, mean: Array | None,
    far: bool, inside: bool, decay: bool, maximize: bool,
) -> Any:  # fmt: skip
    lr, minus_lr, alpha, w2, w1, minus_one, eps, momentum, weight_decay = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    v = k.multiply(v, alpha, v)
    v = k.addcmul(v, g, g, w2, t)
    d = k.copy(v, d)
    if mean is not None:
        if inside:
            mean = k.multiply(mean, alpha, mean)
            mean = k.axpy(mean, w2, g, t)
        else:
            mean = k.lerp(mean, g, w1, far, t)
        d = k.addcmul(d, mean, mean, minus_one, t)
    if inside:
        d = k.add(d, eps, d)
        d = k.sqrt(d, d)
    else:
        d = k.sqrt(d, d)
        d = k.add(d, eps, d)
    if buffer is None:
        return k.addcdiv(p, g, d, minus_lr, t), v, buffer, mean
    buffer = k.multiply(buffer, momentum, buffer)
    if inside:
        buffer = k.addcdiv(buffer, g, d, lr, t)
        p = k.subtract(p, buffer, p)
    else:
        buffer = k.adddiv(buffer, g, d, t)
        p = k.axpy(p, minus_lr, buffer, t)
    return p, v, buffer, mean


@rule(5, lr=0.1, momentum=0.9)
def rmsprop(
    params: Arrays, grads: Arrays, v: Arrays, buffers: Arrays | None = None, means: Arrays | None = None, *, lr: Any,
    alpha: Any = 0.99, eps: Any = 1e-8, weight_decay: float = 0.0, momentum: Any = 0.0, inside: bool = False,
    maximize: bool = False,
) -> Updated:  # fmt: skip
    """RMSprop (Hinton, lecture 6e): centred with `means` (Graves 2013), with momentum where there are buffers.

    inside: epsilon stands below the root, and the buffers hold steps, `b = momentum * b + lr * g / sqrt(v + eps)`,
    `p -= b`, instead of `b = momentum * b + g / (sqrt(v) + eps)`, `p -= lr * b`.
    """
    w1, far = lerp_weight(1 - alpha)
    coefficients = (lr, -lr, alpha, 1 - alpha, w1, -1.0, eps, momentum, weight_decay)
    return run(_rmsprop, (params, grads, v, buffers, means), coefficients, far, inside, weight_decay != 0, maximize)


def _rprop(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, previous: Array, sizes: Array, maximize: bool
) -> Any:
    shrink, grow, smallest, largest = coefficients
    t, d, _ = work
    if maximize:
        g = prepared(k, work, p, g, None, False, maximize)
    t = k.multiply(g, previous, t)
    turned = k.less(t, 0)
    sizes = k.scale_where(sizes, grow, k.greater(t, 0))
    sizes = k.scale_where(sizes, shrink, turned)
    sizes = k.clip(sizes, smallest, largest, sizes)
    d = k.copy(g, d)
    d = k.zero_where(d, turned)
    p = k.subtract_where(p, sizes, k.greater(d, 0))
    p = k.add_where(p, sizes, k.less(d, 0))
    return p, k.copy(d, previous), sizes


@rule(4)
def rprop(
    params: Arrays, grads: Arrays, previous: Arrays, sizes: Arrays, *, etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50.0), maximize: bool = False,
) -> Updated:  # fmt: skip
    """Resilient propagation (Riedmiller and Braun 1993): a step per element that grows while its sign holds."""
    return run(_rprop, (params, grads, previous, sizes), (*etas, *step_sizes), maximize)


def _asgd(
    k: Any, work: Work, coefficients: Any, p: Array, g: Array, average: Array, whole: bool, decay: bool, maximize: bool,
) -> Any:  # fmt: skip
    minus_eta, keep, mu, weight_decay = coefficients
    t, d, _ = work
    if decay or maximize:
        g = prepared(k, work, p, g, weight_decay, decay, maximize)
    p = k.multiply(p, keep, p)
    p = k.axpy(p, minus_eta, g, t)
    if whole:
        average = k.copy(p, average)
    else:
        d = k.subtract(p, average, d)
        average = k.axpy(average, mu, d, t)
    return p, average


@rule(3, eta=0.1, mu=0.5)
def asgd(
    params: Arrays, grads: Arrays, averages: Arrays, *, eta: float, mu: float, lambd: float = 1e-4,
    weight_decay: float = 0.0, maximize: bool = False,
) -> Updated:  # fmt: skip
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); `averages` hold the averaged iterates.

    The caller keeps the step size `eta` and the averaging weight `mu`, which `asgd_schedule` gives.
    """
    coefficients = (-eta, 1 - lambd * eta, mu, weight_decay)
    whole = isinstance(mu, (int, float)) and mu == 1
    return run(_asgd, (params, grads, averages), coefficients, whole, weight_decay != 0, maximize)


def asgd_schedule(step: Any, lr: Any, lambd: float, alpha: float, t0: float) -> tuple[Any, Any]:
    """The step size and the averaging weight that ASGD uses after `step` steps."""
    after = step - t0
    if isinstance(after, Value):
        return lr / (1 + lambd * lr * step) ** alpha, 1 / maximum(after, full((), 1, dtype_of(after), after), ties="half")
    return lr / (1 + lambd * lr * step) ** alpha, 1 / max(1, after)


def _averaged_samples() -> Any:
    options = (("count", 1), ("lr", 0.1))
    yield sample(normal(3), normal(3, seed=1), normal(3, seed=2), normal(2, 3), count=4, options=options)


@rule_of_one(_averaged_samples, lambda s: (s, (-1, *s)))
def averaged_gradients(p: Array, g: Array, total: Array, last: Array, *, count: int, lr: float) -> None:
    """Stochastic average gradient (Le Roux, Schmidt and Bach 2012), one NumPy parameter at a time.

    `last` holds the gradients of the last batches, each of which takes the place of the oldest, `total` their sum;
    `count` batches came before this one.
    """
    place = count % len(last)
    total -= last[place]
    total += g
    last[place] = g
    p -= total * p.dtype.type(lr / min(count + 1, len(last)))
