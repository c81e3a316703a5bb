"""The generalised Pareto distribution."""

from __future__ import annotations

from typing import Any

from ... import torch
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over `loc`: exponential for `concentration` 0, with a power tail above it and bounded below it."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(GeneralizedPareto, batch_shape, _instance, ("loc", "scale", "concentration"))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype))

    def _split(self) -> tuple[Any, Any]:
        """Where the concentration is 0, and the concentration with 1 in these places."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, torch.ones_like(self.concentration), self.concentration)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, safe = self._split()
        y = 1 / safe + torch.ones_like(z)
        tail = torch.where(y == 0, y, y * torch.log1p(safe * z))
        return -self.scale.log() - torch.where(zero, z, tail)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of larger values."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, safe = self._split()
        return torch.where(zero, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the cdf."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        zero, safe = self._split()
        logu = torch.log1p(-value)
        bounded = self.loc + self.scale / safe * torch.expm1(-safe * logu)
        return torch.where(zero, self.loc - self.scale * logu, bounded)

    @property
    def mean(self) -> Any:
        finite = self.concentration < 1
        safe = torch.where(finite, self.concentration, torch.full_like(self.concentration, 0.5))
        mean = self.loc + self.scale / (1 - safe)
        return torch.where(finite, mean, torch.full_like(mean, torch.nan))

    @property
    def variance(self) -> Any:
        finite = self.concentration < 0.5
        safe = torch.where(finite, self.concentration, torch.full_like(self.concentration, 0.25))
        variance = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(finite, variance, torch.full_like(variance, torch.nan))

    def entropy(self) -> Any:
        return torch.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Any:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from loc on, up to the bound that a negative concentration sets."""
        bounded = self.concentration < 0
        upper = torch.where(bounded, self.loc - self.scale / self.concentration, torch.full_like(self.loc, torch.inf))
        return constraints.interval(self.loc, upper)
