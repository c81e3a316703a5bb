"""`Adamax`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .optimizer import ParamsT, RuleOptimizer, check_options, options


class Adamax(RuleOptimizer):
    """Adamax (Kingma and Ba 2015, section 7): Adam with the largest gradient in place of the mean square.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(updates.adamax)
    _options = options("lr", "betas", "eps", "weight_decay", "maximize")
    _state = {"exp_avg": None, "exp_inf": None}
    _counted = True

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
