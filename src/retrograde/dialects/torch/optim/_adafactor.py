"""`Adafactor`."""

from __future__ import annotations

from typing import Any

from ....core.number import as_float
from ....learn import bridge
from ....learn import factored as rules
from ... import torch
from .._dtype import finfo
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr, check_not_negative


class Adafactor(RuleOptimizer):
    """Adafactor (Shazeer and Stern 2018): the second moment of a matrix is kept as a row and a column.

    Raises:
        ValueError: an option is out of range.
        RuntimeError: at the first step, for complex parameters.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"Adafactor: beta2_decay is {beta2_decay}; wanted at most 0")
        if eps[0] is not None:
            check_not_negative("eps[0]", eps[0])
        check_not_negative("eps[1]", eps[1])
        if not d >= 1.0:
            raise ValueError(f"Adafactor: d is {d}; wanted at least 1")
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        first_eps, second_eps = group["eps"]
        options = {
            "lr": as_float(group["lr"]),
            "beta2_decay": group["beta2_decay"],
            "d": group["d"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._sparse_update(group, p, grad, {})
            if torch.is_complex(p):
                raise RuntimeError("Adafactor: complex parameters are not supported; optimise view_as_real(p)")
            state = self.state[p]
            if not state:
                state["step"] = _bridge.scalar(0.0)
                if grad.dim() > 1:
                    state["row_var"] = bridge.zeros_like(p[..., :1])
                    state["col_var"] = bridge.zeros_like(p[..., :1, :])
                else:
                    state["variance"] = bridge.zeros_like(p)
            eps = (finfo(p.dtype).eps if first_eps is None else first_eps, second_eps)
            bridge.update_one(
                rules.adafactor,
                p,
                grad,
                state.get("row_var"),
                state.get("col_var"),
                state.get("variance"),
                step=bridge.advance(state["step"]),
                eps=eps,
                **options,
            )
