"""`mindspore.nn.probability.distribution`: densities, moments, divergences and samples of the usual distributions."""

from __future__ import annotations

from ._base import Distribution
from ._discrete import Bernoulli, Categorical, Geometric, Poisson
from ._location import Cauchy, HalfNormal, Laplace, Logistic, Normal, StudentT
from ._positive import Beta, Exponential, Gamma, Uniform
from ._transformed import Gumbel, LogNormal, TransformedDistribution

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Distribution", "Exponential", "Gamma", "Geometric", "Gumbel",
    "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Poisson", "StudentT", "TransformedDistribution",
    "Uniform",
]  # fmt: skip
