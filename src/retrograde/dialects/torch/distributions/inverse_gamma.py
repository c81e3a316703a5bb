"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

from ... import torch
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Reciprocals of gamma numbers."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Any:
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The scale of the reciprocals."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        mean = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, mean, torch.full_like(mean, torch.inf))

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        variance = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, variance, torch.full_like(variance, torch.inf))

    def entropy(self) -> Any:
        return (
            self.concentration + self.rate.log() + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )  # fmt: skip
