"""Kullback-Leibler divergences within one family."""

from __future__ import annotations

from typing import Any

from ... import torch
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal, low_rank_log_det, low_rank_mahalanobis
from .multivariate_normal import MultivariateNormal, batch_mahalanobis, half_log_det
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost


def fill(x: Any, mask: Any, value: float) -> Any:
    """`x` with `value` where the mask is set."""
    return torch.where(mask, torch.full_like(x, value), x)


def infinite_like(x: Any) -> Any:
    """Infinity in the shape of x."""
    return torch.full_like(x, torch.inf)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Any, q: Any) -> Any:
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1 = fill(fill(t1, q.probs == 0, torch.inf), p.probs == 0, 0.0)
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2 = fill(fill(t2, q.probs == 1, torch.inf), p.probs == 1, 0.0)
    return t1 + t2


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Any, q: Any) -> Any:
    sum_p, sum_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + sum_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + sum_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return t1 - t2 + t3 + t4 + (sum_q - sum_p) * torch.digamma(sum_p)


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("kl_divergence: for binomials where q has more trials than p it is not known")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return fill(kl, p.total_count > q.total_count, torch.inf)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t = fill(fill(t, (q.probs == 0).expand_as(t), torch.inf), (p.probs == 0).expand_as(t), 0.0)
    return t.sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Any:
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    return t1 + t2 - q._cont_bern_log_norm() - torch.log1p(-q.probs)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Any, q: Any) -> Any:
    sum_p, sum_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = sum_p.lgamma() - sum_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - sum_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Any:
    """The Bregman divergence of the log normaliser at the natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError("kl_divergence: of different exponential families it is not known")
    p_params = [x.detach().requires_grad_() for x in p._natural_params]
    normaliser = p._log_normalizer(*p_params)
    gradients = torch.autograd.grad(normaliser.sum(), p_params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normaliser
    for x, y, gradient in zip(p_params, q._natural_params, gradients):
        result = result - sum_rightmost((y - x) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Any, q: Any) -> Any:
    ct1, ct2, ct3 = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    t1 = -ct1.log() - ct2 + ct3
    return t1 + ct1 * euler_constant + torch.exp(ct2 + (1 + ct1).lgamma() - ct3) - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p: Any, q: Any) -> Any:
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


def _trace_of_squares(factor: Any, columns: Any) -> Any:
    """The sum of the squares of `factor^-1 columns`, batches broadcast."""
    return torch.linalg.solve_triangular(factor, columns, upper=False).pow(2).sum((-2, -1))


def _log_det(d: Any) -> Any:
    """The logarithm of the determinant of the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return low_rank_log_det(d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * half_log_det(d._unbroadcasted_scale_tril)


def _columns(d: Any) -> Any:
    """A matrix b with the covariance b b'."""
    if isinstance(d, LowRankMultivariateNormal):
        return torch.cat([d._unbroadcasted_cov_factor.expand(d._unbroadcasted_cov_diag.shape + (-1,)),
                          torch.diag_embed(d._unbroadcasted_cov_diag.sqrt())], -1)  # fmt: skip
    return d._unbroadcasted_scale_tril


def _kl_normals(p: Any, q: Any) -> Any:
    """For multivariate normals: log determinants, the trace of the one covariance in the other's units, the means."""
    if p.event_shape != q.event_shape:
        raise ValueError(f"kl_divergence: the event shapes {tuple(p.event_shape)} and {tuple(q.event_shape)} differ")
    n = p.event_shape[0]
    term1 = _log_det(q) - _log_det(p)
    if isinstance(q, LowRankMultivariateNormal):
        factor, diagonal, capacitance = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril
        columns = _columns(p)
        term3 = low_rank_mahalanobis(factor, diagonal, q.loc - p.loc, capacitance)
        scaled = torch.matmul(factor.mT / diagonal.unsqueeze(-2), columns)
        term2 = (columns.pow(2) / diagonal.unsqueeze(-1)).sum((-2, -1)) - _trace_of_squares(capacitance, scaled)
    else:
        term3 = batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
        term2 = _trace_of_squares(q._unbroadcasted_scale_tril, _columns(p))
    return 0.5 * (term1 + term2 + term3 - n)


for _left in (MultivariateNormal, LowRankMultivariateNormal):
    for _right in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_left, _right)(_kl_normals)


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p: Any, q: Any) -> Any:
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p: Any, q: Any) -> Any:
    scale_ratio, alpha_ratio = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * scale_ratio.log() - alpha_ratio.log() + alpha_ratio - 1
    return fill(result, p.support.lower_bound < q.support.lower_bound, torch.inf)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms:
        raise NotImplementedError("kl_divergence: of distributions with different transforms it is not known")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: of transforms to different event shapes it is not known")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return fill(result, (q.low > p.low) | (q.high < p.high), torch.inf)


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: of Independents with different numbers of dimensions it is not known")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Any, q: Any) -> Any:
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()
