"""`LBFGS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....learn import quasi_newton
from ....learn.objective import minimised
from .optimizer import Optimizer

# The names under which the memory of the method stands in the state.
_ENTRIES = {
    "func_evals": "evaluations", "n_iter": "iterations", "al": "coefficients", "d": "direction", "alpha": "t",
    "old_yk": "gradient_changes", "old_sk": "moves", "ro": "inverse_curvatures", "H_diag": "diagonal",
    "prev_flat_grad": "previous_gradient", "prev_loss": "previous_loss",
}  # fmt: skip


class LBFGS(Optimizer):
    """Limited-memory BFGS; each step calls the closure several times."""

    def __init__(
        self, learning_rate: float = 1.0, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-07, tolerance_change: float = 1e-09, history_size: int = 100,
        line_search_fn: str | None = None, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if weight_decay is not None or grad_clip is not None:
            raise NotImplementedError("LBFGS: put weight_decay and grad_clip into the closure's loss")
        super().__init__(learning_rate, parameters, None, None, name)
        self.max_iter, self.max_eval = max_iter, max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn = history_size, line_search_fn
        self._memory = quasi_newton.Memory()

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise for up to `max_iter` iterations and return the loss at the start.

        `closure` clears the gradients, computes the loss, runs backward and returns the loss. Raises RuntimeError where
        `line_search_fn` is neither None nor "strong_wolfe".
        """
        return minimised(
            self._parameters(), closure, self._memory, lr=self.get_lr(), max_iter=self.max_iter, max_eval=self.max_eval,
            tolerance_grad=self.tolerance_grad, tolerance_change=self.tolerance_change, history_size=self.history_size,
            line_search_fn=self.line_search_fn,
        )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """The memory of the method, as arrays and numbers, under "state"."""
        return {"state": {name: getattr(self._memory, attribute) for name, attribute in _ENTRIES.items()}}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        for name, value in state_dict["state"].items():
            setattr(self._memory, _ENTRIES[name], value)

    set_dict = load_state_dict = set_state_dict

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: the method evaluates the loss several times; use `step(closure)`."""
        raise NotImplementedError("LBFGS.minimize: the loss is evaluated several times in a step; use step(closure)")
