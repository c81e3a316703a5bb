"""`NAdam`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_betas, check_lr, check_not_negative


class NAdam(RuleOptimizer):
    """NAdam (Dozat 2016): Adam with Nesterov momentum.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("eps", eps)
        check_betas(betas)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("momentum_decay", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for value in self.state.values():
            if isinstance(value, dict) and isinstance(value.get("mu_product"), (int, float)):
                value["mu_product"] = _bridge.scalar(value["mu_product"])

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "betas": group["betas"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "decoupled": group["decoupled_weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group, "mu_product"):
            mu, mu_next = updates.nadam_schedule(batch.step, group["betas"][0], group["momentum_decay"])
            for product in map(_bridge.array_of, batch.column("mu_product")):
                product *= mu
            _bridge.update(
                updates.nadam,
                differentiable,
                batch.params,
                batch.grads,
                batch.column("exp_avg"),
                batch.column("exp_avg_sq"),
                step=batch.step,
                mu=mu,
                mu_next=mu_next,
                mu_product=product.item(),
                **options,
            )

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["mu_product"] = _bridge.scalar(1.0)
        state["exp_avg"] = _bridge.zeros_like(p)
        state["exp_avg_sq"] = _bridge.zeros_like(p)
