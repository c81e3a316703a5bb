"""`Adamax`."""

from __future__ import annotations

from typing import Any

from ....learn import updates
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_betas, check_lr, check_not_negative


class Adamax(RuleOptimizer):
    """Adamax (Kingma and Ba 2015, section 7): Adam with the largest gradient in place of the mean square.

    Raises:
        ValueError: an option is out of range.
    """

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
        check_lr(lr)
        check_not_negative("eps", eps)
        check_betas(betas)
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "betas": group["betas"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            first, scale = batch.column("exp_avg"), batch.column("exp_inf")
            _bridge.update(
                updates.adamax, differentiable, batch.params, batch.grads, first, scale, step=batch.step, **options
            )

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["exp_avg"] = _bridge.zeros_like(p)
        state["exp_inf"] = _bridge.zeros_like(p)
