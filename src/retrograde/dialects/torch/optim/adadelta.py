"""`Adadelta`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_options, options


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012).

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(rules.adadelta)
    _options = options("lr", "rho", "eps", "weight_decay", "maximize")
    _state = {"square_avg": None, "acc_delta": None}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Adadelta: rho is {rho}; wanted 0 <= rho <= 1")
        check_options(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
