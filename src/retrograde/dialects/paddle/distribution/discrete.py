"""Distributions over numbers that can be counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....ops import elementwise as ew
from ....ops import softmax as sm
from ....ops.activation import sigmoid
from ....ops.indexing import take_along_axis
from ....ops.selection import clip
from ....ops.special import lgamma, xlogy
from ....ops.structural import broadcast_to
from .._tensor import from_array
from ..random import default_generator
from .distribution import Distribution, ExponentialFamily, Shape, arguments, summed, uniform_like

_TINY = 1.1920929e-07  # the epsilon of float32, by which probabilities keep away from 0 and 1


def _like(array: Any, x: Any) -> Any:
    return from_array(np.asarray(array).astype(dtype_of(x)))


class _OfProbability(ExponentialFamily):
    """What Bernoulli and geometric share: one probability."""

    probs: Any

    def __init__(self, probs: Any, name: str | None = None) -> None:
        (self.probs,) = arguments(type(self).__name__, probs)  # type: ignore[method-assign]
        self.name = name or type(self).__name__
        super().__init__(shape_of(self.probs))

    @property
    def _safe(self) -> Any:
        return clip(self.probs, low=_TINY, high=1 - _TINY)

    @property
    def logits(self) -> Any:
        """The logarithm of the odds."""
        return ew.log(self._safe) - ew.log1p(-self._safe)


class Bernoulli(_OfProbability):
    """1 with a probability, else 0."""

    def _draw(self, shape: Shape) -> Any:
        full = self._extended(shape)
        return _like(default_generator.draw.random(full) < np.broadcast_to(self.probs.numpy(), full), self.probs)

    def rsample(self, shape: Any = (), temperature: float = 1.0) -> Any:  # type: ignore[override]
        """Samples of the relaxed distribution, between 0 and 1, through which the probability is differentiated."""
        u = uniform_like(self._extended(shape), self.probs)
        return sigmoid((self.logits + ew.log(u) - ew.log1p(-u)) / temperature)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.probs

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def entropy(self) -> Any:
        """The entropy."""
        p = self._safe
        return -(p * ew.log(p) + (1 - p) * ew.log1p(-p))

    def log_prob(self, value: Any) -> Any:
        """The log probability."""
        return value * ew.log(self._safe) + (1 - value) * ew.log1p(-self._safe)

    def cdf(self, value: Any) -> Any:
        """The probability of this value or a smaller one."""
        one = (value >= 1).astype(self.probs.dtype)
        return (value >= 0).astype(self.probs.dtype) * (one + (1 - one) * (1 - self.probs))


class Geometric(_OfProbability):
    """The number of failures before the first success."""

    def _draw(self, shape: Shape) -> Any:
        return self.rsample(shape).floor()

    def rsample(self, shape: Any = ()) -> Any:
        """Samples on the continuous scale, through which the probability is differentiated."""
        return ew.log(uniform_like(self._extended(shape), self.probs)) / ew.log1p(-self.probs)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Any:
        """The variance."""
        return (1 / self.probs - 1) / self.probs

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return ew.sqrt(self.variance)

    def entropy(self) -> Any:
        """The entropy."""
        p = self.probs
        return -((1 - p) * ew.log1p(-p) + p * ew.log(p)) / p

    def pmf(self, k: Any) -> Any:
        """The probability of k failures."""
        return ew.exp(self.log_pmf(k))

    def log_pmf(self, k: Any) -> Any:
        """The log probability of k failures."""
        return k * ew.log1p(-self.probs) + ew.log(self.probs)

    def log_prob(self, value: Any) -> Any:
        """The log probability."""
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability of k failures or fewer."""
        return -ew.expm1((k + 1) * ew.log1p(-self.probs))


class Categorical(Distribution):
    """One of several classes. Probabilities are in proportion to `logits`, as PaddlePaddle has it; entropy and divergence
    take their exponentials."""

    def __init__(self, logits: Any, name: str | None = None) -> None:
        (self.logits,) = arguments("Categorical", logits)
        self.name = name or "Categorical"
        super().__init__(tuple(shape_of(self.logits))[:-1])

    @property
    def _share(self) -> Any:
        return self.logits / self.logits.sum(-1, keepdim=True)

    @property
    def _logs(self) -> Any:
        return sm.log_softmax(self.logits, axis=len(shape_of(self.logits)) - 1)

    def _draw(self, shape: Shape) -> Any:
        full = self._extended(shape)
        weights = np.cumsum(self._share.numpy().astype(np.float64), -1)
        u = default_generator.draw.random(full)[..., None]
        found = (u > weights / weights[..., -1:]).sum(-1)
        return from_array(np.minimum(found, weights.shape[-1] - 1).astype(np.int64))

    def entropy(self) -> Any:
        """The entropy of the softmax of the logits."""
        return -summed(ew.exp(self._logs) * self._logs, 1)

    def probs(self, value: Any) -> Any:
        """The probability of classes."""
        share = self._share
        if len(shape_of(share)) == 1:
            return share.gather(value.flatten()).reshape(value.shape)
        places = value.numpy() if isinstance(value, Value) else np.asarray(value)
        rows = (*np.broadcast_shapes(shape_of(share)[:-1], places.shape[:-1]), shape_of(share)[-1])
        places = np.broadcast_to(places, (*rows[:-1], places.shape[-1]))
        return take_along_axis(broadcast_to(share, shape=rows), places, axis=len(rows) - 1)

    prob = probs

    def log_prob(self, value: Any) -> Any:
        """The log probability of classes."""
        return ew.log(self.probs(value))


