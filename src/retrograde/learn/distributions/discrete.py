"""Families of distributions over whole numbers, and over vectors of them.

Trials are described by a probability or by its log odds. With log odds nothing is lost where a probability is close to 1,
so the two have formulas of their own: `log_prob` takes the probability, `log_prob_of_logits` the log odds.
"""

from __future__ import annotations

import math

from .family import F, Family, V


class Bernoulli(Family):
    """One with probability `probs`, else zero."""

    parameters = ("probs",)

    def mean(f: F, probs: V) -> V:
        return probs

    def variance(f: F, probs: V) -> V:
        return probs * (1 - probs)

    def log_prob(f: F, x: V, probs: V) -> V:
        return x * f.log(probs) + (1 - x) * f.log1p(-probs)

    def entropy(f: F, probs: V) -> V:
        return -f.xlogy(probs, probs) - f.xlog1py(1 - probs, -probs)

    def natural(f: F, probs: V) -> V:
        return (f.logit(probs),)

    def log_normaliser(f: F, x: V) -> V:
        return f.log1p(f.exp(x))


class Geometric(Family):
    """Failures before the first success, each trial succeeding with probability `probs`."""

    parameters = ("probs",)

    def mean(f: F, probs: V) -> V:
        return (1 - probs) / probs

    def mode(f: F, probs: V) -> V:
        return f.full_like(probs, 0)

    def variance(f: F, probs: V) -> V:
        return (1 - probs) / probs**2

    def log_prob(f: F, x: V, probs: V) -> V:
        return x * f.log1p(-probs) + f.log(probs)

    def cdf(f: F, x: V, probs: V) -> V:
        return -f.expm1((x + 1) * f.log1p(-probs))

    def entropy(f: F, probs: V) -> V:
        return Bernoulli.entropy(f, probs) / probs


class Binomial(Family):
    """How many of `total_count` trials succeed, each with probability `probs`."""

    parameters = ("total_count", "probs")

    def mean(f: F, n: V, probs: V) -> V:
        return n * probs

    def mode(f: F, n: V, probs: V) -> V:
        return f.clamp(f.floor((n + 1) * probs), None, n)

    def variance(f: F, n: V, probs: V) -> V:
        return n * probs * (1 - probs)

    def log_ways(f: F, x: V, n: V) -> V:
        """The logarithm of the number of ways to choose x of n."""
        return f.lgamma(n + 1) - f.lgamma(x + 1) - f.lgamma(n - x + 1)

    def log_prob(f: F, x: V, n: V, probs: V) -> V:
        return Binomial.log_ways(f, x, n) + x * f.log(probs) + (n - x) * f.log1p(-probs)

    def log_prob_of_logits(f: F, x: V, n: V, logits: V) -> V:
        ways = Binomial.log_ways(f, x, n)
        unnormalised = x * logits + ways
        # max(logits, 0), with the derivative 1/2 at 0
        positive = (f.clamp(logits, 0, None) + logits - f.clamp(logits, None, 0)) / 2
        return unnormalised - n * (positive + f.log1p(f.exp(-f.abs(logits))))


class NegativeBinomial(Family):
    """Successes before `total_count` failures, trials succeeding with the log odds `logits`."""

    parameters = ("total_count", "logits")

    def mean(f: F, n: V, logits: V) -> V:
        return n * f.exp(logits)

    def mode(f: F, n: V, logits: V) -> V:
        return f.clamp(f.floor((n - 1) * f.exp(logits)), 0.0, None)

    def variance(f: F, n: V, logits: V) -> V:
        return NegativeBinomial.mean(f, n, logits) / f.sigmoid(-logits)

    def log_prob(f: F, x: V, n: V, logits: V) -> V:
        unnormalised = n * f.log_sigmoid(-logits) + x * f.log_sigmoid(logits)
        ways = -f.lgamma(n + x) + f.lgamma(1.0 + x) + f.lgamma(n)
        return unnormalised - f.where(n + x == 0.0, 0, ways)


class Poisson(Family):
    """Counts of independent events at the given `rate`."""

    parameters = ("rate",)

    def mean(f: F, rate: V) -> V:
        return rate

    def mode(f: F, rate: V) -> V:
        return f.floor(rate)

    variance = mean

    def log_prob(f: F, x: V, rate: V) -> V:
        return f.xlogy(x, rate) - rate - f.lgamma(x + 1)

    def natural(f: F, rate: V) -> V:
        return (f.log(rate),)

    def log_normaliser(f: F, x: V) -> V:
        return f.exp(x)


class Categorical(Family):
    """One of as many classes as the last axis of `probs` and of their logarithms `logits` has."""

    parameters = ("probs", "logits")

    def entropy(f: F, probs: V, logits: V) -> V:
        return -f.sum(logits * probs)


class Multinomial(Family):
    """How often each class of the probabilities `probs` comes up in `total_count` draws."""

    parameters = ("total_count", "probs")

    def mean(f: F, n: int, probs: V) -> V:
        return probs * n

    def variance(f: F, n: int, probs: V) -> V:
        return n * probs * (1 - probs)

    def log_ways(f: F, x: V) -> V:
        """The logarithm of the number of orders in which the counts x may come."""
        return f.lgamma(f.sum(x) + 1) - f.sum(f.lgamma(x + 1))

    def log_prob(f: F, x: V, n: int, probs: V) -> V:
        return Multinomial.log_ways(f, x) + f.sum(f.xlogy(x, probs))

    def entropy(f: F, n: int, once: V, counts: V, log_probs: V) -> V:
        """The entropy, from that of one draw and, along a new first axis, counts of the classes with their log
        probabilities."""
        return n * once - math.lgamma(n + 1) + f.sum(f.first(f.exp(log_probs) * f.lgamma(counts + 1)))


class OneHotCategorical(Family):
    """One-hot vectors drawn with the (unnormalised) probabilities `probs` or log probabilities `logits`."""

    parameters = ("probs", "logits")


class LogitRelaxedBernoulli(Family):
    """The log odds of a relaxed Bernoulli number."""

    parameters = ("temperature", "probs", "logits")


class RelaxedBernoulli(LogitRelaxedBernoulli):
    """Numbers in (0, 1) that tend to Bernoulli numbers as the temperature falls (Maddison et al. 2016)."""


class ExpRelaxedCategorical(LogitRelaxedBernoulli):
    """The logarithms of a relaxed one-hot vector."""


class RelaxedOneHotCategorical(LogitRelaxedBernoulli):
    """Points of the simplex that tend to one-hot vectors as the temperature falls (Jang et al. 2016)."""
