"""The divergences that are known in closed form; they register themselves (see distribution.py)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ....learn.distributions import Family
from ....learn.distributions import continuous as c
from ....learn.distributions import discrete as d
from ....learn.distributions.divergences import DIVERGENCES
from ....ops.elementwise import exp
from ._rows import CLASSES, F, parameters_of
from .discrete import Categorical
from .distribution import register_kl


def _of(family: Family, as_family: Family) -> Any:
    formula = DIVERGENCES[as_family, as_family]
    return lambda p, q: formula(F, parameters_of(family, p), parameters_of(family, q))


for _family in (
    c.Beta, c.Cauchy, c.ContinuousBernoulli, c.Dirichlet, c.Exponential, c.Gamma, c.Laplace, c.LogNormal,
    c.MultivariateNormal, c.Normal, c.Uniform, d.Bernoulli, d.Binomial, d.Geometric, d.Poisson,
):  # fmt: skip
    # PaddlePaddle has the divergence of single trials for geometric distributions, too.
    register_kl(CLASSES[_family], CLASSES[_family])(_of(_family, d.Bernoulli if _family is d.Geometric else _family))


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    formula = DIVERGENCES[d.Categorical, d.Categorical]
    return F.column(formula(F, *(SimpleNamespace(probs=exp(x._logs), logits=x._logs) for x in (p, q))))
