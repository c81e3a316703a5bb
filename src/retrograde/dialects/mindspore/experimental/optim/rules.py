"""The optimisers with `param_groups` over the update rules of `retrograde.learn`: a row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....learn import accumulating, bridge, updates
from ...._shared.checks import check_nesterov
from ...._shared.option_rows import Optimisers
from ..._tensor import from_array
from .optimizer import Members, RuleOptimizer, rate_of

optimiser = Optimisers(
    RuleOptimizer, beside="step_t stat", reads="group['{}']", texts={"lr": "rate_of(group)"},
    types={"lr": "Any", "momentum": "float", "dampening": "float"}, column="self.{}[batch.place]",
    checks="betas in [0, 1); eps >= 0; weight_decay >= 0; momentum >= 0; dampening >= 0; alpha >= 0; rho >= 0; "
    "lr_decay >= 0; momentum_decay >= 0; initial_accumulator_value >= 0",
)  # fmt: skip


# ------------------------------------------------------------------------------------------ descent


def _in_floats(self: Any, row: Any, options: dict[str, Any]) -> None:
    row.check(options)
    check_nesterov("SGD", options["nesterov"], options["momentum"], options["dampening"])
    floats = {name: float(options[name]) for name in ("momentum", "dampening", "weight_decay")}
    super(SGD, self)._set_up(row, options | floats)


def _sgd(self: Any, group: dict[str, Any], members: Members) -> None:
    """Without dampening the first gradient enters as all others do."""
    first = group["dampening"] != 0 and bool((self.stat[members.place.start].asnumpy() != 0).all())
    for stat in self.stat[members.place]:
        bridge.put(stat, 0)
    self._run(group, members, first=first)


SGD = optimiser(
    "SGD", "params, lr, momentum=0, dampening=0, weight_decay=0.0, nesterov=False, *, maximize=False", updates.sgd,
    "Gradient descent, with momentum: `nesterov` needs some, and no dampening.", state="accum, stat = 1",
    columns="accum if momentum", _further={"grad_centralization": False}, _set_up=_in_floats, _step=_sgd,
)  # fmt: skip


def _asgd(self: Any, group: dict[str, Any], members: Members) -> None:
    options = group["lambd"], group["alpha"], group["t0"]
    eta, mu = accumulating.asgd_schedule(self._number - 1, rate_of(group), *options)
    self._run(group, members, eta=eta, mu=mu)


ASGD = optimiser(
    "ASGD", "params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, maximize=False", accumulating.asgd,
    "Averaged gradient descent (Polyak and Juditsky 1992).", state="ax, step_t",
    checks="lambd: float; alpha: object; t0: float", _step=_asgd,
)  # fmt: skip


def _rprop(self: Any, group: dict[str, Any], members: Members) -> None:
    for size in self.step_size[members.place]:
        bridge.put(size, rate_of(group), self._number == 1)
    self._run(group, members)


Rprop = optimiser(
    "Rprop", "params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, maximize=False", accumulating.rprop,
    "Resilient propagation (Riedmiller and Braun 1993).", state="prev, step_size, step_t", checks="etas: pair around 1",
    _further={"weight_decay": 0.0}, _step=_rprop,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sums and averages of squares

Adagrad = optimiser(
    "Adagrad",
    "params, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, *, maximize=False",
    accumulating.adagrad, "Adagrad (Duchi, Hazan and Singer 2011).", state="accum = initial_accumulator_value, step_t",
    order="lr, lr_decay, eps, weight_decay, initial_accumulator_value, maximize",
)  # fmt: skip
Adadelta = optimiser(
    "Adadelta", "params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, *, maximize=False", accumulating.adadelta,
    "Adadelta (Zeiler 2012).", state="accum, accum_update", checks="rho: float in [0, 1]",
)  # fmt: skip
RMSprop = optimiser(
    "RMSprop", "params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, maximize=False",
    accumulating.rmsprop, "RMSprop (Hinton, lecture 6e), centred where `centered`.",
    state="mean_grad, mean_square, moment", columns="mean_square, moment, mean_grad if centered",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Adam's family

_ADAM = {
    "state": "exp_avg, exp_avg_sq, max_exp_avg_sq, step_t: state_step",
    "columns": "exp_avg, exp_avg_sq, max_exp_avg_sq if amsgrad",
}


def _adam(self: Any, group: dict[str, Any], members: Members) -> None:
    powers = (beta**self._number for beta in group["betas"])
    self._run(group, members, lr=updates.corrected_rate(rate_of(group), *powers))


Adam = optimiser(
    "Adam", "params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, *, maximize=False",
    updates.adam,
    "Adam (Kingma and Ba 2015), AMSGrad where `amsgrad`; `eps` stands beside the bare root, as in `nn.Adam`.",
    fixed={"step": None}, _step=_adam, **_ADAM,
)  # fmt: skip
AdamW = optimiser(
    "AdamW", "params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, amsgrad=False, *, maximize=False",
    updates.adam,
    "Adam with weight decay outside of the averages (Loshchilov and Hutter 2019); `eps` beside the corrected root.",
    base=Adam, fixed={"decoupled": True}, _step=RuleOptimizer._run, **_ADAM,
)  # fmt: skip
Adamax = optimiser(
    "Adamax", "params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, maximize=False", updates.adamax,
    "Adamax (Kingma and Ba 2015, section 7).", state="step_t, exp_avg, exp_inf",
)  # fmt: skip
RAdam = optimiser(
    "RAdam", "params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0", updates.radam,
    "RAdam (Liu et al. 2020).", state="step_t, exp_avg, exp_avg_sq",
)  # fmt: skip


def _no_products(self: Any) -> None:
    self.__dict__["_products"] = {}


def _nadam(self: Any, group: dict[str, Any], members: Members) -> None:
    product = self._products.get(members.place.start)
    if product is None:
        product = self._products[members.place.start] = from_array(np.ones(()))
    further = bridge.nadam_coefficients([product], self._number, group["betas"][0], group["momentum_decay"])
    self._run(group, members, **further)


NAdam = optimiser(
    "NAdam", "params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3", updates.nadam,
    "NAdam (Dozat 2016).", state="step_t, exp_avg, exp_avg_sq", then=_no_products, _step=_nadam,
)  # fmt: skip
