"""`Rprop`."""

from __future__ import annotations

from typing import Any

from ....core.number import as_float
from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr, options


class Rprop(RuleOptimizer):
    """Resilient propagation (Riedmiller and Braun 1993).

    Raises:
        ValueError: an option is out of range.
    """

    _rule = staticmethod(rules.rprop)
    _options = options("etas", "step_sizes", "maximize")
    _state = {"prev": None, "step_size": None}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Rprop: etas are {etas}; wanted 0 < first < 1 < second")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._init_state(p, state, group)
        state["step_size"] = _bridge.full_like(p, as_float(group["lr"]))
