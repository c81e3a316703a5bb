"""`SGD`."""

from __future__ import annotations

from typing import Any

from ....learn import bridge, updates
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_implementation, check_lr, check_not_negative


class SGD(RuleOptimizer):
    """Stochastic gradient descent, with momentum where asked for.

    Raises:
        ValueError: an option is out of range, or `nesterov` without momentum or with dampening.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: nesterov needs momentum above 0 and dampening 0")
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        momentum = group["momentum"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "momentum": momentum,
            "dampening": group["dampening"],
            "weight_decay": _bridge.number(group["weight_decay"], differentiable),
            "nesterov": group["nesterov"],
            "maximize": group["maximize"],
        }
        fresh: list[list[Any]] = [[], [], []]
        begun: list[list[Any]] = [[], [], []]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._sparse_update(group, p, grad, self.state[p] if momentum != 0 else {})
                continue
            buffer, columns = None, begun
            if momentum != 0:
                state = self.state[p]
                buffer = state.get("momentum_buffer")
                if buffer is None:
                    buffer = state["momentum_buffer"] = bridge.zeros_like(p)
                    columns = fresh
            columns[0].append(p)
            columns[1].append(grad)
            columns[2].append(buffer)
        for first, (params, grads, buffers) in ((True, fresh), (False, begun)):
            if params:
                kept = buffers if momentum != 0 else None
                bridge.update(updates.sgd, params, grads, kept, recorded=differentiable, first=first, **options)

    def _sparse_update(self, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
        """The step along a sparse gradient; the momentum is then sparse too."""
        if group["weight_decay"] != 0 or group["fused"]:
            raise RuntimeError("SGD: a sparse gradient goes neither with weight_decay nor with fused=True")
        grad = grad.detach() * -1 if group["maximize"] else grad.detach()
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        bridge.add_rows(p, grad._a, -_bridge.number(group["lr"]))
