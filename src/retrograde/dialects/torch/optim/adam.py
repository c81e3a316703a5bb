"""`Adam`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_betas, check_implementation, check_lr, check_not_negative


class Adam(RuleOptimizer):
    """Adam (Kingma and Ba 2015); AMSGrad (Reddi et al. 2018) where `amsgrad`.

    Raises:
        ValueError: an option is out of range.
    """

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
        check_not_negative("eps", eps)
        check_betas(betas)
        check_not_negative("weight_decay", weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("Adam: betas are a tensor and a number; wanted both of one kind")
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        beta1, beta2 = group["betas"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "betas": (float(beta1), float(beta2)),
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "decoupled": group["decoupled_weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            _bridge.update(
                updates.adam,
                differentiable,
                batch.params,
                batch.grads,
                batch.column("exp_avg"),
                batch.column("exp_avg_sq"),
                batch.column("max_exp_avg_sq") if group["amsgrad"] else None,
                step=batch.step,
                **options,
            )

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["exp_avg"] = _bridge.zeros_like(p)
        state["exp_avg_sq"] = _bridge.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = _bridge.zeros_like(p)
