"""The optimisers over the update rules of `retrograde.learn`: a row each. LBFGS stands in lbfgs.py."""

from __future__ import annotations

import math
from typing import Any

from ....core.number import as_float
from ....learn import accumulating, bridge, factored, updates
from ... import torch
from ..._shared.checks import check_nesterov
from ..._shared.option_rows import Optimisers
from .._dtype import finfo
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT as ParamsT
from .optimizer import RuleOptimizer

optimiser = Optimisers(
    RuleOptimizer, called={"decoupled": "decoupled_weight_decay"}, reads="group['{}']", column="batch.column('{}')", modules=True,
    types={"params": "ParamsT", "lr": "Any", "foreach": "bool | None", "fused": "bool | None", "weight_decay": "float",
           "momentum": "float", "dampening": "float", "lr_decay": "float", "initial_accumulator_value": "float"},
    checks="lr >= 0; betas: pair in [0, 1); eps >= 0; weight_decay >= 0; momentum >= 0; momentum_decay >= 0; alpha >= 0; "
    "lr_decay >= 0; initial_accumulator_value >= 0",
)  # fmt: skip


# ------------------------------------------------------------------------------------------ descent


def _sgd(self: Any, group: dict[str, Any]) -> None:
    """The first gradient of a parameter enters its momentum as it is."""
    differentiable, momentum = group["differentiable"], group["momentum"]
    options = self._given_options(group)
    fresh: list[list[Any]] = [[], [], []]
    begun: list[list[Any]] = [[], [], []]
    for p in group["params"]:
        grad = p.grad
        if grad is None:
            continue
        if grad.is_sparse:
            self._sparse_update(group, p, grad, self.state[p] if momentum != 0 else {})
            continue
        buffer, columns = None, begun
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = bridge.zeros_like(p)
                columns = fresh
        columns[0].append(p)
        columns[1].append(grad)
        columns[2].append(buffer)
    for first, (params, grads, buffers) in ((True, fresh), (False, begun)):
        if params:
            kept = buffers if momentum != 0 else None
            bridge.update(updates.sgd, params, grads, kept, recorded=differentiable, first=first, **options)


def _check_nesterov(self: Any) -> None:
    check_nesterov("SGD", *map(self.defaults.get, ("nesterov", "momentum", "dampening")))


def _refuse_decay(name: str, group: dict[str, Any]) -> None:
    if group["weight_decay"] != 0 or group["fused"]:
        raise RuntimeError(f"{name}: a sparse gradient goes neither with weight_decay nor with fused=True")


