"""`Adagrad`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from ....learn import bridge
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_implementation, check_options, options


class Adagrad(RuleOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(rules.adagrad)
    _options = options("lr", "lr_decay", "eps", "weight_decay", "maximize")
    _state = {"sum": None}
    _counted = True

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay)
        check_options(initial_accumulator_value=initial_accumulator_value, eps=eps)
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = _bridge.scalar(0.0)
                self.state[p]["sum"] = _bridge.full_like(p, group["initial_accumulator_value"])

    def _sparse_update(self, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
        """The step along a sparse gradient, for the rows that it has."""
        if group["weight_decay"] != 0 or group["fused"]:
            raise RuntimeError("Adagrad: a sparse gradient goes neither with weight_decay nor with fused=True")
        step = bridge.advance(state["step"])
        options = {name: self._option(group[key], False) for name, key in self._options.items()}
        bridge.update_rows(self._rule, p, grad.coalesce()._a, state["sum"], step=step, **options)
