"""The divergences that are known in closed form; they register themselves (see distribution.py)."""

from __future__ import annotations

from typing import Any

from ....ops import elementwise as ew
from ....ops.linalg import solve_triangular
from ....ops.special import digamma, lgamma
from .continuous import (
    Beta,
    Cauchy,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    Gamma,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete import Bernoulli, Binomial, Categorical, Geometric, Poisson
from .distribution import inside, register_kl, summed


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = ew.square(p.scale / q.scale)
    return 0.5 * (ratio + ew.square((p.loc - q.loc) / q.scale) - 1 - ew.log(ratio))


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p._base, q._base)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, ew.absolute(p.loc - q.loc)
    return -ew.log(ratio) + ratio * ew.exp(-distance / p.scale) + distance / q.scale - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    top = ew.square(p.scale + q.scale) + ew.square(p.loc - q.loc)
    return ew.log(top / (4 * p.scale * q.scale))


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    within = (q.low <= p.low).logical_and(q.high >= p.high)
    return inside(within, ew.log((q.high - q.low) / (p.high - p.low)), float("inf"))


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ew.log(ratio) - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return (a - b) * digamma(a) - lgamma(a) + lgamma(b) + b * ew.log(p.rate / q.rate) + a * (q.rate / p.rate - 1)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    da, db = p.alpha - q.alpha, p.beta - q.beta
    total = p.alpha + p.beta
    return q._log_beta() - p._log_beta() + da * digamma(p.alpha) + db * digamma(p.beta) - (da + db) * digamma(total)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, keepdim=True)
    norm = lgamma(summed(a, 1)) - lgamma(summed(b, 1)) - summed(lgamma(a) - lgamma(b), 1)
    return norm + summed((a - b) * (digamma(a) - digamma(total)), 1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: Any, q: Any) -> Any:
    whitened = solve_triangular(q.scale_tril, p.scale_tril, upper=False, left=True, unit=False)
    spread = summed(ew.square(whitened), 2)
    dets = q._half_log_det() - p._half_log_det()
    return dets + 0.5 * (spread + q._mahalanobis(q.loc - p.loc) - p.event_shape[0])


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    a, b = p._safe, q._safe
    return a * (ew.log(a) - ew.log(b)) + (1 - a) * (ew.log1p(-a) - ew.log1p(-b))


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return p.probs * ew.log(p.probs / q.probs) + (1 - p.probs) * (ew.log1p(-p.probs) - ew.log1p(-q.probs))


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return (ew.exp(p._logs) * (p._logs - q._logs)).sum(-1, keepdim=True)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    return p.total_count * _bernoulli(Bernoulli(p.probs), Bernoulli(q.probs))


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (ew.log(p.rate) - ew.log(q.rate)) - p.rate + q.rate


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    return q._log_mass() - p._log_mass() + (p._odds - q._odds) * p.mean
