"""`Rprop`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_lr


class Rprop(RuleOptimizer):
    """Resilient propagation (Riedmiller and Braun 1993).

    Raises:
        ValueError: an option is out of range.
    """

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
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {"etas": group["etas"], "step_sizes": group["step_sizes"], "maximize": group["maximize"]}
        for batch in self._batches(group):
            previous, sizes = batch.column("prev"), batch.column("step_size")
            _bridge.update(rules.rprop, differentiable, batch.params, batch.grads, previous, sizes, **options)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["prev"] = _bridge.zeros_like(p)
        state["step_size"] = _bridge.full_like(p, float(group["lr"]))
