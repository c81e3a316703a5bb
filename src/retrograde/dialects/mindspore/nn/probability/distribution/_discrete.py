"""Distributions over whole numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...._api import FUNCTIONS as F
from ...._dtype import float32, int32, int64
from .._parameters import above, below, concrete, with_axes
from ._base import Distribution, own


class _Probability(Distribution):
    _names = ("probs",)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = int32, name: Any = None) -> None:
        op = type(self).__name__
        super().__init__(seed, dtype, op if name is None else name, {"probs": probs})
        above(op, "probs", self._values["probs"], 0)
        below(op, "probs", self._values["probs"], 1)

    probs = own("probs", "The probabilities.")


class Bernoulli(_Probability):
    """1 with a probability, else 0. Raises ValueError for probabilities that are not between 0 and 1."""

    def _log_prob(self, x: Any, p: Any) -> Any:
        return x * F["log"](p) + (1 - x) * F["log1p"](-p)

    def _cdf(self, x: Any, p: Any) -> Any:
        return F["where"](x < 0, 0.0, F["where"](x < 1, 1 - p, 1.0))

    def _mean(self, p: Any) -> Any:
        return p

    def _var(self, p: Any) -> Any:
        return p * (1 - p)

    def _mode(self, p: Any) -> Any:
        return (p > 0.5).astype(self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -p * F["log"](p) - (1 - p) * F["log1p"](-p)

    def _kl_loss(self, p_b: Any, p: Any) -> Any:
        return p * F["log"](p / p_b) + (1 - p) * (F["log1p"](-p) - F["log1p"](-p_b))

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        return self._drawn(lambda stream, size, a: stream.random(size) < a, shape, p)


class Geometric(_Probability):
    """How many failures there are before the first success. Raises ValueError for probs that are not between 0 and 1."""

    def _log_prob(self, x: Any, p: Any) -> Any:
        n = F["floor"](x)
        return F["where"](n >= 0, n * F["log1p"](-p) + F["log"](p), -math.inf)

    def _cdf(self, x: Any, p: Any) -> Any:
        return -F["expm1"](F["relu"](F["floor"](x) + 1) * F["log1p"](-p))

    def _mean(self, p: Any) -> Any:
        return (1 - p) / p

    def _sd(self, p: Any) -> Any:
        return F["sqrt"](1 - p) / p

    def _var(self, p: Any) -> Any:
        return (1 - p) / F["square"](p)

    def _mode(self, p: Any) -> Any:
        return F["zeros_like"](p, dtype=self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -(p * F["log"](p) + (1 - p) * F["log1p"](-p)) / p

    def _kl_loss(self, p_b: Any, p: Any) -> Any:
        return F["log"](p / p_b) + (1 - p) / p * (F["log1p"](-p) - F["log1p"](-p_b))

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        return self._drawn(lambda stream, size, a: stream.geometric(a, size) - 1, shape, p)


class Poisson(Distribution):
    """How many events there are in a unit of time. Raises ValueError for a rate that is not above 0."""

    _names = ("rate",)

    def __init__(self, rate: Any = None, seed: Any = None, dtype: Any = float32, name: Any = "Poisson") -> None:
        super().__init__(seed, dtype, name, {"rate": rate})
        above("Poisson", "rate", self._values["rate"], 0)

    rate = own("rate", "The mean number of events.")

    def _log_prob(self, x: Any, rate: Any) -> Any:
        inside = F["relu"](x)
        return F["where"](x >= 0, inside * F["log"](rate) - rate - F["lgamma"](inside + 1), -math.inf)

    def _cdf(self, x: Any, rate: Any) -> Any:
        return F["where"](x >= 0, F["igammac"](F["relu"](F["floor"](x)) + 1, rate), 0.0)

    def _mean(self, rate: Any) -> Any:
        return rate

    _var = _mean

    def _mode(self, rate: Any) -> Any:
        return F["floor"](rate)

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return self._drawn(lambda stream, size, a: stream.poisson(a, size), shape, rate)


class Categorical(Distribution):
    """One of as many classes as the last axis of `probs` has. Raises ValueError where that does not sum to 1."""

    _names = ("probs",)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = int32, name: Any = "Categorical") -> None:
        super().__init__(seed, dtype, name, {"probs": probs})
        with_axes("Categorical", "probs", self._values["probs"])
        a = concrete(self._values["probs"])
        if a is not None and not np.allclose(a.sum(-1), 1, atol=1e-5):
            raise ValueError(f"Categorical: probs must sum to 1 along the last axis, got {self._values['probs']}")

    probs = own("probs", "The probabilities of the classes, along the last axis.")

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        p = self._values["probs"]
        return None if p is None else tuple(p.shape[:-1])

    def _picked(self, table: Any, x: Any, below: float, beyond: float) -> Any:
        """The table's elements at whole numbers along the last axis, and what stands for those outside."""
        at = F["floor"](x)
        count = table.shape[-1]
        shape = tuple(np.broadcast_shapes(x.shape, table.shape[:-1]))
        index = F["broadcast_to"](F["clamp"](at, 0, count - 1).astype(int64), shape).expand_dims(-1)
        found = F["gather_elements"](F["broadcast_to"](table, (*shape, count)), len(shape), index).squeeze(-1)
        return F["where"](at < 0, below, F["where"](at > count - 1, beyond, found))

    def _log_prob(self, x: Any, p: Any) -> Any:
        return self._picked(F["log"](p), x, math.nan, math.nan)

    def _cdf(self, x: Any, p: Any) -> Any:
        sums = F["cumsum"](p, -1)
        return self._picked(sums / sums[..., -1:], x, 0.0, 1.0)

    def _classes(self, p: Any) -> Any:
        return F["arange"](p.shape[-1]).astype(p.dtype)

    def _mean(self, p: Any) -> Any:
        return (p * self._classes(p)).sum(-1, keepdims=True)

    def _var(self, p: Any) -> Any:
        return (p * F["square"](self._classes(p) - self._mean(p))).sum(-1, keepdims=True)

    def _mode(self, p: Any) -> Any:
        return F["argmax"](p, -1).astype(self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -(p * F["log"](p)).sum(-1)

    def _kl_loss(self, p_b: Any, p: Any) -> Any:
        return (p * F["log"](p / p_b)).sum(-1)

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        sums = np.cumsum(p._concrete("sample"), -1)
        size = (*shape, *sums.shape[:-1], 1)
        return self._drawn(lambda stream, _: (stream.random(size) * sums[..., -1:] >= sums).sum(-1), shape)
