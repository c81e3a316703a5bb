"""The divergences that PyTorch knows: those of the families, and those of distributions made of others."""

from __future__ import annotations

from typing import Any

from ....learn.distributions.divergences import DIVERGENCES, bernoulli_of_logits
from ... import torch
from ._discrete import Bernoulli, Binomial, OneHotCategorical, Poisson
from ._rows import CLASSES, F
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .transformed_distribution import TransformedDistribution
from .utils import sum_rightmost


def _of(formula: Any) -> Any:
    return lambda p, q: formula(F, p, q)


for (_p, _q), _formula in DIVERGENCES.items():
    if _p in CLASSES and _q in CLASSES:
        register_kl(CLASSES[_p], CLASSES[_q])(_of(_formula))


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Any:
    return bernoulli_of_logits(F, p, q)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Binomial, Binomial)
def _binomials(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("kl_divergence: for binomials where q has more trials than p it is not known")
    return torch.where(p.total_count > q.total_count, torch.inf, p.total_count * bernoulli_of_logits(F, p, q))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: Any, q: Any) -> Any:
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


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms:
        raise NotImplementedError("kl_divergence: of distributions with different transforms it is not known")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: of transforms to different event shapes it is not known")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: of Independents with different numbers of dimensions it is not known")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
