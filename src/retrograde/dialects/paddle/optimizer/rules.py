"""The optimisers over the update rules of `retrograde.learn`: a row each. LBFGS stands in lbfgs.py."""

from __future__ import annotations

from collections.abc import Callable as Callable
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn import accumulating, bridge, proximal, updates
from ..._shared.option_rows import Optimisers
from .._tensor import from_array
from .optimizer import Batch, RuleOptimizer, first_of

optimiser = Optimisers(
    RuleOptimizer,
    called={"lr": "learning_rate", "betas": ("beta1", "beta2"), "eps": "epsilon", "nesterov": "use_nesterov", "alpha": "rho"},
    checks="beta1 in [0, 1); beta2 in [0, 1); epsilon >= 0; momentum_decay >= 0",
    asserts="beta1 given; beta2 given; epsilon given; momentum_decay given",
    beside="beta1_pow_acc beta2_pow_acc beta1_pow beta2_pow momentum_decay_pow rho mu_product",
    texts={"learning_rate": "batch.lr", "weight_decay": "batch.decay"},
    types={"learning_rate": "Any", "name": "str | None"},
    reads="group.get('{0}', self._{0})", column="batch.column('{}')",
)  # fmt: skip


# ------------------------------------------------------------------------------------------ descent


def _momentum(self: Any, batch: Batch, group: dict[str, Any]) -> None:
    scale = self._option("rescale_grad", group)
    if scale != 1.0:
        batch.grads = [g * scale for g in batch.grads]
    RuleOptimizer._update(self, batch, group)


SGD = optimiser(
    "SGD", "learning_rate=0.001, parameters=None, weight_decay=None, grad_clip=None, multi_precision=False, name=None",
    updates.sgd, "p -= lr g.",
)  # fmt: skip
Momentum = optimiser(
    "Momentum",
    "learning_rate=0.001, momentum=0.9, parameters=None, use_nesterov=False, weight_decay=None, grad_clip=None, "
    "multi_precision=False, rescale_grad=1.0, use_multi_tensor=False, name=None", updates.sgd,
    "v = momentum v + g; p -= lr v, or lr (g + momentum v) with `use_nesterov`.", state="velocity",
    checks="momentum given", _update=_momentum,
)  # fmt: skip


def _asgd(self: Any, batch: Batch, group: dict[str, Any]) -> None:
    for p, g in zip(batch.params, batch.grads):
        state = self._state(p)
        count = bridge.count_of(state["m"])
        bridge.update_one(accumulating.averaged_gradients, p, g, state["d"], state["y"], count=count, lr=batch.lr)
        bridge.advance(state["m"])


def _batches_kept(self: Any, name: str, p: Any) -> Any:
    if name == "m":
        return from_array(np.zeros((1,), np.int64))
    return bridge.zeros_like(p) if name == "d" else from_array(np.zeros((self._batch_num, *shape_of(p)), dtype_of(p)))


ASGD = optimiser(
    "ASGD",
    "learning_rate=0.001, batch_num=1, parameters=None, weight_decay=None, grad_clip=None, multi_precision=False, "
    "name=None", accumulating.averaged_gradients,
    "Averaged gradients: p -= lr times the mean of the last gradients of `batch_num` batches in turn.", state="d, y, m",
    checks="batch_num given; batch_num > 0", _initial=_batches_kept, _update=_asgd,
)  # fmt: skip


def _check_range(self: Any) -> None:
    low, high = self._learning_rate_range
    rate = self._learning_rate if isinstance(self._learning_rate, float) else low
    if not 0.0 < low <= rate <= high:
        raise ValueError(f"Rprop: learning_rate_range must hold the learning rate and be positive, got {(low, high)}")


def _first_sizes(self: Any, name: str, p: Any) -> Any:
    return bridge.zeros_like(p) if name == "prevs" else bridge.full_like(p, self.get_lr())


