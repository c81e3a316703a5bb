"""Families of distributions over whole numbers, and over vectors of them.

Trials are described by a probability or by its log odds. With log odds nothing is lost where a probability is close to 1,
so the two have formulas of their own: `log_prob` takes the probability, `log_prob_of_logits` the log odds.
"""

from __future__ import annotations

import math

from .family import F, Family, V

# ------------------------------------------------------------------------------------------ trials

Bernoulli = Family(
    "Bernoulli", "One with probability `probs`, else zero.", "probs",
    mean=lambda f, p: p,
    variance=lambda f, p: p * (1 - p),
    log_prob=lambda f, x, p: x * f.log(p) + (1 - x) * f.log1p(-p),
    entropy=lambda f, p: -f.xlogy(p, p) - f.xlog1py(1 - p, -p),
    natural=lambda f, p: (f.logit(p),),
    log_normaliser=lambda f, x: f.log1p(f.exp(x)),
)  # fmt: skip
Geometric = Family(
    "Geometric", "Failures before the first success, each trial succeeding with probability `probs`.", "probs",
    mean=lambda f, p: (1 - p) / p,
    mode=lambda f, p: f.full_like(p, 0),
    variance=lambda f, p: (1 - p) / p**2,
    log_prob=lambda f, x, p: x * f.log1p(-p) + f.log(p),
    cdf=lambda f, x, p: -f.expm1((x + 1) * f.log1p(-p)),
    entropy=lambda f, p: Bernoulli.entropy(f, p) / p,
)  # fmt: skip


def _log_ways(f: F, x: V, n: V) -> V:
    """The logarithm of the number of ways to choose x of n."""
    return f.lgamma(n + 1) - f.lgamma(x + 1) - f.lgamma(n - x + 1)


def _binomial_log_prob(f: F, x: V, n: V, logits: V) -> V:
    ways = _log_ways(f, x, n)
    unnormalised = x * logits + ways
    # max(logits, 0), with the derivative 1/2 at 0
    positive = (f.clamp(logits, 0, None) + logits - f.clamp(logits, None, 0)) / 2
    return unnormalised - n * (positive + f.log1p(f.exp(-f.abs(logits))))


Binomial = Family(
    "Binomial", "How many of `total_count` trials succeed, each with probability `probs`.", "total_count probs",
    mean=lambda f, n, p: n * p,
    mode=lambda f, n, p: f.clamp(f.floor((n + 1) * p), None, n),
    variance=lambda f, n, p: n * p * (1 - p),
    log_prob=lambda f, x, n, p: _log_ways(f, x, n) + x * f.log(p) + (n - x) * f.log1p(-p),
    log_prob_of_logits=_binomial_log_prob,
)  # fmt: skip


def _negative_binomial_log_prob(f: F, x: V, n: V, logits: V) -> V:
    unnormalised = n * f.log_sigmoid(-logits) + x * f.log_sigmoid(logits)
    ways = -f.lgamma(n + x) + f.lgamma(1.0 + x) + f.lgamma(n)
    return unnormalised - f.where(n + x == 0.0, 0, ways)


NegativeBinomial = Family(
    "NegativeBinomial", "Successes before `total_count` failures, trials succeeding with the log odds `logits`.",
    "total_count logits",
    mean=lambda f, n, logits: n * f.exp(logits),
    mode=lambda f, n, logits: f.clamp(f.floor((n - 1) * f.exp(logits)), 0.0, None),
    variance=lambda f, n, logits: n * f.exp(logits) / f.sigmoid(-logits),
    log_prob=_negative_binomial_log_prob,
)  # fmt: skip
LogitRelaxedBernoulli = Family("LogitRelaxedBernoulli", "The log odds of a relaxed Bernoulli number.")
RelaxedBernoulli = Family(
    "RelaxedBernoulli",
    "Numbers in (0, 1) that tend to Bernoulli numbers as the temperature falls (Maddison et al. 2016).",
)

# ------------------------------------------------------------------------------------------ counts and classes

Poisson = Family(
    "Poisson", "Counts of independent events at the given `rate`.", "rate",
    mean=lambda f, rate: rate,
    mode=lambda f, rate: f.floor(rate),
    variance=lambda f, rate: rate,
    log_prob=lambda f, x, rate: f.xlogy(x, rate) - rate - f.lgamma(x + 1),
    natural=lambda f, rate: (f.log(rate),),
    log_normaliser=lambda f, x: f.exp(x),
)  # fmt: skip
Categorical = Family(
    "Categorical", "One of as many classes as the last axis of `probs` and of their logarithms `logits` has.", "probs logits",
    entropy=lambda f, probs, logits: -f.sum(logits * probs),
)  # fmt: skip
OneHotCategorical = Family(
    "OneHotCategorical", "One-hot vectors drawn with the (unnormalised) probabilities `probs` or log probabilities `logits`.",
)  # fmt: skip
ExpRelaxedCategorical = Family("ExpRelaxedCategorical", "The logarithms of a relaxed one-hot vector.")
RelaxedOneHotCategorical = Family(
    "RelaxedOneHotCategorical",
    "Points of the simplex that tend to one-hot vectors as the temperature falls (Jang et al. 2016).",
)


def _multinomial_entropy(f: F, n: int, once: V, counts: V, log_probs: V) -> V:
    """From the entropy of one draw and, along a new first axis, counts of the classes with their log probabilities."""
    return n * once - math.lgamma(n + 1) + f.sum(f.first(f.exp(log_probs) * f.lgamma(counts + 1)))


def _log_orders(f: F, x: V) -> V:
    """The logarithm of the number of orders in which the counts x may come."""
    return f.lgamma(f.sum(x) + 1) - f.sum(f.lgamma(x + 1))


Multinomial = Family(
    "Multinomial", "How often each class of the probabilities `probs` comes up in `total_count` draws.", "total_count probs",
    mean=lambda f, n, probs: probs * n,
    variance=lambda f, n, probs: n * probs * (1 - probs),
    log_ways=_log_orders,
    log_prob=lambda f, x, n, probs: _log_orders(f, x) + f.sum(f.xlogy(x, probs)),
    entropy=_multinomial_entropy,
)  # fmt: skip
