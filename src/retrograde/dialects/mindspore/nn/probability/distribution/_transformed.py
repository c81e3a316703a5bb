"""Distributions of what a map makes of another distribution's values."""

from __future__ import annotations

from typing import Any

from ......learn.distributions import continuous as c
from .._vocabulary import F
from ..bijector import Bijector, Exp, GumbelCDF, Invert
from ._base import Distribution
from ._families import Normal, Uniform
from ._rows import moved, row


class TransformedDistribution(Distribution):
    """What `bijector` makes of the values of `distribution`; its parameters are those of the latter.

    Raises TypeError for other things than a Bijector and a Distribution.
    """

    def __init__(
        self, bijector: Bijector, distribution: Distribution, seed: Any = None, name: Any = "transformed_distribution"
    ) -> None:
        if not isinstance(bijector, Bijector):
            raise TypeError(f"TransformedDistribution: bijector must be a Bijector, got {type(bijector).__name__}")
        if not isinstance(distribution, Distribution):
            raise TypeError(
                f"TransformedDistribution: distribution must be a Distribution, got {type(distribution).__name__}"
            )
        super().__init__(seed, distribution.dtype, name, {})
        self._bijector, self._distribution = bijector, distribution
        self._values, self._given = distribution._values, distribution._given

    def extend_repr(self) -> str:
        return ""

    @property
    def bijector(self) -> Bijector:
        """The map."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution whose values it takes."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the map has a constant derivative."""
        return self._bijector.is_constant_jacobian

    def _log_prob(self, y: Any, *parameters: Any) -> Any:
        x = self._bijector.inverse(y)
        return self._distribution._found("log_prob", (x, *parameters)) + self._bijector.inverse_log_jacobian(y)

    def _cdf(self, y: Any, *parameters: Any) -> Any:
        return self._distribution._found("cdf", (self._bijector.inverse(y), *parameters))

    def _survival_function(self, y: Any, *parameters: Any) -> Any:
        return self._distribution._found("survival_function", (self._bijector.inverse(y), *parameters))

    def _mean(self, *parameters: Any) -> Any:
        if not self._bijector.is_constant_jacobian:
            raise ValueError(f"{type(self).__name__}: the mean is only known after a map with a constant derivative")
        return self._bijector.forward(self._distribution._found("mean", parameters))

    def _sample(self, shape: tuple[int, ...], *parameters: Any) -> Any:
        return self._bijector.forward(self._distribution._found("sample", (shape, *parameters)))


def _log_normal(self: Any, loc: Any, scale: Any, seed: Any, dtype: Any, name: Any) -> None:
    TransformedDistribution.__init__(self, Exp(), Normal(loc, scale, dtype=dtype), seed, name)
    self._values = dict(zip(("loc", "scale"), self._distribution._values.values()))
    self._given = {"loc": loc, "scale": scale}


def _gumbel(self: Any, loc: Any, scale: Any, seed: Any, dtype: Any, name: Any) -> None:
    to_unit = GumbelCDF(loc, scale)
    TransformedDistribution.__init__(self, Invert(to_unit), Uniform(0.0, 1.0, dtype=dtype), seed, name)
    self._gumbel_bijector = to_unit
    self._values, self._given = {"loc": to_unit.loc, "scale": to_unit.scale}, {"loc": loc, "scale": scale}


ABOVE = "for a scale that is not above 0"

LogNormal = row(
    c.LogNormal, "loc scale", "mean var mode entropy", base=TransformedDistribution, start=_log_normal, seed=0, raises=ABOVE,
    docs="The mean of the logarithm. | The standard deviation of the logarithm.", extend_repr=Distribution.extend_repr,
    _kl_loss=lambda self, *parameters: self._distribution._found("kl_loss", parameters),
)  # fmt: skip
Gumbel = row(
    c.Gumbel, "loc scale", "log_prob cdf mean sd mode entropy kl_loss", base=TransformedDistribution, start=_gumbel, seed=0,
    required=True, positive="scale", raises=ABOVE, docs="The place of the mode. | The scale.",
    extend_repr=Distribution.extend_repr, sample=moved("gumbel"),
    _survival_function=lambda self, x, loc, scale: -F.expm1(-F.exp((loc - x) / scale)),
)  # fmt: skip
