"""Kullback-Leibler divergences by pairs of families: of the vocabulary and two things that have the parameters of the
families as attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .continuous import (
    Beta,
    Cauchy,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Pareto,
    Uniform,
)  # fmt: skip
from .discrete import Bernoulli, Binomial, Categorical, Geometric, Poisson
from .family import EULER, F, Family, V

DIVERGENCES: dict[tuple[Family, Family], Callable[[F, Any, Any], V]] = {}

LOG_2PI = math.log(2 * math.pi)


def divergence(p: Family, q: Family) -> Callable[[Any], Any]:
    """Enter a function as the divergence of q from p."""

    def enter(function: Callable[[F, Any, Any], V]) -> Callable[[F, Any, Any], V]:
        DIVERGENCES[p, q] = function
        return function

    return enter


# ------------------------------------------------------------------------------------------ within a family


@divergence(Bernoulli, Bernoulli)
def _bernoulli(f: F, p: Any, q: Any) -> V:
    a, b = p.probs, q.probs
    return a * (f.log(a) - f.log(b)) + (1 - a) * (f.log1p(-a) - f.log1p(-b))


def bernoulli_of_logits(f: F, p: Any, q: Any) -> V:
    """Of things that have the log odds, too: for any of them, with derivatives of 0 where a probability is 0 or 1."""
    ones = p.probs * (f.softplus(-q.logits) - f.softplus(-p.logits))
    ones = f.where(p.probs == 0, 0.0, f.where(q.probs == 0, math.inf, ones))
    zeros = (1 - p.probs) * (f.softplus(q.logits) - f.softplus(p.logits))
    return ones + f.where(p.probs == 1, 0.0, f.where(q.probs == 1, math.inf, zeros))


@divergence(Beta, Beta)
def _beta(f: F, p: Any, q: Any) -> V:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    sum_p, sum_q = p1 + p0, q1 + q0
    t1 = f.lgamma(q1) + f.lgamma(q0) + f.lgamma(sum_p)
    t2 = f.lgamma(p1) + f.lgamma(p0) + f.lgamma(sum_q)
    return t1 - t2 + (p1 - q1) * f.digamma(p1) + (p0 - q0) * f.digamma(p0) + (sum_q - sum_p) * f.digamma(sum_p)


@divergence(Categorical, Categorical)
def _categorical(f: F, p: Any, q: Any) -> V:
    t = f.where(q.probs == 0, math.inf, p.probs * (p.logits - q.logits))
    return f.sum(f.where(p.probs == 0, 0.0, t))


@divergence(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(f: F, p: Any, q: Any) -> V:
    mass_q, mass_p = (ContinuousBernoulli.ask("log_mass", f, d) for d in (q, p))
    return mass_q - mass_p + (p._odds - q._odds) * ContinuousBernoulli.ask("mean", f, p)


@divergence(Dirichlet, Dirichlet)
def _dirichlet(f: F, p: Any, q: Any) -> V:
    a, b = p.concentration, q.concentration
    sum_a, sum_b = f.sum(a), f.sum(b)
    t1 = f.lgamma(sum_a) - f.lgamma(sum_b)
    t2 = f.sum(f.lgamma(a) - f.lgamma(b))
    return t1 - t2 + f.sum((a - b) * (f.digamma(a) - f.column(f.digamma(sum_a))))


@divergence(Exponential, Exponential)
def _exponential(f: F, p: Any, q: Any) -> V:
    ratio = q.rate / p.rate
    return -f.log(ratio) + ratio - 1


@divergence(Gamma, Gamma)
def _gamma(f: F, p: Any, q: Any) -> V:
    a, b = p.concentration, q.concentration
    t1 = b * f.log(p.rate / q.rate)
    t2 = f.lgamma(b) - f.lgamma(a)
    return t1 + t2 + (a - b) * f.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@divergence(Geometric, Geometric)
def _geometric(f: F, p: Any, q: Any) -> V:
    a, b = p.probs, q.probs
    return f.log(a / b) + (f.xlog1py(1 - a, -a) - f.xlog1py(1 - a, -b)) / a


@divergence(Gumbel, Gumbel)
def _gumbel(f: F, p: Any, q: Any) -> V:
    ratio = p.scale / q.scale
    moved = f.expm1((q.loc - p.loc) / q.scale + f.lgamma(ratio + 1))
    return (p.loc - q.loc) / q.scale - f.log(ratio) + EULER * (ratio - 1) + moved


@divergence(Laplace, Laplace)
def _laplace(f: F, p: Any, q: Any) -> V:
    ratio = p.scale / q.scale
    distance = f.abs(p.loc - q.loc)
    return -f.log(ratio) + distance / q.scale + ratio * f.exp(-distance / p.scale) - 1


@divergence(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(f: F, p: Any, q: Any) -> V:
    """The logarithms of the determinants, the trace of the one covariance in the other's units, the means."""
    dets = 2 * (MultivariateNormal.half_log_det(f, q.scale_tril) - MultivariateNormal.half_log_det(f, p.scale_tril))
    trace = f.sum(f.solve(q.scale_tril, p.scale_tril) ** 2, axes=2)
    return 0.5 * (dets + trace + f.mahalanobis(q.scale_tril, q.loc - p.loc) - p.loc.shape[-1])


