"""The Primitive classes that update parameters in place: one step of an optimiser each, as functions of arrays.

A rule gets the arrays of the parameter and of its slots, then numbers and the gradient, and returns the new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value
from ....learn import accumulating, proximal, updates
from ..._shared.registry import defined
from .._assign import written
from .._promote import tensor_argument

Rule = Callable[..., tuple[Any, ...]]


def _plain(x: Any) -> Any:
    return np.asarray(x._concrete("update")) if isinstance(x, Value) else x


def _number(x: Any) -> Any:
    """A scalar operand as a number of its dtype."""
    return x.reshape(())[()] if isinstance(x, np.ndarray) and x.size == 1 else x


def _stepped(rule: Any, var: Any, grad: Any, *slots: Any, **options: Any) -> tuple[Any, ...]:
    """What a rule of `retrograde.learn` makes of a parameter and its slots."""
    arrays = [None if x is None else np.array(x) for x in (var, grad, *slots)]
    given = arrays if hasattr(rule, "of_one") else [x if x is None else [x] for x in arrays]
    rule(*given, **{name: _number(x) for name, x in options.items()})
    return tuple(x for i, x in enumerate(arrays) if i != 1 and x is not None)


def _momentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool, gradient_scale: float,
              **_: Any) -> tuple[Any, ...]:  # fmt: skip
    grad = grad * np.asarray(gradient_scale, grad.dtype)
    return _stepped(updates.sgd, var, grad, accum, lr=lr, momentum=momentum, nesterov=use_nesterov)


def _adam(var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
          grad: Any, *, use_nesterov: bool = False, most: Any = None, **_: Any) -> tuple[Any, ...]:  # fmt: skip
    rate = updates.corrected_rate(*map(_number, (lr, beta1_power, beta2_power)))
    betas = _number(beta1), _number(beta2)
    return _stepped(updates.adam, var, grad, m, v, most, lr=rate, betas=betas, eps=epsilon, nesterov=use_nesterov)


def _amsgrad(var: Any, m: Any, v: Any, most: Any, *rest: Any, **_: Any) -> tuple[Any, ...]:
    return _adam(var, m, v, *rest, most=most)


def _adam_with_decay(var: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, grad: Any,
                     **_: Any) -> tuple[Any, ...]:  # fmt: skip
    betas = _number(beta1), _number(beta2)
    return _stepped(updates.adam, var, grad, m, v, lr=lr, betas=betas, eps=epsilon, weight_decay=decay, decoupled=True)


def _sgd(var: Any, grad: Any, lr: Any, accum: Any, momentum: Any, stat: Any, *, dampening: float, weight_decay: float,
         nesterov: bool) -> tuple[Any, ...]:  # fmt: skip
    grad = grad + weight_decay * var
    if np.any(momentum):
        accum = np.where(stat > 0, grad, accum * momentum + (1 - dampening) * grad)
        stat = np.zeros_like(stat)
        grad = grad + momentum * accum if nesterov else accum
    return var - lr * grad, accum, stat


def _adagrad(var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool = True, epsilon: float = 0.0) -> tuple[Any, ...]:
    return _stepped(accumulating.adagrad, var, grad, accum, step=1, lr=lr, eps=epsilon, grows=update_slots)


def _rmsprop(var: Any, square: Any, moment: Any, lr: Any, grad: Any, decay: Any, momentum: Any, epsilon: Any,
             **_: Any) -> tuple[Any, ...]:  # fmt: skip
    options = {"lr": lr, "alpha": _number(decay), "momentum": momentum, "eps": epsilon}
    return _stepped(accumulating.rmsprop, var, grad, square, moment, inside=True, **options)


def _centered_rmsprop(var: Any, mean: Any, square: Any, moment: Any, grad: Any, lr: Any, decay: Any, momentum: Any,
                      epsilon: Any, **_: Any) -> tuple[Any, ...]:  # fmt: skip
    options = {"lr": lr, "alpha": _number(decay), "momentum": momentum, "eps": epsilon}
    new = _stepped(accumulating.rmsprop, var, grad, square, moment, mean, inside=True, **options)
    return new[0], new[3], new[1], new[2]


def _adamax(var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
            grad: Any) -> tuple[Any, ...]:  # fmt: skip
    rate, betas = _number(lr) / (1 - _number(beta1_power)), (_number(beta1), _number(beta2))
    return _stepped(updates.adamax, var, grad, m, v, lr=rate, betas=betas, eps=epsilon, eps_at=updates.SCALE)


def _adadelta(var: Any, accum: Any, changes: Any, lr: Any, rho: Any, epsilon: Any, grad: Any) -> tuple[Any, ...]:
    return _stepped(accumulating.adadelta, var, grad, accum, changes, lr=lr, rho=rho, eps=epsilon)


def _power_sign(var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any) -> tuple[Any, ...]:
    m = beta * m + (1 - beta) * grad
    return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


def _add_sign(var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any) -> tuple[Any, ...]:
    m = beta * m + (1 - beta) * grad
    return var - lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad, m


def _proximal_descent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> tuple[Any, ...]:
    return (proximal.shrunk(var - alpha * delta, alpha * l1) / (1 + alpha * l2),)


def _proximal_adagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any, **_: Any) -> tuple[Any, ...]:
    return _stepped(proximal.proximal_adagrad, var, grad, accum, lr=lr, l1=l1, l2=l2)


def _ftrl(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any = 0.0, l2: Any = 0.0, lr_power: Any = -0.5,
          **_: Any) -> tuple[Any, ...]:  # fmt: skip
    return _stepped(proximal.ftrl, var, grad, accum, linear, lr=lr, l1=l1, l2=l2, lr_power=lr_power)


def _keras_momentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool, **_: Any) -> tuple[Any, ...]:
    accum = accum * momentum - lr * grad
    return var + (accum * momentum - lr * grad if use_nesterov else accum), accum


def _adagrad_da(var: Any, total: Any, squares: Any, grad: Any, lr: Any, l1: Any, l2: Any, step: Any, **_: Any) -> tuple[Any, ...]:
    total, squares = total + grad, squares + grad * grad
    bent = np.where(l1 > 0, proximal.shrunk(total, l1 * step), total)
    return -lr * bent / (l2 * step * lr + np.sqrt(squares)), total, squares


def _added_up(grad: Any, indices: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows that gradients of rows are of, each once, and the sum of the gradients of each."""
    rows, which = np.unique(indices, return_inverse=True)
    sums = np.zeros((len(rows), *grad.shape[1:]), grad.dtype)
    np.add.at(sums, which.reshape(-1), grad)
    return rows, sums


