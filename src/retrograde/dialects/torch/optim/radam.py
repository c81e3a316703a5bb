"""`RAdam`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .optimizer import ParamsT, RuleOptimizer, check_options, options


class RAdam(RuleOptimizer):
    """RAdam (Liu et al. 2020): Adam with a rectified adaptive step.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(updates.radam)
    _options = options("lr", "betas", "eps", "weight_decay", "maximize", decoupled="decoupled_weight_decay")
    _state = {"exp_avg": None, "exp_avg_sq": None}
    _counted = True

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
