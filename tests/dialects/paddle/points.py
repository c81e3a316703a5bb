"""Inputs for the tables of differentiable functions: small arrays without elements near each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.dialects import paddle

Case = tuple[Callable[..., Any], tuple[np.ndarray, ...]]
"""A function of tensors, and what it is called with."""


def spread(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers in [low, high), in random order, no two of them near each other."""
    n = int(np.prod(shape))
    order = np.random.default_rng(97 * seed + n)
    steps = order.permutation(n) + order.uniform(0.25, 0.75, n)
    return (low + steps * (high - low) / n).reshape(shape)


def words(text: str) -> list[str]:
    """The names in a text."""
    return text.split()


def ints(values: Any) -> Any:
    """An integer tensor."""
    return paddle.to_tensor(np.array(values, np.int64))


A, B = spread(-2.1, 2.05, 2, 3), spread(-1.95, 2.2, 2, 3, seed=1)
P, Q = spread(0.35, 2.3, 2, 3), spread(0.45, 2.2, 2, 3, seed=1)
U = spread(-0.85, 0.9, 2, 3)
V, W = spread(-2.1, 2.05, 3), spread(-1.9, 2.15, 3, seed=1)
M = np.array([[2.2, 0.4, -0.3], [0.6, 1.8, 0.1], [-0.2, 0.5, 1.4]])
TALL = spread(-1.1, 1.0, 3, 2)
BATCH = spread(-2.1, 2.05, 2, 2, 3)
IMAGE = spread(-2.1, 2.05, 1, 2, 4, 4)
LINE = spread(-2.1, 2.05, 1, 2, 6)
SPACE = spread(-2.1, 2.05, 1, 1, 3, 4, 3)
MASK = np.array([[True, False, True], [False, True, True]])
