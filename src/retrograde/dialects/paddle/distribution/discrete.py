"""Distributions over numbers that can be counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn.distributions import discrete as families
from ....ops import elementwise as ew
from ....ops import softmax as sm
from ....ops.activation import sigmoid
from ....ops.indexing import take_along_axis
from ....ops.structural import broadcast_to
from .._conversion import cast
from .._tensor import from_array
from ..random import default_generator
from ._rows import F, row
from .distribution import Distribution, ExponentialFamily, Shape, arguments, uniform_like

_TINY = 1.1920929e-07  # the epsilon of float32, by which probabilities keep away from 0 and 1
ONE = "probs, name: str | None = None"


def _like(array: Any, x: Any) -> Any:
    return from_array(np.asarray(array).astype(dtype_of(x)))


def _plain(self: Any, shape: Shape, *parameters: Any) -> tuple[Any, ...]:
    """The shape of the samples, and the parameters' elements for each of them."""
    full = self._extended(shape)
    return (full, *(np.broadcast_to(p.numpy(), full) for p in parameters))


SAFE = property(lambda self: F.clamp(self.probs, _TINY, 1 - _TINY))
LOGITS = property(lambda self: F.log(self._safe) - F.log1p(-self._safe), doc="The logarithm of the odds.")


def _bernoulli(self: Any, shape: Shape) -> Any:
    full, probs = _plain(self, shape, self.probs)
    return _like(default_generator.draw.random(full) < probs, self.probs)


def _relaxed(self: Any, shape: Any = (), temperature: float = 1.0) -> Any:
    """Samples of the relaxed distribution, between 0 and 1, through which the probability is differentiated."""
    u = uniform_like(self._extended(shape), self.probs)
    return sigmoid((self.logits + ew.log(u) - ew.log1p(-u)) / temperature)


def _bernoulli_cdf(self: Any, value: Any) -> Any:
    one = (value >= 1).astype(self.probs.dtype)
    return (value >= 0).astype(self.probs.dtype) * (one + (1 - one) * (1 - self.probs))


def _geometric(self: Any, shape: Any = ()) -> Any:
    """Samples on the continuous scale, through which the probability is differentiated."""
    return ew.log(uniform_like(self._extended(shape), self.probs)) / ew.log1p(-self.probs)


def _log_pmf(self: Any, k: Any) -> Any:
    """The log probability of k failures."""
    return families.Geometric.log_prob(F, k, self.probs)


Bernoulli = row(
    families.Bernoulli, ONE, base=ExponentialFamily, keeps=("_safe",), _safe=SAFE, logits=LOGITS,
    mean=property(lambda self: self.probs), variance=property(lambda self: self.probs * (1 - self.probs)),
    cdf=_bernoulli_cdf, draw=_bernoulli, rsample=_relaxed,
)  # fmt: skip
Geometric = row(
    families.Geometric, ONE, base=ExponentialFamily, _safe=SAFE, logits=LOGITS,
    stddev=property(lambda self: ew.sqrt(self.variance)), cdf=lambda self, k: families.Geometric.cdf(F, k, self.probs),
    pmf=lambda self, k: ew.exp(self.log_pmf(k)), log_pmf=_log_pmf, draw=lambda self, shape: self.rsample(shape).floor(),
    rsample=_geometric,
)  # fmt: skip


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
        return families.Categorical.entropy(F, ew.exp(self._logs), self._logs)

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


def _multinomial_take(self: Any, total_count: Any, probs: Any) -> Any:
    if not isinstance(total_count, int) or total_count < 1:
        raise ValueError(f"Multinomial: total_count must be a positive int, got {total_count!r}")
    (p,) = arguments("Multinomial", probs)
    self.total_count, self.probs = total_count, p / p.sum(-1, keepdim=True)
    shape = tuple(shape_of(p))
    return shape[:-1], shape[-1:]


def _multinomial(self: Any, shape: Shape) -> Any:
    share = self.probs.numpy().astype(np.float64)
    share /= share.sum(-1, keepdims=True)
    full = np.broadcast_to(share, self._extended(shape)).reshape(-1, share.shape[-1])
    found = np.stack([default_generator.draw.multinomial(self.total_count, row) for row in full])
    return _like(found.reshape(self._extended(shape)), self.probs)


def _counts(most: int, like: Any) -> Any:
    """The numbers up to `most` along a new first axis."""
    return from_array(np.arange(most + 1, dtype=dtype_of(like)).reshape(-1, *(1,) * len(shape_of(like))))


def _multinomial_entropy(self: Any) -> Any:
    n, p = self.total_count, self.probs
    single = Binomial(from_array(np.full(tuple(shape_of(p)), float(n), dtype_of(p))), p)
    counts = _counts(n, p)
    return families.Multinomial.entropy(F, n, -F.sum(p * ew.log(p)), counts, single.log_prob(counts))


Multinomial = row(
    families.Multinomial, "total_count: int, probs", take=_multinomial_take, draw=_multinomial,
    entropy=_multinomial_entropy,
)  # fmt: skip


def _entropy_up_to(self: Any, most: int, like: Any) -> Any:
    """The entropy, from the probabilities of the numbers up to `most`."""
    logs = self.log_prob(_counts(most, like))
    return -(ew.exp(logs) * logs).sum(0)


def _binomial(self: Any, shape: Shape) -> Any:
    _, n, p = _plain(self, shape, self.total_count, self.probs)
    return _like(default_generator.draw.binomial(n.astype(np.int64), p), self.probs)


def _poisson(self: Any, shape: Shape) -> Any:
    return _like(default_generator.draw.poisson(_plain(self, shape, self.rate)[1]), self.rate)


def _poisson_entropy(self: Any) -> Any:
    """The entropy, summed up to thirty deviations above the rate."""
    top = float(self.rate.numpy().max())
    return _entropy_up_to(self, int(top + 30 * math.sqrt(max(top, 1.0))), self.rate)


Binomial = row(
    families.Binomial, "total_count, probs", draw=_binomial, _safe=SAFE,
    log_prob=lambda self, value: families.Binomial.log_prob(F, cast(value, self._safe.dtype), self.total_count, self._safe),
    entropy=lambda self: _entropy_up_to(self, int(self.total_count.numpy().max()), self.probs),
)  # fmt: skip
Poisson = row(families.Poisson, "rate", base=ExponentialFamily, draw=_poisson, entropy=_poisson_entropy)