Rprop = optimiser(
    "Rprop",
    "learning_rate=0.001, learning_rate_range=(1e-5, 50), parameters=None, etas=(0.5, 1.2), grad_clip=None, "
    "multi_precision=False, name=None", accumulating.rprop,
    "Resilient propagation (Riedmiller and Braun 1993): a step per element that grows while its sign holds.",
    state="prevs, learning_rates", checks="etas: pair around 1", called={"step_sizes": "learning_rate_range"},
    then=_check_range, _initial=_first_sizes,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sums and averages of squares


def _show_start(self: Any) -> None:
    self.initial_accumulator_value = self._initial_accumulator_value


Adagrad = optimiser(
    "Adagrad",
    "learning_rate, epsilon=1e-6, parameters=None, weight_decay=None, grad_clip=None, initial_accumulator_value=0.0, "
    "name=None", accumulating.adagrad,
    "Adagrad (Duchi, Hazan and Singer 2011): the scale is the root of the sum of squares.",
    state="moment = initial_accumulator_value", fixed={"step": 1}, then=_show_start,
)  # fmt: skip
Adadelta = optimiser(
    "Adadelta",
    "learning_rate=0.001, epsilon=1e-6, rho=0.95, parameters=None, weight_decay=None, grad_clip=None, name=None",
    accumulating.adadelta, "Adadelta (Zeiler 2012), its step times the learning rate.",
    state="_avg_squared_grad, _avg_squared_update", checks="epsilon given; rho given",
)  # fmt: skip
RMSProp = optimiser(
    "RMSProp",
    "learning_rate, rho=0.95, epsilon=1e-6, momentum=0.0, centered=False, parameters=None, weight_decay=None, "
    "grad_clip=None, name=None", accumulating.rmsprop,
    "RMSprop (Hinton, lecture 6e) with epsilon below the root and the rate in the momentum.",
    state="momentum, mean_square, mean_grad", columns="mean_square, momentum, mean_grad if centered",
    checks="rho given; epsilon given; momentum given; epsilon >= 0; momentum >= 0; rho >= 0", fixed={"inside": True},
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Adam's family

Adam = optimiser(
    "Adam",
    "learning_rate=0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, parameters=None, "
    "weight_decay=None, grad_clip=None, lazy_mode=False, multi_precision=False, use_multi_tensor=False, "
    "amsgrad=False, name=None", updates.adam, "Adam (Kingma and Ba 2015); AMSGrad (Reddi et al. 2018) where `amsgrad`.",
    state="moment1, moment2, moment2_max if amsgrad, beta1_pow_acc, beta2_pow_acc",
    _counts_by=("beta1_pow_acc", "beta1", 1),
)  # fmt: skip


def _number(self: Any, decay: Any) -> float:
    if isinstance(decay, Value):
        return float(decay.item())
    if not isinstance(decay, (float, int)):
        raise TypeError(f"AdamW: weight_decay must be a number or a Tensor, got {type(decay).__name__}")
    return float(decay)


def _own_decay(self: Any) -> None:
    self._coeff, self.regularization = self.regularization, None
    if self._lr_ratio is not None:
        raise NotImplementedError("AdamW: lr_ratio works on GPUs only; use parameter groups with rates of their own")


def _decays(self: Any, p: Any, g: Any, group: dict[str, Any]) -> tuple[float, Any]:
    applies = self._apply_decay_param_fun is None or self._apply_decay_param_fun(p.name)
    return (group.get("weight_decay", self._coeff) if applies else 0.0), g


AdamW = optimiser(
    "AdamW",
    "learning_rate=0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, parameters=None, "
    "weight_decay: Any = 0.01, use_lowprecision_moment=False, lr_ratio: Callable[[Any], float] | None = None, "
    "apply_decay_param_fun: Callable[[str], bool] | None = None, grad_clip=None, lazy_mode=False, multi_precision=False, "
    "amsgrad=False, name=None",
    updates.adam,
    "Adam whose weights decay by themselves (Loshchilov and Hutter 2019).\n\n    apply_decay_param_fun: says by its name "
    "whether a parameter decays.",
    base=Adam, state="moment1, moment2, moment2_max if amsgrad, beta1_pow_acc, beta2_pow_acc", fixed={"decoupled": True},
    then=_own_decay, _regularizer=_number, _penalised=_decays,
)  # fmt: skip
Adamax = optimiser(
    "Adamax",
    "learning_rate=0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, parameters=None, "
    "weight_decay=None, grad_clip=None, name=None",
    updates.adamax, "Adamax (Kingma and Ba 2015, section 7): the scale is a decaying maximum of the gradient's magnitude.",
    state="moment, inf_norm, beta1_pow_acc", fixed={"eps_at": updates.DECAYED}, _counts_by=("beta1_pow_acc", "beta1", 1),
)  # fmt: skip


def _check_rate(self: Any) -> None:
    if isinstance(self._learning_rate, float) and not self._learning_rate >= 0:
        raise ValueError(f"{self._row.name}: learning_rate is {self._learning_rate}; wanted at least 0")


def _nadam(self: Any, batch: Batch, group: dict[str, Any]) -> None:
    for part in bridge.batches(self._entries(batch, group, "mu")):
        beta1, decay = group.get("beta1", self._beta1), group.get("momentum_decay", self._momentum_decay)
        further = bridge.nadam_coefficients(part.column("mu"), part.step, beta1, decay)
        for shown in part.column("mu_product"):
            bridge.put(shown, further["mu_product"])
        self._run(part, group, batch, step=part.step, **further)


def _nadam_loaded(self: Any, state: dict[str, Any]) -> None:
    super(NAdam, self)._loaded(state)
    state["mu"] = from_array(np.array(first_of(state["mu_product"])))


NAdam = optimiser(
    "NAdam",
    "learning_rate=0.002, beta1=0.9, beta2=0.999, epsilon=1e-8, momentum_decay=0.004, parameters=None, "
    "weight_decay=None, grad_clip=None, name=None", updates.nadam, "NAdam (Dozat 2016): Adam with Nesterov momentum.",
    state="momentum_decay_pow, beta2_pow, mu_product = 1, moment1, moment2", then=_check_rate,
    _counts_by=("beta2_pow", "beta2", 0), _loaded=_nadam_loaded, _update=_nadam,
)  # fmt: skip
RAdam = optimiser(
    "RAdam",
    "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, parameters=None, weight_decay=None, grad_clip=None, "
    "name=None", updates.radam,
    "RAdam (Liu et al. 2020): Adam whose adaptive step waits until its variance is bounded.",
    state="beta1_pow, beta2_pow, rho, moment1, moment2", then=_check_rate, _counts_by=("beta2_pow", "beta2", 0),
)  # fmt: skip


def _lamb(self: Any, batch: Batch, group: dict[str, Any]) -> None:
    exclude, options = self._exclude_from_weight_decay_fn, self._options(group, batch)
    every = options["weight_decay"]
    for p, g, state, (step,) in self._entries(batch, group):
        options["weight_decay"] = decay = 0.0 if exclude is not None and exclude(p) else every
        adapt = self._always_adapt or decay != 0
        bridge.update_one(proximal.lamb, p, g, state["moment1"], state["moment2"], step=step, adapt=adapt, **options)


Lamb = optimiser(
    "Lamb",
    "learning_rate=0.001, lamb_weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-6, parameters=None, "
    "grad_clip=None, exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None, multi_precision=False, "
    "always_adapt=False, name=None",
    proximal.lamb,
    "LAMB (You et al. 2020): Adam's direction with weight decay, scaled to the norm of the parameter.\n\n    "
    "exclude_from_weight_decay_fn: says of a parameter whether it does not decay.",
    state="moment1, moment2, beta1_pow_acc, beta2_pow_acc",
    asserts="lamb_weight_decay given; beta1 given; beta2 given; epsilon given", _counts_by=("beta1_pow_acc", "beta1", 1),
    called={"weight_decay": "lamb_weight_decay"}, _update=_lamb,
)  # fmt: skip
