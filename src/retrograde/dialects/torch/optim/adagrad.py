"""`Adagrad`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_implementation, check_lr, check_not_negative


class Adagrad(RuleOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("lr_decay", lr_decay)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("initial_accumulator_value", initial_accumulator_value)
        check_not_negative("eps", eps)
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = _bridge.scalar(0.0)
                self.state[p]["sum"] = _bridge.full_like(p, group["initial_accumulator_value"])

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "lr_decay": group["lr_decay"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            totals = batch.column("sum")
            _bridge.update(rules.adagrad, differentiable, batch.params, batch.grads, totals, step=batch.step, **options)
