"""`Adam`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .._tensor import Tensor
from .optimizer import ParamsT, RuleOptimizer, check_implementation, check_lr, check_options, options


class Adam(RuleOptimizer):
    """Adam (Kingma and Ba 2015); AMSGrad (Reddi et al. 2018) where `amsgrad`.

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(updates.adam)
    _options = options("lr", "betas", "eps", "weight_decay", "maximize", decoupled="decoupled_weight_decay")
    _state = {"exp_avg": None, "exp_avg_sq": None, "max_exp_avg_sq": "amsgrad"}
    _counted = True

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr)
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("Adam: a tensor as lr goes with foreach=True only where capturable=True")
        check_options(eps=eps, betas=betas, weight_decay=weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("Adam: betas are a tensor and a number; wanted both of one kind")
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
