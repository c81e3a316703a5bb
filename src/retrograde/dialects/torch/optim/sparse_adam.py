"""`SparseAdam`."""

from __future__ import annotations

from typing import Any

from ....core.number import as_float
from ....learn import bridge, updates
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor
from .optimizer import ParamsT, RuleOptimizer, check_options


class SparseAdam(RuleOptimizer):
    """Adam for sparse gradients: only the rows that have a gradient, and their averages, change.

    Raises:
        ValueError: an option is out of range, or a parameter is a sparse tensor itself.
        RuntimeError: (in `step`) a gradient is dense.
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        check_options(lr=lr, eps=eps, betas=betas)
        for name, value in (("lr", lr), ("eps", eps)):
            if not value > 0:
                raise ValueError(f"SparseAdam: {name} is {value}; wanted a number above 0")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        if any(p.is_sparse for group in self.param_groups for p in group["params"]):
            raise ValueError("SparseAdam: a parameter is a sparse tensor; parameters are dense, their gradients sparse")

    def _update(self, group: dict[str, Any]) -> None:
        given = [p for p in group["params"] if p.grad is not None]
        if not all(p.grad.is_sparse for p in given):
            raise RuntimeError(
                "SparseAdam: a gradient is dense; use Adam, or sparse=True in the embedding (whose gradient is dense all the "
                "same where its arrays are not NumPy's, and in a trace)"
            )
        for p in given:
            self._sparse_update(group, p, p.grad, self.state[p])

    def _sparse_update(self, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, exp_avg=bridge.zeros_like(p), exp_avg_sq=bridge.zeros_like(p))
        state["step"] += 1
        bridge.update_rows(
            updates.adam_of_rows, p, grad.coalesce()._a, state["exp_avg"], state["exp_avg_sq"], step=state["step"],
            lr=as_float(group["lr"]), betas=group["betas"], eps=group["eps"], maximize=group["maximize"],
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Keeps the step a number, which it is in this optimiser."""
        super().__setstate__(state)
        for value in self.state.values():
            if isinstance(value, dict) and isinstance(value.get("step"), Tensor):
                value["step"] = int(value["step"].item())
