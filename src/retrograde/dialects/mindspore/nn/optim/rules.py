"""The optimisers over the update rules of `retrograde.learn`: a row each. LARS stands in lars.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....learn import accumulating, bridge, factored, proximal, updates
from ...._shared.checks import check_nesterov
from ...._shared.option_rows import Optimisers
from ..._parameter import Parameter
from ..._tensor import Tensor, from_array
from .._checks import a_bool, not_negative_float
from .optimizer import RuleOptimizer, _Chosen, number

optimiser = Optimisers(
    RuleOptimizer, beside="stat mu eta", types={"learning_rate": "Any", "weight_decay": "Any"}, column="self.{}",
    texts={"learning_rate": "batch.lr", "weight_decay": "batch.weight_decay", "momentum": "number(self.momentum)"},
    called={"lr": "learning_rate", "betas": ("beta1", "beta2"), "eps": "epsilon", "nesterov": "use_nesterov", "alpha": "decay"},
    checks="beta1: float in (0, 1); beta2: float in (0, 1); eps: float > 0; epsilon: float >= 0; momentum: float >= 0; "
    "accum: float >= 0; initial_accum: float >= 0; l1: float >= 0; l2: float >= 0; decay: float >= 0; use_locking: bool; "
    "use_nesterov: bool; nesterov: bool; use_amsgrad: bool; centered: bool; update_slots: bool",
)  # fmt: skip


# ------------------------------------------------------------------------------------------ descent


def _check_sgd(self: Any) -> None:
    check_nesterov("SGD", self.nesterov, number(self.momentum), self.dampening)
    if self.dynamic_weight_decay:
        raise TypeError("SGD: weight_decay must be a number; a schedule goes with the other optimizers")
    self.dampening, self._has_momentum = float(self.dampening), number(self.momentum) != 0


def _sgd(self: Any, chosen: _Chosen) -> None:
    """Without dampening the first gradient enters as all others do."""
    momentum = number(self.momentum)
    moving = self._has_momentum if isinstance(momentum, Tensor) else momentum != 0
    stats = chosen.of(self.stat)
    first = self.dampening != 0 and bool((stats[0].asnumpy() != 0).all())
    for stat in stats:
        bridge.put(stat, 0)
    chosen.update(
        updates.sgd, self.accum if moving else None, lr=chosen.lr, momentum=momentum, dampening=np.float32(self.dampening),
        nesterov=self.nesterov, first=first,
    )  # fmt: skip


SGD = optimiser(
    "SGD", "params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, loss_scale=1.0",
    updates.sgd, "Gradient descent, with momentum and dampening: the first gradient enters the momentum undamped.",
    state="accum, stat = 1", checks="momentum: number >= 0; dampening: number >= 0", _scalars=("momentum",),
    _number=float, then=_check_sgd, _step=_sgd,
)  # fmt: skip
Momentum = optimiser(
    "Momentum", "params, learning_rate, momentum: float, weight_decay=0.0, loss_scale=1.0, use_nesterov=False",
    updates.sgd, "`v = momentum * v + g`, `p -= lr * v`; with `use_nesterov`, `p -= lr * (g + momentum * v)`.",
    state="moments", _scalars=("momentum",),
)  # fmt: skip


def _coefficients(self: Any) -> None:
    self.mu, self.eta = self._state("mu_", lambda p: 1.0), self._state("eta_", lambda p: 0.0)


def _asgd(self: Any, chosen: _Chosen) -> None:
    step, lr = bridge.count_of(self.global_step), chosen.lr if isinstance(chosen.lr, Tensor) else float(chosen.lr)
    etas, mus = chosen.of(self.eta), chosen.of(self.mu)
    bridge.put(etas[0], lr, step == 0)
    eta = lr if isinstance(step, int) and step == 0 else bridge.count_of(etas[0])
    self._run(chosen, eta=eta, mu=bridge.count_of(mus[0]))
    eta, mu = accumulating.asgd_schedule(step + 1, lr, self.lambd, self.alpha, self.t0)
    for e, m in zip(etas, mus):
        bridge.put(e, eta)
        bridge.put(m, mu)


ASGD = optimiser(
    "ASGD", "params, learning_rate=0.1, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0", accumulating.asgd,
    "Averaged gradient descent (Polyak and Juditsky 1992); `ax` holds the averages.", state="ax: ax_.",
    checks="lambd: float; alpha: float; t0: float", _single=True, _number=float, then=_coefficients, _step=_asgd,
)  # fmt: skip


def _check_steps(self: Any) -> None:
    for name, pair in (("etas", self.etas), ("step_sizes", self.step_sizes)):
        if len(pair) != 2:
            raise ValueError(f"Rprop: {name} must have two values, got {len(pair)}")
    if not 0 < self.etas[0] < 1 < self.etas[1]:
        raise ValueError(f"Rprop: etas are {self.etas}; wanted 0 < first < 1 < second")
    if self.step_sizes[0] > self.step_sizes[1]:
        raise ValueError(f"Rprop: the least step must not be above the largest, got {self.step_sizes}")


def _rprop(self: Any, chosen: _Chosen) -> None:
    first = bridge.count_of(self.global_step) == 0
    for size in chosen.of(self.step_size):
        bridge.put(size, chosen.lr, first)
    self._run(chosen)


Rprop = optimiser(
    "Rprop", "params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0), weight_decay=0.0",
    accumulating.rprop, "Resilient propagation (Riedmiller and Braun 1993).", state="prev, step_size",
    checks="etas: floats; step_sizes: floats", _single=True, then=_check_steps, _step=_rprop,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sums and averages of squares

Adagrad = optimiser(
    "Adagrad", "params, accum=0.1, learning_rate=1e-3, update_slots=True, loss_scale=1.0, weight_decay=0.0",
    accumulating.adagrad, "`accum += g**2`, `p -= lr * g / sqrt(accum)`; `accum` stays as it is unless `update_slots`.",
    state="accum = accum", fixed={"step": 1, "eps": 0.0}, called={"grows": "update_slots"},
)  # fmt: skip
Adadelta = optimiser(
    "Adadelta", "params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0",
    accumulating.adadelta, "Adadelta (Zeiler 2012).", state="accum, accum_update", checks="rho: float in [0, 1]",
)  # fmt: skip
RMSProp = optimiser(
    "RMSProp",
    "params, learning_rate=0.1, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, "
    "loss_scale=1.0, weight_decay=0.0", accumulating.rmsprop,
    "RMSprop with `epsilon` below the root and the rate in the momentum; the mean square starts at 1.",
    state="mg: mean_grad if centered, ms: mean_square = 1, moment", columns="ms, moment, mg if centered",
    checks="epsilon: float > 0", fixed={"inside": True},
)  # fmt: skip


def _check_one_rate(self: Any) -> None:
    if self.dynamic_lr or self.is_group_lr:
        raise ValueError("FTRL: the learning rate must be one number for all steps and parameters")


FTRL = optimiser(
    "FTRL",
    "params, initial_accum=0.1, learning_rate=1e-3, lr_power=-0.5, l1=0.0, l2=0.0, use_locking=False, loss_scale=1.0, "
    "weight_decay=0.0", proximal.ftrl, "Follow the regularised leader, proximal (McMahan et al. 2013).",
    state="moments = initial_accum, linear", checks="lr_power: float <= 0", then=_check_one_rate,
)  # fmt: skip
ProximalAdagrad = optimiser(
    "ProximalAdagrad",
    "params, accum=0.1, learning_rate=1e-3, l1=0.0, l2=0.0, use_locking=False, loss_scale=1.0, weight_decay=0.0",
    proximal.proximal_adagrad, "Adagrad with L1 and L2 penalties taken as proximal steps.", state="accum = accum",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Adam's family


def _check_storage(self: Any) -> None:
    """Options past the signature say how gradients are stored, and change nothing here."""
    name, further = self._row.name, self._further
    for option, value in further.items():
        if option not in ("use_lazy", "use_offload"):
            raise KeyError(f"{name}: unknown option {option}; there are use_lazy and use_offload")
        a_bool(name, option, value)
    if self.use_amsgrad and any(further.values()):
        raise ValueError(f"{name}: use_amsgrad does not go with use_lazy or use_offload")


def _scale_power(self: Any) -> None:
    bridge.scale(self.beta1_power, self.beta1)


def _scale_powers(self: Any) -> None:
    bridge.scale(self.beta1_power, self.beta1)
    bridge.scale(self.beta2_power, self.beta2)


def _adam(self: Any, chosen: _Chosen) -> None:
    self._run(chosen, lr=updates.corrected_rate(chosen.lr, number(self.beta1_power), number(self.beta2_power)))


_ADAM = (
    "params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False, "
    "weight_decay=0.0, loss_scale=1.0"
)
_MOMENTS = {"state": "moment1, moment2, vhat if use_amsgrad", "fixed": {"step": None}}
Adam = optimiser(
    "Adam", f"{_ADAM}, use_amsgrad=False, **kwargs: Any", updates.adam,
    "Adam (Kingma and Ba 2015) with the correction of the bias in the rate, so that `eps` stands beside the bare root.\n\n    "
    "use_amsgrad: the largest second moment so far takes its place. use_nesterov: the first moment a step ahead.\n    "
    "`use_locking`, and `use_lazy` and `use_offload`, which say how gradients are stored, change nothing here.",
    _scalars=("beta1_power", "beta2_power"), then=_check_storage, _begin=_scale_powers, _step=_adam, **_MOMENTS,
)  # fmt: skip
_STORED = {"state": "moment1, moment2", "fixed": {"step": None}, "base": Adam, "use_amsgrad": False, "vhat": None}
LazyAdam = optimiser(
    "LazyAdam", _ADAM, updates.adam, "Adam for sparse gradients; gradients here are dense, so it is Adam.", **_STORED,
)  # fmt: skip
AdamOffload = optimiser(
    "AdamOffload", _ADAM, updates.adam, "Adam with its state on the host, where it always is here.", **_STORED,
)  # fmt: skip
AdamWeightDecay = optimiser(
    "AdamWeightDecay", "params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0", updates.adam,
    "Adam without correction of the bias: `p -= lr * (m / (sqrt(v) + eps) + weight_decay * p)`.",
    state="moments1: adam_m, moments2: adam_v", fixed={"step": None, "decoupled": True}, _decays_gradient=False,
)  # fmt: skip


def _adamax(self: Any, chosen: _Chosen) -> None:
    self._run(chosen, lr=chosen.lr / (1 - number(self.beta1_power)))


AdaMax = optimiser(
    "AdaMax", "params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, loss_scale=1.0",
    updates.adamax, "Adamax (Kingma and Ba 2015, section 7), with `eps` added to the decaying maximum.",
    state="moment1, moment2", fixed={"step": None, "eps_at": updates.SCALE}, _scalars=("beta1_power",),
    _begin=_scale_power, _step=_adamax,
)  # fmt: skip
Lamb = optimiser(
    "Lamb", "params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0", proximal.lamb,
    "LAMB (You et al. 2020): Adam's step, per parameter scaled by the norm of the parameter over the step's.",
    state="moments1: lamb_m, moments2: lamb_v", _decays_gradient=False,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Adafactor


def _adafactor_set_up(self: Any, row: Any, options: dict[str, Any]) -> None:
    if options["learning_rate"] is not None and options["relative_step"]:
        raise ValueError("AdaFactor: learning_rate goes with relative_step=False only")
    if options["warmup_init"] and not options["relative_step"]:
        raise ValueError("AdaFactor: warmup_init goes with relative_step=True only")
    if options["learning_rate"] is None:
        options["learning_rate"] = 0.0
    super(AdaFactor, self)._set_up(row, options)


def _factors(self: Any) -> None:
    for value in self.eps:
        not_negative_float("AdaFactor", "eps", value)
    self.eps = tuple(self.eps)
    self.exp_avg = self._state("exp_avg") if self.beta1 > 0 else None
    zeros: dict[str, Any] = {
        "row": lambda p: p.shape[:-1] if p.ndim > 1 else (1,),
        "col": lambda p: (*p.shape[:-2], *p.shape[-1:]) if p.ndim > 1 else (1,),
        "": lambda p: (1,) if p.ndim > 1 else p.shape,
    }
    for kind, shape in zeros.items():
        name = f"exp_avg_sq_{kind}"
        setattr(self, name.rstrip("_"), self._state(f"{name.rstrip('_')}_", lambda p: np.zeros(shape(p))))  # noqa: B023
    self.step = Parameter(from_array(np.zeros(1, np.int32)), name="afactor_step")


def _adafactor(self: Any, chosen: _Chosen) -> None:
    step = int(self.step)
    rate = float(chosen.lr)
    if self.relative_step:
        rate = min(1e-6 * step if self.warmup_init else 1e-2, step**-0.5)
    for p, g, i in zip(chosen.params, chosen.grads, chosen.indices):
        factors = self.exp_avg_sq_row[i], self.exp_avg_sq_col[i], None
        bridge.update_one(
            factored.adafactor_averaged, p, g, *(factors if p.ndim > 1 else (None, None, self.exp_avg_sq[i])),
            None if self.exp_avg is None else self.exp_avg[i], lr=rate, keep=1 - step**-self.decay_rate, eps=self.eps,
            d=self.clip_threshold, beta1=self.beta1, scaled=self.scale_parameter, weight_decay=float(chosen.weight_decay),
        )  # fmt: skip


def _count(self: Any) -> None:
    bridge.advance(self.step)


AdaFactor = optimiser(
    "AdaFactor",
    "params, learning_rate=None, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=0.8, beta1=0.9, weight_decay=0.0, "
    "scale_parameter=True, relative_step=True, warmup_init=False, compression=False, loss_scale=1.0",
    factored.adafactor_averaged,
    "Adafactor (Shazeer and Stern 2018): the squared gradients of a matrix by the means of their rows and columns.\n\n    "
    "relative_step: the rate is the least of 0.01 (or, where `warmup_init`, of a millionth per step) and one over the root\n    "
    "of the step. scale_parameter: it is relative to the parameter's size. compression: states in half precision.",
    checks="eps: pair; clip_threshold: float > 0; decay_rate: float > 0; beta1: number >= 0; scale_parameter: bool; "
    "relative_step: bool; compression: bool",
    _decays_gradient=False, _number=float, then=_factors, _set_up=_adafactor_set_up, _begin=_count, _step=_adafactor,
)  # fmt: skip