def _of_rows(rule: Rule, places: tuple[int, ...], at: int) -> Rule:
    """A rule for the rows that are named: the argument at `at` is the gradient of rows, the next one says of which."""

    def run(*args: Any, **attrs: Any) -> tuple[Any, ...]:
        rows, grad = _added_up(args[at], args[at + 1])
        own = [a[rows] if k in places else a for k, a in enumerate(args)]
        own[at : at + 2] = [grad]
        full = [args[place].copy() for place in places]
        for array, new in zip(full, rule(*own, **attrs)):
            array[rows] = new
        return tuple(full)

    return run


def _dense(rule: Rule, at: int) -> Rule:
    """A rule for all rows, those that have no gradient among them."""

    def run(*args: Any, **attrs: Any) -> tuple[Any, ...]:
        rows, sums = _added_up(args[at], args[at + 1])
        grad = np.zeros_like(args[0])
        grad[rows] = sums
        return rule(*args[:at], grad, *args[at + 2 :], **attrs)

    return run


def _ftrl_of_rows(var: Any, accum: Any, linear: Any, grad: Any, *, lr: float, l1: float, l2: float, lr_power: float,
                  l2_shrinkage: float = 0.0, **_: Any) -> tuple[Any, ...]:  # fmt: skip
    return _ftrl(var, accum, linear, grad + 2 * l2_shrinkage * var, lr, l1, l2, lr_power)


_ADAM = "use_locking=False, use_nesterov=False"
_FTRL = "lr, l1, l2, lr_power, use_locking=False"


