"""`paddle.distribution`: probability distributions, their divergences, transforms of them."""

from __future__ import annotations

from typing import Any

from .._paths import otherwise
from .continuous import (
    Beta, Cauchy, Chi2, ContinuousBernoulli, Dirichlet, Exponential, Gamma, Gumbel, Laplace, LogNormal,
    MultivariateNormal, Normal, StudentT, Uniform,
)  # fmt: skip
from .discrete import Bernoulli, Binomial, Categorical, Geometric, Multinomial, Poisson
from .distribution import Distribution, ExponentialFamily, Independent, kl_divergence, register_kl
from . import kl  # registers the divergences
from .lkj import LKJCholesky
from .transform import (
    AbsTransform, AffineTransform, ChainTransform, ExpTransform, IndependentTransform, PowerTransform,
    ReshapeTransform, SigmoidTransform, SoftmaxTransform, StackTransform, StickBreakingTransform, TanhTransform,
    Transform, TransformedDistribution,
)  # fmt: skip

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "ChainTransform",
    "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution", "ExpTransform", "Exponential", "ExponentialFamily",
    "Gamma", "Geometric", "Gumbel", "Independent", "IndependentTransform", "LKJCholesky", "Laplace", "LogNormal",
    "Multinomial", "MultivariateNormal", "Normal", "Poisson", "PowerTransform", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform", "Transform",
    "TransformedDistribution", "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return otherwise("paddle.distribution", name, __all__)
