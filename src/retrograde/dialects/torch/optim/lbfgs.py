"""`LBFGS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....learn import bridge, quasi_newton
from ....learn.objective import Objective, in_memory, number
from .._tensor import Tensor
from . import _bridge
from .optimizer import Optimizer, ParamsT, check_lr

# The names under which the memory of the method stands in the state: scalars and vectors, then lists of them.
_ENTRIES = {
    "d": "direction",
    "t": "t",
    "old_dirs": "gradient_changes",
    "old_stps": "moves",
    "ro": "inverse_curvatures",
    "H_diag": "diagonal",
    "prev_flat_grad": "previous_gradient",
    "prev_loss": "previous_loss",
}


def _to_arrays(x: Any) -> Any:
    if isinstance(x, list):
        return [_to_arrays(entry) for entry in x]
    if isinstance(x, Tensor):
        array = bridge.array_of(x)
        return array[()] if array.ndim == 0 else array
    return x


def _to_tensors(x: Any) -> Any:
    if isinstance(x, list):
        return [_to_tensors(entry) for entry in x]
    if isinstance(x, (np.ndarray, np.generic)):
        return _bridge.wrap(np.asarray(x))
    return x


class LBFGS(Optimizer):
    """Limited-memory BFGS; each step calls the closure several times.

    Raises:
        ValueError: more than one parameter group, or a negative lr.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(f"LBFGS: {len(self.param_groups)} parameter groups; wanted one for all parameters")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise for up to `max_iter` iterations and return the loss at the start.

        `closure` clears the gradients, computes the loss, runs backward and returns the loss.

        Raises:
            RuntimeError: `line_search_fn` is neither None nor "strong_wolfe".
        """
        with in_memory(self.param_groups[0]["params"]):
            return self._minimised(closure)

    def _minimised(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        params = group["params"]
        state = self.state[params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        objective = Objective(params, closure)
        first = objective.call()
        loss, gradient = number(first), objective.gradient()
        state["func_evals"] += 1
        if gradient.size == 0 or np.abs(gradient).max() <= group["tolerance_grad"]:
            return first
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(f"LBFGS: line_search_fn is {group['line_search_fn']!r}; wanted None or 'strong_wolfe'")
        memory = quasi_newton.Memory(state["func_evals"], state["n_iter"], coefficients=_to_arrays(state.get("al")))
        for name, attribute in _ENTRIES.items():
            if name in state:
                setattr(memory, attribute, _to_arrays(state[name]))
        with np.errstate(all="ignore"):
            quasi_newton.lbfgs(
                objective,
                memory,
                loss,
                gradient,
                lr=group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"],
                max_iter=group["max_iter"],
                max_eval=group["max_eval"],
                tolerance_grad=group["tolerance_grad"],
                tolerance_change=group["tolerance_change"],
                history_size=group["history_size"],
                strong_wolfe=group["line_search_fn"] is not None,
            )
        state["func_evals"], state["n_iter"] = memory.evaluations, memory.iterations
        if memory.coefficients is not None:
            state["al"] = _to_tensors(memory.coefficients)
        for name, attribute in _ENTRIES.items():
            state[name] = _to_tensors(getattr(memory, attribute))
        return first
