"""Distributions of positive numbers and of intervals."""

from __future__ import annotations

import math
from typing import Any

from ...._api import FUNCTIONS as F
from ...._dtype import float32
from ...layer.math import DiGamma, LBeta
from .._parameters import above, concrete, floating
from ._base import Distribution, own


class Exponential(Distribution):
    """The exponential distribution. Raises ValueError for a rate that is not above 0."""

    _names = ("rate",)

    def __init__(self, rate: Any = None, seed: Any = None, dtype: Any = float32, name: Any = "Exponential") -> None:
        super().__init__(seed, floating("Exponential", dtype), name, {"rate": rate})
        above("Exponential", "rate", self._values["rate"], 0)

    rate = own("rate", "How many events there are in a unit of time.")

    def _log_prob(self, x: Any, rate: Any) -> Any:
        return F["where"](x >= 0, F["log"](rate) - rate * x, -math.inf)

    def _cdf(self, x: Any, rate: Any) -> Any:
        return -F["expm1"](-rate * F["relu"](x))

    def _survival_function(self, x: Any, rate: Any) -> Any:
        return F["exp"](-rate * F["relu"](x))

    def _log_survival(self, x: Any, rate: Any) -> Any:
        return -rate * F["relu"](x)

    def _mean(self, rate: Any) -> Any:
        return 1 / rate

    _sd = _mean

    def _mode(self, rate: Any) -> Any:
        return F["zeros_like"](rate)

    def _entropy(self, rate: Any) -> Any:
        return 1 - F["log"](rate)

    def _kl_loss(self, rate_b: Any, rate: Any) -> Any:
        return F["log"](rate / rate_b) + rate_b / rate - 1

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return self._standard("standard_exponential", shape, rate) / rate


class Uniform(Distribution):
    """The uniform distribution on an interval. Raises ValueError for a low that is not below high."""

    _names = ("low", "high")

    def __init__(
        self, low: Any = None, high: Any = None, seed: Any = None, dtype: Any = float32, name: Any = "Uniform"
    ) -> None:
        super().__init__(seed, floating("Uniform", dtype), name, {"low": low, "high": high})
        a, b = concrete(self._values["low"]), concrete(self._values["high"])
        if a is not None and b is not None and not (a < b).all():
            raise ValueError(f"Uniform: low must be below high, got {low} and {high}")

    low = own("low", "The lower end.")
    high = own("high", "The upper end.")

    def _log_prob(self, x: Any, low: Any, high: Any) -> Any:
        return F["where"](F["logical_and"](x >= low, x <= high), -F["log"](high - low), -math.inf)

    def _cdf(self, x: Any, low: Any, high: Any) -> Any:
        return F["clamp"]((x - low) / (high - low), 0.0, 1.0)

    def _mean(self, low: Any, high: Any) -> Any:
        return (low + high) / 2

    def _var(self, low: Any, high: Any) -> Any:
        return F["square"](high - low) / 12

    def _entropy(self, low: Any, high: Any) -> Any:
        return F["log"](high - low)

    def _kl_loss(self, low_b: Any, high_b: Any, low: Any, high: Any) -> Any:
        inside = F["logical_and"](low_b <= low, high_b >= high)
        return F["where"](inside, F["log"]((high_b - low_b) / (high - low)), math.inf)

    def _sample(self, shape: tuple[int, ...], low: Any, high: Any) -> Any:
        return low + (high - low) * self._standard("random", shape, low, high)


class Gamma(Distribution):
    """The gamma distribution. Raises ValueError for parameters that are not above 0."""

    _names = ("concentration", "rate")

    def __init__(
        self, concentration: Any = None, rate: Any = None, seed: Any = None, dtype: Any = float32, name: Any = "Gamma"
    ) -> None:
        super().__init__(seed, floating("Gamma", dtype), name, {"concentration": concentration, "rate": rate})
        for k, v in self._values.items():
            above("Gamma", k, v, 0)
        self.digamma = DiGamma()

    concentration = own("concentration", "The shape parameter.")
    rate = own("rate", "The inverse of the scale.")

    def _log_prob(self, x: Any, c: Any, rate: Any) -> Any:
        return (c - 1) * F["log"](x) - rate * x - F["lgamma"](c) + c * F["log"](rate)

    def _cdf(self, x: Any, c: Any, rate: Any) -> Any:
        return F["igamma"](c, rate * x)

    def _survival_function(self, x: Any, c: Any, rate: Any) -> Any:
        return F["igammac"](c, rate * x)

    def _mean(self, c: Any, rate: Any) -> Any:
        return c / rate

    def _sd(self, c: Any, rate: Any) -> Any:
        return F["sqrt"](c) / rate

    def _var(self, c: Any, rate: Any) -> Any:
        return c / F["square"](rate)

    def _mode(self, c: Any, rate: Any) -> Any:
        return F["where"](c > 1, (c - 1) / rate, math.nan)

    def _entropy(self, c: Any, rate: Any) -> Any:
        return c - F["log"](rate) + F["lgamma"](c) + (1 - c) * self.digamma(c)

    def _kl_loss(self, c_b: Any, rate_b: Any, c: Any, rate: Any) -> Any:
        shapes = (c - c_b) * self.digamma(c) - F["lgamma"](c) + F["lgamma"](c_b)
        return shapes + c_b * F["log"](rate / rate_b) + c * (rate_b / rate - 1)

    def _sample(self, shape: tuple[int, ...], c: Any, rate: Any) -> Any:
        return self._drawn(lambda stream, size, a, b: stream.gamma(a, 1 / b, size), shape, c, rate)


class Beta(Distribution):
    """The beta distribution. Raises ValueError for parameters that are not above 0."""

    _names = ("concentration1", "concentration0")

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, seed: Any = None, dtype: Any = float32,
        name: Any = "Beta",
    ) -> None:  # fmt: skip
        both = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(seed, floating("Beta", dtype), name, both)
        for k, v in self._values.items():
            above("Beta", k, v, 0)
        self.digamma, self.lbeta = DiGamma(), LBeta()

    concentration1 = own("concentration1", "One more than the power of x in the density.")
    concentration0 = own("concentration0", "One more than the power of 1 - x in the density.")

    def _log_prob(self, x: Any, a: Any, b: Any) -> Any:
        return (a - 1) * F["log"](x) + (b - 1) * F["log1p"](-x) - self.lbeta(a, b)

    def _mean(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def _var(self, a: Any, b: Any) -> Any:
        return a * b / (F["square"](a + b) * (a + b + 1))

    def _mode(self, a: Any, b: Any) -> Any:
        return F["where"](F["logical_and"](a > 1, b > 1), (a - 1) / (a + b - 2), math.nan)

    def _entropy(self, a: Any, b: Any) -> Any:
        digamma = self.digamma
        return self.lbeta(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)

    def _kl_loss(self, a_b: Any, b_b: Any, a: Any, b: Any) -> Any:
        digamma = self.digamma
        change = (a - a_b) * digamma(a) + (b - b_b) * digamma(b) - (a + b - a_b - b_b) * digamma(a + b)
        return self.lbeta(a_b, b_b) - self.lbeta(a, b) + change

    def _sample(self, shape: tuple[int, ...], a: Any, b: Any) -> Any:
        return self._drawn(lambda stream, size, x, y: stream.beta(x, y, size), shape, a, b)
