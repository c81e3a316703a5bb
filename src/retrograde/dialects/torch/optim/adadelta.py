"""`Adadelta`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_not_negative


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012).

    Raises:
        ValueError: an option is out of range.
    """

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
        check_not_negative("eps", eps)
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "rho": group["rho"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            squares, changes = batch.column("square_avg"), batch.column("acc_delta")
            _bridge.update(rules.adadelta, differentiable, batch.params, batch.grads, squares, changes, **options)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["square_avg"] = _bridge.zeros_like(p)
        state["acc_delta"] = _bridge.zeros_like(p)
