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
from .discrete import Binomial, Categorical
from .distribution import register_kl


def _of(family: Family) -> Any:
    # PaddlePaddle has the divergence of single trials for geometric distributions, too.
    known = d.Bernoulli if family is d.Geometric else family
    formula = DIVERGENCES[known, known]
    return lambda p, q: formula(F, parameters_of(family, p), parameters_of(family, q))


for _family, _cls in CLASSES.items():
    if (_family, _family) in DIVERGENCES and _family is not c.Gumbel:  # of which PaddlePaddle knows none
        register_kl(_cls, _cls)(_of(_family))


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    return p.total_count * DIVERGENCES[d.Bernoulli, d.Bernoulli](
        F, SimpleNamespace(probs=p._safe), SimpleNamespace(probs=q._safe))  # fmt: skip


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return F.column(F.sum(exp(p._logs) * (p._logs - q._logs)))
