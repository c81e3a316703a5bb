"""`Muon`."""

from __future__ import annotations

import math
from typing import Any

from ....core.number import as_float
from ....learn import bridge
from ....learn import factored as rules
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_not_negative


class Muon(RuleOptimizer):
    """Muon (Jordan et al. 2024): momentum, orthogonalised; for the weight matrices of hidden layers.

    Raises:
        ValueError: an option is out of range, or a parameter has not exactly two axes.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Muon: adjust_lr_fn is {adjust_lr_fn!r}; wanted 'original' or 'match_rms_adamw'")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon: a parameter has shape {tuple(p.shape)}; wanted matrices only")

    def _update(self, group: dict[str, Any]) -> None:
        if group["ns_steps"] >= 100:
            raise ValueError(f"Muon: ns_steps is {group['ns_steps']}; wanted fewer than 100")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError(f"Muon: ns_coefficients has {len(group['ns_coefficients'])} entries; wanted 3")
        lr = as_float(group["lr"])
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._sparse_update(group, p, grad, {})
            state = self.state[p]
            if not state:
                state["momentum_buffer"] = bridge.zeros_like(p)
            rows, columns = p.shape
            if group["adjust_lr_fn"] == "match_rms_adamw":
                factor = 0.2 * math.sqrt(max(rows, columns))
            else:
                factor = math.sqrt(max(1, rows / columns))
            bridge.update_one(
                rules.muon,
                p,
                grad,
                state["momentum_buffer"],
                lr=lr,
                step_size=lr * factor,
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                nesterov=group["nesterov"],
                coefficients=group["ns_coefficients"],
                eps=group["eps"],
                steps=group["ns_steps"],
            )