@divergence(LogNormal, LogNormal)
@divergence(Normal, Normal)
def _normal(f: F, p: Any, q: Any) -> V:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - f.log(ratio))


@divergence(HalfNormal, HalfNormal)
def _half_normal(f: F, p: Any, q: Any) -> V:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - f.log(ratio))


@divergence(Pareto, Pareto)
def _pareto(f: F, p: Any, q: Any) -> V:
    ratio = q.alpha / p.alpha
    result = q.alpha * f.log(p.scale / q.scale) - f.log(ratio) + ratio - 1
    return f.where(p.scale < q.scale, math.inf, result)


@divergence(Uniform, Uniform)
def _uniform(f: F, p: Any, q: Any) -> V:
    result = f.log((q.high - q.low) / (p.high - p.low))
    return f.where((q.low > p.low) | (q.high < p.high), math.inf, result)


DIVERGENCES |= {
    # Of binomials with as many trials.
    (Binomial, Binomial): lambda f, p, q: p.total_count * _bernoulli(f, p, q),
    (Cauchy, Cauchy): lambda f, p, q: f.log(((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2) / (4 * p.scale * q.scale)),
    (Poisson, Poisson): lambda f, p, q: p.rate * (f.log(p.rate) - f.log(q.rate)) - (p.rate - q.rate),
}  # fmt: skip

# ------------------------------------------------------------------------------------------ between families


# The support of the one is not inside that of the other; the parameter of the one that has the shape of the result.
_UNBOUNDED = (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_INFINITE: tuple[tuple[Family, tuple[Family, ...], str], ...] = (
    (Beta, (Pareto,), "concentration1"), (ContinuousBernoulli, (Pareto,), "_odds"),
    (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform), "rate"),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform), "concentration"), (Gumbel, _UNBOUNDED, "loc"),
    (Laplace, _UNBOUNDED, "loc"), (Normal, _UNBOUNDED, "loc"), (Pareto, (Beta, ContinuousBernoulli, Uniform), "scale"),
    (Poisson, (Bernoulli, Binomial), "rate"),
)  # fmt: skip


def _infinite(parameter: str) -> Callable[[F, Any, Any], V]:
    return lambda f, p, q: f.full_like(getattr(p, parameter), math.inf)


for _p, _qs, _parameter in _INFINITE:
    for _q in _qs:
        divergence(_p, _q)(_infinite(_parameter))


def _x_log_x(f: F, x: V) -> V:
    return f.xlogy(x, x)


