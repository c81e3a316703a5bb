"""`NAdam`."""

from __future__ import annotations

from typing import Any

from ....learn import bridge, updates
from .optimizer import ParamsT, RuleOptimizer, check_options, options


class NAdam(RuleOptimizer):
    """NAdam (Dozat 2016): Adam with Nesterov momentum.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(updates.nadam)
    _options = options("lr", "betas", "eps", "weight_decay", "maximize", decoupled="decoupled_weight_decay")
    _state = {"exp_avg": None, "exp_avg_sq": None}
    _counters = {"mu_product": 1.0}
    _counted = True

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
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        for batch in self._batches(group):
            mu, mu_next = updates.nadam_schedule(batch.step, group["betas"][0], group["momentum_decay"])
            for product in batch.column("mu_product"):
                bridge.scale(product, mu)
            self._apply_rule(group, batch, mu=mu, mu_next=mu_next, mu_product=bridge.count_of(product))