def _sgd_of_rows(self: Any, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
    """The step along a sparse gradient; the momentum is then sparse too."""
    _refuse_decay("SGD", group)
    grad = grad.detach() * -1 if group["maximize"] else grad.detach()
    momentum = group["momentum"]
    if momentum != 0:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = grad.clone()
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
    bridge.add_rows(p, grad._a, -_bridge.number(group["lr"]))


SGD = optimiser(
    "SGD",
    "params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, "
    "differentiable=False, fused=None", updates.sgd,
    "Stochastic gradient descent, with momentum where asked for: `nesterov` needs some, and no dampening.",
    then=_check_nesterov, _update=_sgd, _sparse_update=_sgd_of_rows,
)  # fmt: skip


def _asgd(self: Any, group: dict[str, Any]) -> None:
    for batch in self._batches(group):
        eta, mu = batch.counters
        self._apply_rule(group, batch, eta=eta, mu=mu)
        lr = _bridge.number(group["lr"])
        eta, mu = accumulating.asgd_schedule(batch.step, lr, group["lambd"], group["alpha"], group["t0"])
        for state in batch.states:
            _bridge.set_scalar(state["eta"], eta)
            _bridge.set_scalar(state["mu"], mu)


ASGD = optimiser(
    "ASGD",
    "params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, "
    "differentiable=False, capturable=False", accumulating.asgd,
    'Averaged gradient descent (Polyak and Juditsky 1992); the average is `state[p]["ax"]`.', state="ax",
    checks="alpha: object", _counters={"eta": "lr", "mu": 1.0}, _update=_asgd,
)  # fmt: skip
Rprop = optimiser(
    "Rprop",
    "params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False, "
    "differentiable=False", accumulating.rprop,
    "Resilient propagation (Riedmiller and Braun 1993): a step per element that grows while its sign holds.",
    state="prev, step_size = lr", checks="etas: pair around 1",
    order="lr, etas, step_sizes, foreach, maximize, differentiable, capturable",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sums and averages of squares


def _begin_at_once(self: Any) -> None:
    for group in self.param_groups:
        for p in group["params"]:
            self._init_state(p, self.state[p], group)


def _adagrad_of_rows(self: Any, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
    """The step along a sparse gradient, for the rows that it has."""
    _refuse_decay("Adagrad", group)
    step = bridge.advance(state["step"])
    bridge.update_rows(accumulating.adagrad, p, grad.coalesce()._a, state["sum"], step=step, **self._given_options(group))


Adagrad = optimiser(
    "Adagrad",
    "params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, "
    "maximize=False, differentiable=False, fused=None", accumulating.adagrad, "Adagrad (Duchi, Hazan and Singer 2011).",
    state="sum = initial_accumulator_value",
    order="lr, lr_decay, eps, weight_decay, initial_accumulator_value, foreach, maximize, differentiable, fused",
    then=_begin_at_once, _sparse_update=_adagrad_of_rows,
)  # fmt: skip
Adadelta = optimiser(
    "Adadelta",
    "params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False, "
    "differentiable=False", accumulating.adadelta, "Adadelta (Zeiler 2012).", state="square_avg, acc_delta",
    checks="rho in [0, 1]", order="lr, rho, eps, weight_decay, maximize, capturable, foreach, differentiable",
)  # fmt: skip
RMSprop = optimiser(
    "RMSprop",
    "params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, "
    "foreach=None, maximize=False, differentiable=False", accumulating.rmsprop,
    "RMSprop (Hinton, lecture 6e); centred (Graves 2013) and with momentum where asked for.",
    state="square_avg, momentum_buffer if momentum, grad_avg if centered",
    order="lr, momentum, alpha, eps, centered, weight_decay, capturable, foreach, maximize, differentiable",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ Adam's family


def _check_tensors(self: Any) -> None:
    options = self.defaults
    if isinstance(options["lr"], Tensor) and options["foreach"] and not options["capturable"]:
        raise ValueError("Adam: a tensor as lr goes with foreach=True only where capturable=True")
    if isinstance(options["betas"][0], Tensor) != isinstance(options["betas"][1], Tensor):
        raise ValueError("Adam: betas are a tensor and a number; wanted both of one kind")


Adam = optimiser(
    "Adam",
    "params, lr=1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, "
    "foreach=None, maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False",
    updates.adam, "Adam (Kingma and Ba 2015); AMSGrad (Reddi et al. 2018) where `amsgrad`.",
    state="exp_avg, exp_avg_sq, max_exp_avg_sq if amsgrad", then=_check_tensors,
    order="lr, betas, eps, weight_decay, amsgrad, maximize, foreach, capturable, differentiable, fused, "
    "decoupled_weight_decay",
)  # fmt: skip
AdamW = optimiser(
    "AdamW",
    "params, lr=1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None", updates.adam,
    "Adam with decoupled weight decay (Loshchilov and Hutter 2019).", base=Adam,
    state="exp_avg, exp_avg_sq, max_exp_avg_sq if amsgrad", fixed={"decoupled": True}, then=_check_tensors,
)  # fmt: skip
Adamax = optimiser(
    "Adamax",
    "params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, "
    "differentiable=False, capturable=False", updates.adamax,
    "Adamax (Kingma and Ba 2015, section 7): the largest gradient in place of the mean square.",
    state="exp_avg, exp_inf",
)  # fmt: skip


def _nadam(self: Any, group: dict[str, Any]) -> None:
    for batch in self._batches(group):
        products = batch.column("mu_product")
        further = bridge.nadam_coefficients(products, batch.step, group["betas"][0], group["momentum_decay"])
        self._apply_rule(group, batch, **further)


NAdam = optimiser(
    "NAdam",
    "params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, "
    "decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False",
    updates.nadam, "NAdam (Dozat 2016): Adam with Nesterov momentum.", state="exp_avg, exp_avg_sq",
    order="lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize, foreach, capturable, "
    "differentiable", _counters={"mu_product": 1.0}, _update=_nadam,
)  # fmt: skip
RAdam = optimiser(
    "RAdam",
    "params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, "
    "maximize=False, capturable=False, differentiable=False", updates.radam,
    "RAdam (Liu et al. 2020): Adam with a rectified adaptive step.", state="exp_avg, exp_avg_sq",
    order="lr, betas, eps, weight_decay, maximize, foreach, capturable, decoupled_weight_decay, differentiable",
)  # fmt: skip


def _sparse_adam(self: Any, group: dict[str, Any]) -> None:
    given = [p for p in group["params"] if p.grad is not None]
    if not all(p.grad.is_sparse for p in given):
        raise RuntimeError(
            "SparseAdam: a gradient is dense; use Adam, or sparse=True in the embedding (whose gradient is dense all the "
            "same where its arrays are not NumPy's, and in a trace)"
        )
    for p in given:
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=bridge.zeros_like(p), exp_avg_sq=bridge.zeros_like(p))
        state["step"] += 1
        bridge.update_rows(
            updates.adam_of_rows, p, p.grad.coalesce()._a, state["exp_avg"], state["exp_avg_sq"], step=state["step"],
            **self._given_options(group),
        )  # fmt: skip


def _refuse_sparse(self: Any) -> None:
    if any(p.is_sparse for group in self.param_groups for p in group["params"]):
        raise ValueError("SparseAdam: a parameter is a sparse tensor; parameters are dense, their gradients sparse")


def _with_counts(self: Any, state: dict[str, Any]) -> None:
    """Keep the step a number, which it is in this optimiser."""
    super(SparseAdam, self).__setstate__(state)
    for value in self.state.values():
        if isinstance(value, dict) and isinstance(value.get("step"), Tensor):
            value["step"] = int(value["step"].item())


SparseAdam = optimiser(
    "SparseAdam", "params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False", updates.adam_of_rows,
    "Adam for sparse gradients, which they have to be: only the rows that have a gradient, and their averages, change.",
    checks="lr > 0; eps > 0", module="sparse_adam", then=_refuse_sparse, _update=_sparse_adam, __setstate__=_with_counts,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ matrices


def _adafactor(self: Any, group: dict[str, Any]) -> None:
    first_eps, second_eps = group["eps"]
    options = {**self._given_options(group), "lr": as_float(group["lr"])}
    for p, grad in self._given(group):
        if torch.is_complex(p):
            raise RuntimeError("Adafactor: complex parameters are not supported; optimise view_as_real(p)")
        state = self.state[p]
        if not state:
            state["step"] = _bridge.scalar(0.0)
            if grad.dim() > 1:
                state["row_var"], state["col_var"] = bridge.zeros_like(p[..., :1]), bridge.zeros_like(p[..., :1, :])
            else:
                state["variance"] = bridge.zeros_like(p)
        options["eps"] = (finfo(p.dtype).eps if first_eps is None else first_eps, second_eps)
        step, kept = bridge.advance(state["step"]), (state.get("row_var"), state.get("col_var"), state.get("variance"))
        bridge.update_one(factored.adafactor, p, grad, *kept, step=step, **options)


Adafactor = optimiser(
    "Adafactor",
    "params, lr=1e-2, beta2_decay=-0.8, eps: tuple[float | None, float] = (None, 1e-3), d=1.0, weight_decay=0.0, *, "
    "foreach=None, maximize=False", factored.adafactor,
    "Adafactor (Shazeer and Stern 2018): the second moment of a matrix is kept as a row and a column.",
    checks="eps: pair >= 0; beta2_decay <= 0; d >= 1", module="_adafactor", _update=_adafactor,
)  # fmt: skip


def _muon(self: Any, group: dict[str, Any]) -> None:
    if group["ns_steps"] >= 100:
        raise ValueError(f"Muon: ns_steps is {group['ns_steps']}; wanted fewer than 100")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError(f"Muon: ns_coefficients has {len(group['ns_coefficients'])} entries; wanted 3")
    options = {**self._given_options(group), "lr": as_float(group["lr"])}
    for p, grad in self._given(group):
        state = self.state[p]
        if not state:
            state["momentum_buffer"] = bridge.zeros_like(p)
        rows, columns = p.shape
        matched = group["adjust_lr_fn"] == "match_rms_adamw"
        factor = 0.2 * math.sqrt(max(rows, columns)) if matched else math.sqrt(max(1, rows / columns))
        bridge.update_one(factored.muon, p, grad, state["momentum_buffer"], step_size=options["lr"] * factor, **options)


def _check_matrices(self: Any) -> None:
    for group in self.param_groups:
        for p in group["params"]:
            if p.dim() != 2:
                raise ValueError(f"Muon: a parameter has shape {tuple(p.shape)}; wanted matrices only")


Muon = optimiser(
    "Muon",
    "params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), "
    "eps=1e-7, ns_steps=5, adjust_lr_fn: str | None = None", factored.muon,
    "Muon (Jordan et al. 2024): momentum, orthogonalised; for the weight matrices of hidden layers.",
    checks="eps: object; adjust_lr_fn: None | object in {original, match_rms_adamw}", module="_muon",
    called={"coefficients": "ns_coefficients", "steps": "ns_steps"}, then=_check_matrices, _update=_muon,
)  # fmt: skip