# name -> (constructor, rule, places of the tensors that change among the arguments, whether the result is a tuple)
_RULES: dict[str, tuple[str, Rule, tuple[int, ...], bool]] = {
    "ApplyMomentum": ("use_nesterov=False, use_locking=False, gradient_scale=1.0", _momentum, (0, 1), False),
    "ApplyGradientDescent": ("", lambda var, alpha, delta: (var - alpha * delta,), (0,), False),
    "Adam": ("use_locking=False, use_nesterov=False", _adam, (0, 1, 2), True),
    "SGD": ("dampening=0.0, weight_decay=0.0, nesterov=False", _sgd, (0, 3, 5), False),
    "ApplyAdagrad": ("update_slots=True", _adagrad, (0, 1), True),
    "ApplyAdagradV2": ("epsilon, update_slots=True", _adagrad, (0, 1), True),
    "ApplyRMSProp": ("use_locking=False", _rmsprop, (0, 1, 2), False),
    "ApplyCenteredRMSProp": ("use_locking=False", _centered_rmsprop, (0, 1, 2, 3), False),
    "ApplyAdaMax": ("", _adamax, (0, 1, 2), True), "ApplyAdadelta": ("", _adadelta, (0, 1, 2), True),
    "ApplyPowerSign": ("", _power_sign, (0, 1), True), "ApplyAddSign": ("", _add_sign, (0, 1), True),
    "ApplyProximalGradientDescent": ("", _proximal_descent, (0,), False),
    "ApplyProximalAdagrad": ("use_locking=False", _proximal_adagrad, (0, 1), True),
    "ApplyFtrl": ("use_locking=False", _ftrl, (0, 1, 2), False),
    "ApplyKerasMomentum": ("use_locking=False, use_nesterov=False", _keras_momentum, (0, 1), True),
    "ApplyAdamWithAmsgradV2": ("use_locking=False", _amsgrad, (0, 1, 2, 3), True),
    "ApplyAdamWithAmsgrad": (
        "beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False", lambda *args, beta1, beta2, epsilon, **_: _amsgrad(
            *(*args[:7], beta1, beta2, epsilon, args[7])), (0, 1, 2, 3), True),
    "ApplyAdagradDA": ("use_locking=False", _adagrad_da, (0, 1, 2), False),
    "AdamWeightDecay": ("use_locking=False", _adam_with_decay, (0, 1, 2), True),
    "SparseApplyAdagrad": ("lr, update_slots=True, use_locking=False", _of_rows(
        lambda var, accum, grad, *, lr, update_slots, **_: _adagrad(var, accum, lr, grad, update_slots=update_slots),
        (0, 1), 2), (0, 1), True),
    "SparseApplyAdagradV2": ("lr, epsilon, update_slots=True, use_locking=False", _of_rows(
        lambda var, accum, grad, *, lr, use_locking, **how: _adagrad(var, accum, lr, grad, **how), (0, 1), 2), (0, 1), True),
    "SparseApplyFtrl": (_FTRL, _of_rows(_ftrl_of_rows, (0, 1, 2), 3), (0, 1, 2), True),
    "SparseApplyFtrlV2": ("lr, l1, l2, l2_shrinkage, lr_power, use_locking=False", _of_rows(_ftrl_of_rows, (0, 1, 2), 3),
                          (0, 1, 2), True),
    "SparseApplyProximalAdagrad": ("use_locking=False", _of_rows(_proximal_adagrad, (0, 1), 5), (0, 1), True),
    "SparseApplyRMSProp": ("rho, momentum, epsilon, use_locking=False", _of_rows(
        lambda var, square, moment, lr, grad, *, rho, momentum, epsilon, **_: _rmsprop(
            var, square, moment, lr, grad, rho, momentum, epsilon), (0, 1, 2), 4), (0, 1, 2), True),
    "SparseApplyCenteredRMSProp": ("use_locking=False", _of_rows(
        lambda var, mean, square, moment, lr, rho, momentum, epsilon, grad, **_: _centered_rmsprop(
            var, mean, square, moment, grad, lr, rho, momentum, epsilon), (0, 1, 2, 3), 8), (0, 1, 2, 3), False),
    "SparseApplyAdadelta": ("epsilon, use_locking=False", _of_rows(
        lambda var, accum, changes, lr, rho, grad, *, epsilon, **_: _adadelta(var, accum, changes, lr, rho, epsilon, grad),
        (0, 1, 2), 5), (0, 1, 2), True),
    "SparseApplyMomentum": ("use_locking=False, use_nesterov=False", _of_rows(
        lambda *args, use_nesterov, **_: _momentum(*args, use_nesterov=use_nesterov, gradient_scale=1.0), (0, 1), 3),
        (0, 1), False),
    "SparseApplyAdagradDA": ("use_locking=False", _of_rows(_adagrad_da, (0, 1, 2), 3), (0, 1, 2), False),
    "SparseApplyProximalGradientDescent": ("use_locking=False", _of_rows(
        lambda *args, **_: _proximal_descent(*args), (0,), 4), (0,), False),
    "FusedSparseAdam": (_ADAM, _dense(_adam, 9), (0, 1, 2), True),
    "FusedSparseLazyAdam": (_ADAM, _of_rows(_adam, (0, 1, 2), 9), (0, 1, 2), True),
    "FusedSparseFtrl": (_FTRL, _of_rows(_ftrl_of_rows, (0, 1, 2), 3), (0, 1, 2), True),
    "FusedSparseProximalAdagrad": ("use_locking=False", _of_rows(_proximal_adagrad, (0, 1), 5), (0, 1), True),
}  # fmt: skip


def _updating(name: str, rule: Rule, places: tuple[int, ...], several: bool) -> Callable[..., Any]:
    def run(*args: Any, **attrs: Any) -> Any:
        for place in places:
            tensor_argument(name, args[place], f"argument {place + 1}")
        new = rule(*(_plain(a) for a in args), **attrs)
        found = [
            written(name, args[place], np.asarray(array, _plain(args[place]).dtype))
            for place, array in zip(places, new)
        ]
        return tuple(found) if several else found[0]

    return defined(name, run)


ROWS: dict[str, tuple[str, Callable[..., Any]]] = {
    name: (signature, _updating(name, rule, places, several)) for name, (signature, rule, places, several) in _RULES.items()
}
