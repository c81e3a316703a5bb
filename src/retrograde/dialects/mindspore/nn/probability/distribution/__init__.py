"""`mindspore.nn.probability.distribution`: densities, moments, divergences and samples of the usual distributions."""

from __future__ import annotations

from ._base import Distribution
from ._families import (
    Bernoulli, Beta, Categorical, Cauchy, Exponential, Gamma, Geometric, HalfNormal, Laplace, Logistic, Normal, Poisson,
    StudentT, Uniform,
)  # fmt: skip
from ._transformed import Gumbel, LogNormal, TransformedDistribution

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Distribution", "Exponential", "Gamma", "Geometric", "Gumbel",
    "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Poisson", "StudentT", "TransformedDistribution",
    "Uniform",
]  # fmt: skip
