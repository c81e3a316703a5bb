"""Distributions of the whole line: a place and a scale."""

from __future__ import annotations

import math
from typing import Any

from ...._api import FUNCTIONS as F
from ...._dtype import float32
from .._parameters import above, floating
from ._base import Distribution, own

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class _LocationScale(Distribution):
    _names = ("loc", "scale")
    _shown = {"loc": "location"}

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = float32, name: Any = None
    ) -> None:
        op = type(self).__name__
        place, width = self._names[-2:]
        super().__init__(seed, floating(op, dtype), op if name is None else name, {place: loc, width: scale})
        above(op, width, self._values[width], 0)


class Normal(_LocationScale):
    """The normal distribution. Raises ValueError for an sd that is not above 0."""

    _names = ("mean", "sd")
    _shown = {"sd": "standard deviation"}

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32, name: Any = "Normal"
    ) -> None:
        super().__init__(mean, sd, seed, dtype, name)

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        return -0.5 * F["square"]((x - mean) / sd) - F["log"](sd) - _HALF_LOG_TAU

    def _cdf(self, x: Any, mean: Any, sd: Any) -> Any:
        return 0.5 * F["erfc"]((mean - x) / (sd * math.sqrt(2)))

    def _survival_function(self, x: Any, mean: Any, sd: Any) -> Any:
        return self._cdf(2 * mean - x, mean, sd)

    def _mean(self, mean: Any, sd: Any) -> Any:
        return mean + 0 * sd

    _mode = _mean

    def _sd(self, mean: Any, sd: Any) -> Any:
        return sd + 0 * mean

    def _entropy(self, mean: Any, sd: Any) -> Any:
        return 0.5 + _HALF_LOG_TAU + F["log"](self._sd(mean, sd))

    def _kl_loss(self, mean_b: Any, sd_b: Any, mean: Any, sd: Any) -> Any:
        squares = F["square"](sd / sd_b) + F["square"]((mean - mean_b) / sd_b)
        return F["log"](sd_b / sd) + 0.5 * (squares - 1)

    def _sample(self, shape: tuple[int, ...], mean: Any, sd: Any) -> Any:
        return mean + sd * self._standard("standard_normal", shape, mean, sd)


class Logistic(_LocationScale):
    """The logistic distribution. Raises ValueError for a scale that is not above 0."""

    loc = own("loc", "The place.")
    scale = own("scale", "The scale.")

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return -z - 2 * F["softplus"](-z) - F["log"](scale)

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return F["sigmoid"]((x - loc) / scale)

    def _survival_function(self, x: Any, loc: Any, scale: Any) -> Any:
        return F["sigmoid"]((loc - x) / scale)

    def _mean(self, loc: Any, scale: Any) -> Any:
        return loc + 0 * scale

    _mode = _mean

    def _sd(self, loc: Any, scale: Any) -> Any:
        return scale * (math.pi / math.sqrt(3)) + 0 * loc

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return F["log"](scale + 0 * loc) + 2

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * self._standard("logistic", shape, loc, scale)


class Cauchy(_LocationScale):
    """The Cauchy distribution, which has no mean. Raises ValueError for a scale that is not above 0."""

    loc = own("loc", "The place.")
    scale = own("scale", "The scale.")

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        return -F["log1p"](F["square"]((x - loc) / scale)) - F["log"](math.pi * scale)

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return 0.5 + F["atan"]((x - loc) / scale) / math.pi

    def _mean(self, loc: Any, scale: Any) -> Any:
        raise ValueError("Cauchy: the distribution has no mean and no variance")

    _sd = _var = _mean

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + 0 * scale

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return F["log"](4 * math.pi * (scale + 0 * loc))

    def _kl_loss(self, loc_b: Any, scale_b: Any, loc: Any, scale: Any) -> Any:
        return F["log"]((F["square"](scale + scale_b) + F["square"](loc - loc_b)) / (4 * scale * scale_b))

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * self._standard("standard_cauchy", shape, loc, scale)


class _Density(_LocationScale):
    """Distributions of which MindSpore knows the density only."""

    _names = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32, name: Any = None
    ) -> None:
        super().__init__(mean, sd, seed, dtype, name)

    def extend_repr(self) -> str:
        return ""


class HalfNormal(_Density):
    """The part of a normal distribution that is above its mean. Raises ValueError for an sd that is not above 0."""

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        inside = -0.5 * F["square"]((x - mean) / sd) - F["log"](sd) + (math.log(2) - _HALF_LOG_TAU)
        return F["where"](x >= mean, inside, -math.inf)


class Laplace(_Density):
    """The Laplace distribution, whose scale is called `sd`. Raises ValueError for one that is not above 0."""

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        return -F["abs"](x - mean) / sd - F["log"](2 * sd)


class StudentT(_Density):
    """Student's t distribution, moved and scaled. Raises ValueError for df or sd that are not above 0."""

    _names = ("df", "mean", "sd")

    def __init__(
        self, df: Any = None, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32,
        name: Any = "StudentT",
    ) -> None:  # fmt: skip
        Distribution.__init__(self, seed, floating("StudentT", dtype), name, {"df": df, "mean": mean, "sd": sd})
        above("StudentT", "df", self._values["df"], 0)
        above("StudentT", "sd", self._values["sd"], 0)

    def _log_prob(self, x: Any, df: Any, mean: Any, sd: Any) -> Any:
        log_gamma = F["lgamma"]
        tail = (df + 1) * 0.5 * F["log1p"](F["square"]((x - mean) / sd) / df)
        return log_gamma((df + 1) * 0.5) - log_gamma(df * 0.5) - 0.5 * F["log"](math.pi * df) - F["log"](sd) - tail
