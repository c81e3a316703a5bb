"""`RMSprop`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .optimizer import ParamsT, RuleOptimizer, check_options, options


class RMSprop(RuleOptimizer):
    """RMSprop (Hinton, lecture 6e); centred (Graves 2013) and with momentum where asked for.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(rules.rmsprop)
    _options = options("lr", "alpha", "eps", "weight_decay", "momentum", "maximize")
    _state = {"square_avg": None, "momentum_buffer": "momentum", "grad_avg": "centered"}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