@divergence(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(f: F, p: Any, q: Any) -> V:
    mean = Beta.ask("mean", f, p)
    return ContinuousBernoulli.ask("log_mass", f, q) - Beta.ask("entropy", f, p) - mean * q._odds


@divergence(Beta, Exponential)
def _beta_exponential(f: F, p: Any, q: Any) -> V:
    mean = p.concentration1 / (p.concentration1 + p.concentration0)
    return -Beta.ask("entropy", f, p) - f.log(q.rate) + q.rate * mean


@divergence(Beta, Gamma)
def _beta_gamma(f: F, p: Any, q: Any) -> V:
    total = p.concentration1 + p.concentration0
    t2 = f.lgamma(q.concentration) - q.concentration * f.log(q.rate)
    t3 = (q.concentration - 1) * (f.digamma(p.concentration1) - f.digamma(total))
    return -Beta.ask("entropy", f, p) + t2 - t3 + q.rate * p.concentration1 / total


@divergence(Beta, Normal)
def _beta_normal(f: F, p: Any, q: Any) -> V:
    total = p.concentration1 + p.concentration0
    mean = p.concentration1 / total
    variance = q.scale**2
    t3 = mean * (1 - mean) / (total + 1) + mean**2
    spread = 0.5 * t3 - q.loc * mean + 0.5 * q.loc**2
    return -Beta.ask("entropy", f, p) + 0.5 * f.log(variance * 2 * math.pi) + spread / variance


@divergence(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(f: F, p: Any, q: Any) -> V:
    mean, variance = ContinuousBernoulli.ask("mean", f, p), ContinuousBernoulli.ask("variance", f, p)
    t2 = 0.5 * (LOG_2PI + (q.loc / q.scale) ** 2) + f.log(q.scale)
    t3 = (variance + mean**2 - 2.0 * q.loc * mean) / (2.0 * q.scale**2)
    return -ContinuousBernoulli.ask("entropy", f, p) + t2 + t3


@divergence(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(f: F, p: Any, q: Any) -> V:
    result = -ContinuousBernoulli.ask("entropy", f, p) + f.log(q.high - q.low)
    return f.where((q.low >= 0.0) | (q.high <= 1.0), math.inf, result)


@divergence(Exponential, Gamma)
def _exponential_gamma(f: F, p: Any, q: Any) -> V:
    ratio = q.rate / p.rate
    return -q.concentration * f.log(ratio) + ratio + f.lgamma(q.concentration) + q.concentration * EULER - (1 + EULER)


@divergence(Exponential, Gumbel)
def _exponential_gumbel(f: F, p: Any, q: Any) -> V:
    product, ratio = p.rate * q.scale, q.loc / q.scale
    return f.log(product) - 1 - ratio + f.exp(ratio) * product / (product + 1) + f.reciprocal(product)


@divergence(Exponential, Normal)
def _exponential_normal(f: F, p: Any, q: Any) -> V:
    variance, square = q.scale**2, p.rate**2
    t1 = 0.5 * f.log(square * variance * 2 * math.pi)
    return t1 - 1 + (f.reciprocal(square) - q.loc / p.rate + q.loc**2 * 0.5) / variance


@divergence(Gamma, Gumbel)
def _gamma_gumbel(f: F, p: Any, q: Any) -> V:
    a, product, ratio = p.concentration, p.rate * q.scale, q.loc / q.scale
    t1 = (a - 1) * f.digamma(a) - f.lgamma(a) - a
    return t1 + (f.log(product) + a / product) + f.exp(ratio) * (1 + f.reciprocal(product)) ** -a - ratio


@divergence(Gamma, Normal)
def _gamma_normal(f: F, p: Any, q: Any) -> V:
    a, variance, square = p.concentration, q.scale**2, p.rate**2
    t1 = 0.5 * f.log(square * variance * 2 * math.pi) - a - f.lgamma(a)
    spread = 0.5 * (a**2 + a) / square - q.loc * a / p.rate + 0.5 * q.loc**2
    return t1 + (a - 1) * f.digamma(a) + spread / variance


@divergence(Gumbel, Normal)
def _gumbel_normal(f: F, p: Any, q: Any) -> V:
    ratio = p.scale / q.scale
    t2 = (math.pi * ratio * 0.5) ** 2 / 3
    t3 = ((p.loc + p.scale * EULER - q.loc) / q.scale) ** 2 * 0.5
    return -f.log(ratio / math.sqrt(2 * math.pi)) + t2 + t3 - (EULER + 1)


@divergence(Laplace, Normal)
def _laplace_normal(f: F, p: Any, q: Any) -> V:
    variance = q.scale**2
    ratio = p.scale**2 / variance
    moved = 0.5 * p.loc**2 - p.loc * q.loc + 0.5 * q.loc**2
    return -(0.5 * f.log(2 * ratio / math.pi)) + ratio + moved / variance - 1


@divergence(Normal, Gumbel)
def _normal_gumbel(f: F, p: Any, q: Any) -> V:
    mean, variance, loc = p.loc / q.scale, (p.scale / q.scale) ** 2, q.loc / q.scale
    t3 = f.exp(-mean + 0.5 * variance + loc)
    return -f.log(variance) * 0.5 + mean - loc + t3 - 0.5 * (1 + LOG_2PI)


@divergence(Normal, Laplace)
def _normal_laplace(f: F, p: Any, q: Any) -> V:
    distance = p.loc - q.loc
    ratio = distance / p.scale
    t2 = math.sqrt(2 / math.pi) * p.scale * f.exp(-0.5 * ratio**2)
    t3 = distance * f.erf(math.sqrt(0.5) * ratio)
    return -f.log(p.scale / q.scale) + (t2 + t3) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


@divergence(Pareto, Exponential)
def _pareto_exponential(f: F, p: Any, q: Any) -> V:
    a, product = p.alpha, p.scale * q.rate
    result = f.log(a / product) - f.reciprocal(a) + a * product / (a - 1) - 1
    return f.where(a <= 1, math.inf, result)


@divergence(Pareto, Gamma)
def _pareto_gamma(f: F, p: Any, q: Any) -> V:
    a, common = p.alpha, f.log(p.scale) + f.reciprocal(p.alpha)
    t2 = f.lgamma(q.concentration) - q.concentration * f.log(q.rate)
    t4 = q.rate * a * p.scale / (a - 1)
    return f.where(a <= 1, math.inf, f.log(a) - common + t2 + (1 - q.concentration) * common + t4 - 1)


@divergence(Pareto, Normal)
def _pareto_normal(f: F, p: Any, q: Any) -> V:
    a, variance = p.alpha, 2 * q.scale**2
    common = p.scale / (a - 1)
    t1 = f.log(math.sqrt(2 * math.pi) * q.scale * a / p.scale)
    spread = a * common**2 / (a - 2) + (a * common - q.loc) ** 2
    return f.where(a <= 2, math.inf, t1 - f.reciprocal(a) + spread / variance - 1)


@divergence(Uniform, Beta)
def _uniform_beta(f: F, p: Any, q: Any) -> V:
    a, b, width = q.concentration1, q.concentration0, p.high - p.low
    t2 = (a - 1) * (_x_log_x(f, p.high) - _x_log_x(f, p.low) - width) / width
    t3 = (b - 1) * (_x_log_x(f, 1 - p.high) - _x_log_x(f, 1 - p.low) + width) / width
    t4 = f.lgamma(a) + f.lgamma(b) - f.lgamma(a + b)
    return f.where((p.high > 1.0) | (p.low < 0.0), math.inf, t3 + t4 - f.log(width) - t2)


@divergence(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(f: F, p: Any, q: Any) -> V:
    mean = Uniform.ask("mean", f, p)
    result = ContinuousBernoulli.ask("log_mass", f, q) - Uniform.ask("entropy", f, p) - mean * q._odds
    return f.where((p.high >= 1.0) | (p.low <= 0.0), math.inf, result)


@divergence(Uniform, Exponential)
def _uniform_exponential(f: F, p: Any, q: Any) -> V:
    result = q.rate * (p.high + p.low) / 2 - f.log((p.high - p.low) * q.rate)
    return f.where(p.low < 0.0, math.inf, result)


@divergence(Uniform, Gamma)
def _uniform_gamma(f: F, p: Any, q: Any) -> V:
    width = p.high - p.low
    t2 = f.lgamma(q.concentration) - q.concentration * f.log(q.rate)
    t3 = (1 - q.concentration) * (_x_log_x(f, p.high) - _x_log_x(f, p.low) - width) / width
    return f.where(p.low < 0.0, math.inf, -f.log(width) + t2 + t3 + q.rate * (p.high + p.low) / 2)


@divergence(Uniform, Gumbel)
def _uniform_gumbel(f: F, p: Any, q: Any) -> V:
    common = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return f.log(common) + 0.5 * (high + low) - common * (f.exp(-high) - f.exp(-low))


@divergence(Uniform, Normal)
def _uniform_normal(f: F, p: Any, q: Any) -> V:
    width = p.high - p.low
    t1 = f.log(math.sqrt(math.pi * 2) * q.scale / width)
    return t1 + 0.5 * (width**2 / 12 + ((p.high + p.low - 2 * q.loc) / 2) ** 2) / q.scale**2


@divergence(Uniform, Pareto)
def _uniform_pareto(f: F, p: Any, q: Any) -> V:
    width = p.high - p.low
    t1 = f.log(q.alpha * q.scale**q.alpha * width)
    t2 = (_x_log_x(f, p.high) - _x_log_x(f, p.low) - width) / width
    return f.where(p.low < q.scale, math.inf, t2 * (q.alpha + 1) - t1)


DIVERGENCES |= {
    (Beta, Uniform): lambda f, p, q: f.where(
        (q.low > 0.0) | (q.high < 1.0), math.inf, -Beta.ask("entropy", f, p) + f.log(q.high - q.low)),
    (ContinuousBernoulli, Exponential): lambda f, p, q: (
        -ContinuousBernoulli.ask("entropy", f, p) - f.log(q.rate) + q.rate * ContinuousBernoulli.ask("mean", f, p)),
    (Gamma, Exponential): lambda f, p, q: -Gamma.ask("entropy", f, p) - f.log(q.rate) + q.rate * p.concentration / p.rate,
}  # fmt: skip
