"""Samples for the test that walks the table of primitives: operands in float64 and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """One call of a primitive."""

    operands: tuple[Any, ...]
    params: dict[str, Any]


def sample(*operands: Any, **params: Any) -> Sample:
    """A call with these operands (arrays or anything np.asarray takes) and parameters."""
    return Sample(tuple(None if x is None else np.asarray(x) for x in operands), params)


def rng(seed: int = 0) -> np.random.Generator:
    """The generator that samples draw from."""
    return np.random.default_rng(seed)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return rng(seed + sum(shape)).standard_normal(shape)


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Uniform numbers in [low, high)."""
    return rng(seed + sum(shape)).uniform(low, high, shape)


def distinct(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers no two of which are near each other (for sorting, maxima and other ops with ties)."""
    n = int(np.prod(shape))
    return (rng(seed).permutation(n) / max(n, 1) * 4 - 1.7).reshape(shape)


def complex_normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Complex standard normal numbers."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 99)


Samples = Callable[[], Iterable[Sample]]


def unary(low: float, high: float, *, complex_too: bool = False) -> Samples:
    """A vector, a matrix and a 0-d array with elements in [low, high)."""

    def make() -> Iterable[Sample]:
        yield sample(uniform(low, high, 4))
        yield sample(uniform(low, high, 2, 3))
        yield sample(uniform(low, high))
        if complex_too:
            yield sample(uniform(low, high, 3) + 1j * uniform(low, high, 3, seed=5))

    return make


def binary(low: float, high: float, low2: float | None = None, high2: float | None = None, *,
           complex_too: bool = False) -> Samples:  # fmt: skip
    """Two operands of one shape, and two that broadcast."""
    low2, high2 = low if low2 is None else low2, high if high2 is None else high2

    def make() -> Iterable[Sample]:
        yield sample(uniform(low, high, 3), uniform(low2, high2, 3, seed=1))
        yield sample(uniform(low, high, 2, 1), uniform(low2, high2, 3, seed=1))
        yield sample(uniform(low, high), uniform(low2, high2, 2, seed=1))
        if complex_too:
            yield sample(
                uniform(low, high, 3) + 1j * uniform(low, high, 3, seed=5),
                uniform(low2, high2, 3, seed=1) + 1j * uniform(low2, high2, 3, seed=6),
            )

    return make
