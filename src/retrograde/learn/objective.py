"""A closure over parameters as a function of one flat vector: what `quasi_newton` minimises. Called by the dialects' LBFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .._state import grad_mode
from ..backend import backend_of
from ..core.arrays import from_host, on_host
from ..core.unwrap import concrete
from ..core.value import Value, as_core
from ..tape import inplace
from . import bridge, quasi_newton


def in_memory(params: Sequence[Value]) -> AbstractContextManager[None]:
    """A context in which the parameters are NumPy's arrays, or arrays on a device, which are copied from there and back. Raises
    UnsupportedError where they cannot be."""
    other = next((p._a for p in params if not isinstance(p._a, np.ndarray) and on_host(p._a)), None)
    return nullcontext() if other is None else backend_of(other).eagerly("LBFGS", params)


class Objective:
    """The closure as a function of one flat vector of all parameters (complex ones as real and imaginary parts).

    `closure` clears the gradients, computes the loss, runs backward and returns the loss.
    """

    def __init__(self, params: Sequence[Value], closure: Callable[[], Any]) -> None:
        self.params, self.closure = params, closure

    def call(self) -> Any:
        """What the closure returns, with recording switched on."""
        with grad_mode(True):
            return self.closure()

    def gradient(self) -> np.ndarray:
        """The gradients of all parameters behind one another; zeros where there is none."""
        parts = []
        for p in self.params:
            array = concrete("LBFGS", p if p._grad is None else p._grad)
            flat = np.zeros(array.size, array.dtype) if p._grad is None else array.reshape(-1)
            parts.append(flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat)
        return np.concatenate(parts)

    def evaluate(self) -> tuple[float, np.ndarray]:
        """The loss and the gradient where the parameters stand."""
        loss = number(self.call())
        return loss, self.gradient()

    def move(self, t: Any, direction: np.ndarray) -> None:
        """Add `t` times a direction to the parameters."""
        offset = 0
        for p in self.params:
            array = np.array(concrete("LBFGS", p)) if type(p._a) is not np.ndarray else p._a
            real = array.real.dtype
            size = array.size * (2 if array.dtype.kind == "c" else 1)
            part = (t * direction[offset : offset + size]).astype(real, copy=False)
            array += part.view(array.dtype).reshape(array.shape)
            _written(p, array)
            offset += size

    def save(self) -> list[np.ndarray]:
        """Copies of the parameters."""
        return [np.array(concrete("LBFGS", p)) for p in self.params]

    def restore(self, saved: list[np.ndarray]) -> None:
        """Put the parameters back to what `save` saw."""
        for p, array in zip(self.params, saved):
            if type(p._a) is np.ndarray:
                p._a[...] = array
            _written(p, array)


def _written(p: Value, array: np.ndarray) -> None:
    """A parameter's new elements have been written into its memory; one on a device gets them."""
    if type(p._a) is np.ndarray:
        bridge.changed(p)
        return
    with grad_mode(False):
        inplace.update("LBFGS", p, lambda: from_host(array, as_core(p)))


def minimised(
    params: Sequence[Value], closure: Callable[[], Any], memory: quasi_newton.Memory, *, line_search_fn: str | None,
    tolerance_grad: float, **options: Any,
) -> Any:  # fmt: skip
    """Take quasi-Newton steps (`quasi_newton.lbfgs`, which says the options) and return the loss at the start.

    `memory` goes on from call to call. Raises RuntimeError where `line_search_fn` is neither None nor "strong_wolfe".
    """
    if line_search_fn not in (None, "strong_wolfe"):
        raise RuntimeError(f"LBFGS: line_search_fn is {line_search_fn!r}; wanted None or 'strong_wolfe'")
    with in_memory(params), np.errstate(all="ignore"):
        objective = Objective(params, closure)
        first = objective.call()
        gradient = objective.gradient()
        memory.evaluations += 1
        if gradient.size and np.abs(gradient).max() > tolerance_grad:
            quasi_newton.lbfgs(
                objective, memory, number(first), gradient, strong_wolfe=line_search_fn is not None,
                tolerance_grad=tolerance_grad, **options,
            )  # fmt: skip
        return first


def number(loss: Any) -> float:
    """A loss, a tensor of one element or a number, as a Python float."""
    return float(concrete("LBFGS", loss).reshape(())) if isinstance(loss, Value) else float(loss)
