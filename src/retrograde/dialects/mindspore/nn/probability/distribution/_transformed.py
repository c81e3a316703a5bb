"""Distributions of what a map makes of another distribution's values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...._api import FUNCTIONS as F
from ...._dtype import float32
from .._parameters import above, floating
from ..bijector import Bijector, Exp, GumbelCDF, Invert
from ._base import Distribution, own
from ._location import Normal
from ._positive import Uniform


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


class LogNormal(TransformedDistribution):
    """The exponential of normal values with mean `loc` and standard deviation `scale`.

    Raises ValueError for a scale that is not above 0.
    """

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = 0, dtype: Any = float32, name: Any = "LogNormal"
    ) -> None:
        super().__init__(Exp(), Normal(loc, scale, dtype=floating("LogNormal", dtype)), seed, name)
        self._values = dict(zip(("loc", "scale"), self._distribution._values.values()))
        self._given = {"loc": loc, "scale": scale}

    extend_repr = Distribution.extend_repr

    loc = own("loc", "The mean of the logarithm.")
    scale = own("scale", "The standard deviation of the logarithm.")

    def _mean(self, loc: Any, scale: Any) -> Any:
        return F["exp"](loc + F["square"](scale) / 2)

    def _var(self, loc: Any, scale: Any) -> Any:
        return F["expm1"](F["square"](scale)) * F["exp"](2 * loc + F["square"](scale))

    def _mode(self, loc: Any, scale: Any) -> Any:
        return F["exp"](loc - F["square"](scale))

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return loc + self._distribution._found("entropy", (loc, scale))

    def _kl_loss(self, loc_b: Any, scale_b: Any, loc: Any, scale: Any) -> Any:
        return self._distribution._found("kl_loss", (loc_b, scale_b, loc, scale))


class Gumbel(TransformedDistribution):
    """The Gumbel distribution. Raises ValueError for a scale that is not above 0."""

    def __init__(self, loc: Any, scale: Any, seed: Any = 0, dtype: Any = float32, name: Any = "Gumbel") -> None:
        d = floating("Gumbel", dtype)
        to_unit = GumbelCDF(loc, scale)
        super().__init__(Invert(to_unit), Uniform(0.0, 1.0, dtype=d), seed, name)
        self._gumbel_bijector = to_unit
        self._values, self._given = {"loc": to_unit.loc, "scale": to_unit.scale}, {"loc": loc, "scale": scale}
        above("Gumbel", "scale", to_unit.scale, 0)

    extend_repr = Distribution.extend_repr

    loc = own("loc", "The place of the mode.")
    scale = own("scale", "The scale.")

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return -z - F["exp"](-z) - F["log"](scale)

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return F["exp"](-F["exp"]((loc - x) / scale))

    def _survival_function(self, x: Any, loc: Any, scale: Any) -> Any:
        return -F["expm1"](-F["exp"]((loc - x) / scale))

    def _mean(self, loc: Any, scale: Any) -> Any:
        return loc + scale * float(np.euler_gamma)

    def _sd(self, loc: Any, scale: Any) -> Any:
        return scale * (math.pi / math.sqrt(6)) + 0 * loc

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + 0 * scale

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return 1 + float(np.euler_gamma) + F["log"](scale + 0 * loc)

    def _kl_loss(self, loc_b: Any, scale_b: Any, loc: Any, scale: Any) -> Any:
        ratio = scale / scale_b
        moved = F["expm1"]((loc_b - loc) / scale_b + F["lgamma"](ratio + 1))
        return (loc - loc_b) / scale_b - F["log"](ratio) + float(np.euler_gamma) * (ratio - 1) + moved

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * self._standard("gumbel", shape, loc, scale)
