"""`ASGD`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_options, options


class ASGD(RuleOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the average is `state[p]["ax"]`.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(rules.asgd)
    _options = options("lambd", "weight_decay", "maximize")
    _state = {"ax": None}
    _counters = {"eta": "lr", "mu": 1.0}

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
        check_options(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        for batch in self._batches(group):
            eta, mu = batch.counters
            self._apply_rule(group, batch, eta=eta, mu=mu)
            eta, mu = rules.asgd_schedule(batch.step, _bridge.number(group["lr"]), group["lambd"], group["alpha"], group["t0"])
            for state in batch.states:
                _bridge.set_scalar(state["eta"], eta)
                _bridge.set_scalar(state["mu"], mu)
