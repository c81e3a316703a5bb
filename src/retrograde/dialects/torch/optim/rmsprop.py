"""`RMSprop`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_not_negative


class RMSprop(RuleOptimizer):
    """RMSprop (Hinton, lecture 6e); centred (Graves 2013) and with momentum where asked for.

    Raises:
        ValueError: an option is out of range.
    """

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
        check_lr(lr)
        check_not_negative("eps", eps)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("alpha", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "alpha": group["alpha"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "momentum": group["momentum"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            _bridge.update(
                rules.rmsprop,
                differentiable,
                batch.params,
                batch.grads,
                batch.column("square_avg"),
                batch.column("grad_avg") if group["centered"] else None,
                batch.column("momentum_buffer") if group["momentum"] > 0 else None,
                **options,
            )

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["square_avg"] = _bridge.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _bridge.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _bridge.zeros_like(p)