class Multinomial(Distribution):
    """How often each class occurs in a number of draws."""

    probs: Any

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ValueError(f"Multinomial: total_count must be a positive int, got {total_count!r}")
        (p,) = arguments("Multinomial", probs)
        self.total_count = total_count
        self.probs = p / p.sum(-1, keepdim=True)  # type: ignore[method-assign]
        shape = tuple(shape_of(p))
        super().__init__(shape[:-1], shape[-1:])

    def _draw(self, shape: Shape) -> Any:
        share = self.probs.numpy().astype(np.float64)
        share /= share.sum(-1, keepdims=True)
        full = np.broadcast_to(share, self._extended(shape)).reshape(-1, share.shape[-1])
        found = np.stack([default_generator.draw.multinomial(self.total_count, row) for row in full])
        return _like(found.reshape(self._extended(shape)), self.probs)

    @property
    def mean(self) -> Any:
        """The expected counts."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.total_count * self.probs * (1 - self.probs)

    def log_prob(self, value: Any) -> Any:
        """The log probability of counts."""
        norm = lgamma(summed(value, 1) + 1) - summed(lgamma(value + 1), 1)
        return norm + summed(xlogy(value, self.probs), 1)

    def entropy(self) -> Any:
        """The entropy."""
        n = self.total_count
        k = np.arange(n + 1, dtype=dtype_of(self.probs)).reshape(-1, *(1,) * len(shape_of(self.probs)))
        single = Binomial(from_array(np.full(tuple(shape_of(self.probs)), float(n), dtype_of(self.probs))), self.probs)
        weights = ew.exp(single.log_prob(from_array(k))) * lgamma(from_array(k + 1))
        once = -summed(self.probs * ew.log(self.probs), 1)
        return n * once - math.lgamma(n + 1) + summed(weights.sum(0), 1)


class Binomial(Distribution):
    """The number of successes among `total_count` trials."""

    probs: Any

    def __init__(self, total_count: Any, probs: Any) -> None:
        self.total_count, self.probs = arguments("Binomial", total_count, probs)  # type: ignore[method-assign]
        super().__init__(shape_of(self.probs))

    def _draw(self, shape: Shape) -> Any:
        full = self._extended(shape)
        n, p = (np.broadcast_to(x.numpy(), full) for x in (self.total_count, self.probs))
        return _like(default_generator.draw.binomial(n.astype(np.int64), p), self.probs)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.mean * (1 - self.probs)

    def log_prob(self, value: Any) -> Any:
        """The log probability."""
        n, p = self.total_count, clip(self.probs, low=_TINY, high=1 - _TINY)
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return ways + value * ew.log(p) + (n - value) * ew.log1p(-p)

    def entropy(self) -> Any:
        """The entropy."""
        most = int(self.total_count.numpy().max())
        k = from_array(np.arange(most + 1, dtype=dtype_of(self.probs)).reshape(-1, *(1,) * len(self._batch_shape)))
        logs = self.log_prob(k)
        return -(ew.exp(logs) * logs).sum(0)


class Poisson(ExponentialFamily):
    """Counts of events of a rate."""

    def __init__(self, rate: Any) -> None:
        (self.rate,) = arguments("Poisson", rate)
        super().__init__(shape_of(self.rate))

    def _draw(self, shape: Shape) -> Any:
        full = self._extended(shape)
        return _like(default_generator.draw.poisson(np.broadcast_to(self.rate.numpy(), full)), self.rate)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.rate

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.rate

    def log_prob(self, value: Any) -> Any:
        """The log probability."""
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)

    def entropy(self) -> Any:
        """The entropy, summed up to thirty deviations above the rate."""
        top = float(self.rate.numpy().max())
        k = np.arange(int(top + 30 * math.sqrt(max(top, 1.0))) + 1, dtype=dtype_of(self.rate))
        logs = self.log_prob(from_array(k.reshape(-1, *(1,) * len(self._batch_shape))))
        return -(ew.exp(logs) * logs).sum(0)
