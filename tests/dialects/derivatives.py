"""Derivatives of any order of a dialect's functions against numerical ones, in float64.

A function of tensors is followed along a line through its inputs, x + t u, and its results are summed with weights: that
is a function of one number t. Its k-th derivative, taken by nesting the dialect's own reverse mode k times, is compared
with central differences of the derivative before it, which has been compared already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Dialect(NamedTuple):
    """What the check needs of a dialect.

    tensor: a NumPy array as a tensor. grad: `grad(f, xs)`, the gradients of a scalar function at tensors, differentiable
    again. real: `real(y)`, for each floating or complex tensor in a result real tensors that hold it. dot: `dot(y, w)`, the
    sum of products with a NumPy array, a scalar tensor. number: a scalar tensor as a float.
    """

    tensor: Callable[[np.ndarray], Any]
    grad: Callable[[Callable[..., Any], Sequence[Any]], Sequence[Any]]
    real: Callable[[Any], Iterable[Any]]
    dot: Callable[[Any, np.ndarray], Any]
    number: Callable[[Any], float]


_STEP = 2e-4


def check(
    dialect: Dialect, f: Callable[..., Any], inputs: Sequence[np.ndarray], *, orders: int = 3, rtol: float = 2e-6,
    step: float = _STEP,
) -> None:
    """Raise AssertionError where a derivative of `f`, up to the given order, is not the numerical one."""
    rng = np.random.default_rng(5)
    points = [np.asarray(x, np.float64) for x in inputs]
    directions = [rng.standard_normal(x.shape) for x in points]
    weights: list[np.ndarray] = []

    def value(*xs: Any) -> Any:
        total = None
        for k, y in enumerate(dialect.real(f(*xs))):
            if k == len(weights):
                weights.append(rng.uniform(0.5, 1.5, tuple(y.shape)))
            part = dialect.dot(y, weights[k])
            total = part if total is None else total + part
        assert total is not None, "the function has no floating result"
        return total

    def along(g: Callable[..., Any]) -> Callable[..., Any]:
        """The derivative of a scalar function in the direction."""

        def slope(*xs: Any) -> Any:
            total = None
            for gradient, u in zip(dialect.grad(g, xs), directions):
                part = dialect.dot(gradient, u)
                total = part if total is None else total + part
            return total

        return slope

    def at(g: Callable[..., Any], t: float) -> float:
        return dialect.number(g(*(dialect.tensor(x + t * u) for x, u in zip(points, directions))))

    current: Callable[..., Any] = value
    for order in range(1, orders + 1):
        following = along(current)
        near = (at(current, step) - at(current, -step)) / (2 * step)
        far = (at(current, 2 * step) - at(current, -2 * step)) / (4 * step)
        wanted, got = (4 * near - far) / 3, at(following, 0.0)
        scale = max(1.0, abs(wanted), abs(near))
        assert abs(got - wanted) <= rtol * 10**order * scale, f"derivative {order}: got {got}, numerically {wanted}"
        current = following
