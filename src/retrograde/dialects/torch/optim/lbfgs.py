"""`LBFGS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.number import as_float
from ....learn import bridge, quasi_newton
from ....learn.objective import minimised
from ..._shared.checks import check
from .._tensor import Tensor
from . import _bridge
from .optimizer import Optimizer, ParamsT

# The names under which the memory of the method stands in the state: scalars and vectors, then lists of them.
_ENTRIES = {
    "d": "direction", "t": "t", "old_dirs": "gradient_changes", "old_stps": "moves", "ro": "inverse_curvatures",
    "H_diag": "diagonal", "prev_flat_grad": "previous_gradient", "prev_loss": "previous_loss",
}  # fmt: skip


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


class _Ray:
    """A function of a point along a direction, as the line search moves there: it gives the value and the gradient."""

    def __init__(self, function: Callable[[Any, Any, Any], tuple[Any, Any]], start: Any, direction: Any) -> None:
        self.function, self.start, self.direction, self.t = function, start, direction, 0

    def evaluate(self) -> tuple[Any, Any]:
        value, gradient = self.function(self.start, self.t, self.direction)
        return _to_arrays(value), _to_arrays(gradient)

    def move(self, t: Any, direction: Any) -> None:
        self.t = t.item() if isinstance(t, np.generic) else t

    def save(self) -> Any:
        return self.t

    def restore(self, saved: Any) -> None:
        self.t = saved


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Any], tuple[Any, Any]], x: Any, t: Any, d: Any, f: Any, g: Any, gtd: Any,
    c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:  # fmt: skip
    """A step from `x` along `d` that fulfils the strong Wolfe conditions: value and gradient there, the step, evaluations.

    `obj_func(x, t, d)` gives both at `x + t * d`; `f`, `g` are those at `x`, and `gtd` is the derivative along `d` there.
    """
    start = quasi_newton.Point(0, *map(_to_arrays, (f, g, gtd)))
    with np.errstate(all="ignore"):
        found, evaluations = quasi_newton.search_strong_wolfe(
            _Ray(obj_func, x, d), start, _to_arrays(t), _to_arrays(d), decrease=c1, curvature=c2,
            tolerance_change=tolerance_change, max_trials=max_ls,
        )  # fmt: skip
    return (*map(_to_tensors, (found.loss, found.gradient, found.t)), evaluations)


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """Where the cubic through two points with these slopes is least, within bounds (by default between the two)."""
    a, b = (quasi_newton.Point(*map(_to_arrays, (x, f, None, g))) for x, f, g in ((x1, f1, g1), (x2, f2, g2)))
    return _to_tensors(quasi_newton.cubic_minimum(a, b, bounds))


class LBFGS(Optimizer):
    """Limited-memory BFGS; each step calls the closure several times.

    Raises:
        ValueError: more than one parameter group, or a negative lr.
    """

    def __init__(
        self, params: ParamsT, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check("LBFGS", "lr >= 0", {"lr": lr})
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError(f"LBFGS: {len(self.param_groups)} parameter groups; wanted one for all parameters")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise for up to `max_iter` iterations and return the loss at the start.

        `closure` clears the gradients, computes the loss, runs backward and returns the loss.

        Raises:
            RuntimeError: `line_search_fn` is neither None nor "strong_wolfe".
        """
        (group,) = self.param_groups
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        begun = state.setdefault("n_iter", 0)
        memory = quasi_newton.Memory(state["func_evals"], begun, coefficients=_to_arrays(state.get("al")))
        for name, attribute in _ENTRIES.items():
            if name in state:
                setattr(memory, attribute, _to_arrays(state[name]))
        options = {name: value for name, value in group.items() if name in self.defaults}
        options["lr"] = as_float(group["lr"]) if isinstance(group["lr"], Tensor) else group["lr"]
        first = minimised(group["params"], closure, memory, **options)
        state["func_evals"], state["n_iter"] = memory.evaluations, memory.iterations
        if memory.coefficients is not None:
            state["al"] = _to_tensors(memory.coefficients)
        if memory.iterations > begun:
            state.update({name: _to_tensors(getattr(memory, attribute)) for name, attribute in _ENTRIES.items()})
        return first
