"""`ASGD`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_not_negative


class ASGD(RuleOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the average is `state[p]["ax"]`.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        lr, lambd = float(group["lr"]), group["lambd"]
        options = {"lambd": lambd, "weight_decay": group["weight_decay"], "maximize": group["maximize"]}
        for batch in self._batches(group, "eta", "mu"):
            eta, mu = batch.counters
            averages = batch.column("ax")
            _bridge.update(rules.asgd, differentiable, batch.params, batch.grads, averages, eta=eta, mu=mu, **options)
            eta, mu = rules.asgd_schedule(batch.step, lr, lambd, group["alpha"], group["t0"])
            for state in batch.states:
                _bridge.set_scalar(state["eta"], eta)
                _bridge.set_scalar(state["mu"], mu)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["eta"] = _bridge.scalar(float(group["lr"]))
        state["mu"] = _bridge.scalar(1.0)
        state["ax"] = _bridge.zeros_like(p)
