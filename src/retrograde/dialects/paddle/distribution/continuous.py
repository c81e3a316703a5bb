"""Distributions over the reals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....ops import elementwise as ew
from ....ops import linalg_factor as lf
from ....ops import structural as st
from ....ops.contraction import matmul
from ....ops.reduction import sum as reduce_sum
from ....ops.selection import where
from ....ops.special import digamma, lgamma
from .._tensor import from_array
from ..random import default_generator, normal_array
from .distribution import (
    EULER,
    LOG_2PI,
    Distribution,
    ExponentialFamily,
    Shape,
    arguments,
    inside,
    summed,
    uniform_like,
)


class _LocScale(Distribution):
    """Distributions of loc + scale times a standard variable."""

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = arguments(type(self).__name__, loc, scale)
        self.name = name or type(self).__name__
        super().__init__(shape_of(self.loc))

    def _standard(self, shape: Shape) -> Any:
        raise NotImplementedError

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which loc and scale are differentiated."""
        return self.loc + self._standard(self._extended(shape)) * self.scale

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return ew.sqrt(self.variance)


class Normal(_LocScale):
    """The normal distribution."""

    def _standard(self, shape: Shape) -> Any:
        return from_array(normal_array(shape, dtype_of(self.loc)))

    @property
    def variance(self) -> Any:
        """The variance."""
        return ew.square(self.scale)

    def entropy(self) -> Any:
        """The entropy."""
        return ew.log(self.scale) + 0.5 * (1 + LOG_2PI)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return -0.5 * ew.square(self._z(value)) - ew.log(self.scale) - 0.5 * LOG_2PI


class LogNormal(_LocScale):
    """The exponential of a normal variable."""

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)
        self._base = Normal(self.loc, self.scale)

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which loc and scale are differentiated."""
        return ew.exp(self._base.rsample(shape))

    @property
    def mean(self) -> Any:
        """The expected value."""
        return ew.exp(self.loc + ew.square(self.scale) / 2)

    @property
    def variance(self) -> Any:
        """The variance."""
        return ew.expm1(ew.square(self.scale)) * ew.exp(2 * self.loc + ew.square(self.scale))

    def entropy(self) -> Any:
        """The entropy."""
        return self._base.entropy() + self.loc

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        logs = ew.log(value)
        return self._base.log_prob(logs) - logs


class Laplace(_LocScale):
    """The double exponential distribution."""

    def _standard(self, shape: Shape) -> Any:
        u = uniform_like(shape, self.loc).numpy() - 0.5
        return from_array(-np.sign(u) * np.log1p(-2 * np.abs(u)))

    @property
    def variance(self) -> Any:
        """The variance."""
        return 2 * ew.square(self.scale)

    def entropy(self) -> Any:
        """The entropy."""
        return 1 + ew.log(2 * self.scale)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return -ew.absolute(self._z(value)) - ew.log(2 * self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        z = self._z(value)
        return 0.5 - 0.5 * z.sign() * ew.expm1(-ew.absolute(z))

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with a probability."""
        t = value - 0.5
        return self.loc - self.scale * t.sign() * ew.log1p(-2 * ew.absolute(t))


class Gumbel(_LocScale):
    """The distribution of maxima."""

    def _standard(self, shape: Shape) -> Any:
        return from_array(-np.log(-np.log(uniform_like(shape, self.loc).numpy())))

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Any:
        """The variance."""
        return ew.square(self.scale) * (math.pi**2 / 6)

    def entropy(self) -> Any:
        """The entropy."""
        return ew.log(self.scale) + 1 + EULER

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        z = self._z(value)
        return -(z + ew.exp(-z)) - ew.log(self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        return ew.exp(-ew.exp(-self._z(value)))


class Cauchy(_LocScale):
    """The Cauchy distribution, which has no moments."""

    def _standard(self, shape: Shape) -> Any:
        return from_array(default_generator.draw.standard_cauchy(shape).astype(dtype_of(self.loc)))

    @property
    def mean(self) -> Any:
        """Raises ValueError: there is none."""
        raise ValueError("Cauchy: the distribution has no mean")

    @property
    def variance(self) -> Any:
        """Raises ValueError: there is none."""
        raise ValueError("Cauchy: the distribution has no variance")

    def entropy(self) -> Any:
        """The entropy."""
        return ew.log(self.scale) + math.log(4 * math.pi)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return -ew.log1p(ew.square(self._z(value))) - ew.log(self.scale) - math.log(math.pi)

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        return ew.atan(self._z(value)) / math.pi + 0.5


class StudentT(_LocScale):
    """Student's t."""

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.df, loc, scale = arguments("StudentT", df, loc, scale)
        super().__init__(loc, scale, name)

    def rsample(self, shape: Any = ()) -> Any:
        """Raises NotImplementedError: samples are no differentiable function of the degrees of freedom."""
        raise self._missing("rsample")

    def _draw(self, shape: Shape) -> Any:
        z = default_generator.draw.standard_t(np.broadcast_to(self.df.numpy(), self._extended(shape)))
        return self.loc + from_array(np.asarray(z, dtype_of(self.loc))) * self.scale

    @property
    def mean(self) -> Any:
        """The expected value, nan without one."""
        return inside(self.df > 1, self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """The variance: inf or nan where there is none."""
        finite = ew.square(self.scale) * self.df / (self.df - 2)
        return inside(self.df > 1, inside(self.df > 2, finite, math.inf), math.nan)

    def entropy(self) -> Any:
        """The entropy."""
        half = 0.5 * (self.df + 1)
        beta = lgamma(0.5 * self.df) + math.lgamma(0.5) - lgamma(half)
        return ew.log(self.scale) + half * (digamma(half) - digamma(0.5 * self.df)) + 0.5 * ew.log(self.df) + beta

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        half = 0.5 * (self.df + 1)
        norm = lgamma(half) - lgamma(0.5 * self.df) - 0.5 * ew.log(self.df * math.pi) - ew.log(self.scale)
        return norm - half * ew.log1p(ew.square(self._z(value)) / self.df)


class Uniform(Distribution):
    """The uniform distribution on [low, high)."""

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.low, self.high = arguments("Uniform", low, high)
        self.name = name or "Uniform"
        super().__init__(shape_of(self.low))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the bounds are differentiated."""
        return self.low + uniform_like(self._extended(shape), self.low) * (self.high - self.low)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Any:
        """The variance."""
        return ew.square(self.high - self.low) / 12

    def entropy(self) -> Any:
        """The entropy."""
        return ew.log(self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """The log density, -inf outside."""
        within = (value > self.low).logical_and(value < self.high)
        return inside(within, -ew.log(self.high - self.low) + value * 0, -math.inf)


class Exponential(ExponentialFamily):
    """The exponential distribution."""

    def __init__(self, rate: Any) -> None:
        (self.rate,) = arguments("Exponential", rate)
        super().__init__(shape_of(self.rate))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the rate is differentiated."""
        return -ew.log(uniform_like(self._extended(shape), self.rate)) / self.rate

    @property
    def mean(self) -> Any:
        """The expected value."""
        return ew.reciprocal(self.rate)

    @property
    def variance(self) -> Any:
        """The variance."""
        return ew.reciprocal(ew.square(self.rate))

    def entropy(self) -> Any:
        """The entropy."""
        return 1 - ew.log(self.rate)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return ew.log(self.rate) - self.rate * value

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        return -ew.expm1(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with a probability."""
        return -ew.log1p(-value) / self.rate


def _gamma(shape: Shape, concentration: Any) -> Any:
    """Gamma variables of scale 1, through which the concentration is differentiated."""
    from ....ops.implicit import gamma_sample

    alpha = st.broadcast_to(concentration, shape=shape)
    drawn = default_generator.draw.standard_gamma(alpha.numpy())
    return gamma_sample(alpha, from_array(np.asarray(drawn).astype(dtype_of(concentration))))


class Gamma(ExponentialFamily):
    """The gamma distribution."""

    def __init__(self, concentration: Any, rate: Any) -> None:
        self.concentration, self.rate = arguments(type(self).__name__, concentration, rate)
        super().__init__(shape_of(self.rate))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which concentration and rate are differentiated, once."""
        return _gamma(self._extended(shape), self.concentration) / self.rate

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.concentration / ew.square(self.rate)

    def entropy(self) -> Any:
        """The entropy."""
        c = self.concentration
        return c - ew.log(self.rate) + lgamma(c) + (1 - c) * digamma(c)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        c = self.concentration
        return c * ew.log(self.rate) + (c - 1) * ew.log(value) - self.rate * value - lgamma(c)


class Chi2(Gamma):
    """The sum of squares of `df` standard normal variables."""

    def __init__(self, df: Any) -> None:
        (self.df,) = arguments("Chi2", df)
        super().__init__(self.df * 0.5, self.df * 0 + 0.5)


class Beta(ExponentialFamily):
    """The beta distribution."""

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = arguments("Beta", alpha, beta)
        super().__init__(shape_of(self.alpha))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which alpha and beta are differentiated, once."""
        a, b = (_gamma(self._extended(shape), c) for c in (self.alpha, self.beta))
        return a / (a + b)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """The variance."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (ew.square(total) * (total + 1))

    def _log_beta(self) -> Any:
        return lgamma(self.alpha) + lgamma(self.beta) - lgamma(self.alpha + self.beta)

    def entropy(self) -> Any:
        """The entropy."""
        a, b = self.alpha, self.beta
        return self._log_beta() - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return (self.alpha - 1) * ew.log(value) + (self.beta - 1) * ew.log1p(-value) - self._log_beta()


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution over points of the simplex."""

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = arguments("Dirichlet", concentration)
        shape = tuple(shape_of(self.concentration))
        if not shape:
            raise ValueError("Dirichlet: concentration must have at least one dimension")
        super().__init__(shape[:-1], shape[-1:])

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the concentration is differentiated, once."""
        g = _gamma(self._extended(shape), self.concentration)
        return g / g.sum(-1, keepdim=True)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Any:
        """The variance."""
        c, total = self.concentration, self.concentration.sum(-1, keepdim=True)
        return c * (total - c) / (ew.square(total) * (total + 1))

    def entropy(self) -> Any:
        """The entropy."""
        c, total, k = self.concentration, summed(self.concentration, 1), shape_of(self.concentration)[-1]
        norm = summed(lgamma(c), 1) - lgamma(total)
        return norm - (k - total) * digamma(total) - summed((c - 1) * digamma(c), 1)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        c = self.concentration
        return summed((c - 1) * ew.log(value), 1) + lgamma(summed(c, 1)) - summed(lgamma(c), 1)


class ContinuousBernoulli(Distribution):
    """Numbers in [0, 1] with a density in proportion to probs^x (1 - probs)^(1 - x): e^(ax) of the log odds a.

    Where probs lies between the limits `lims`, next to 1/2, series in a stand for formulas that are 0 / 0 there.
    """

    def __init__(self, probs: Any, lims: Any = (0.499, 0.501)) -> None:
        (given,) = arguments("ContinuousBernoulli", probs)
        if not isinstance(probs, Value):
            given = st.reshape(given, shape=tuple(shape_of(given)) or (1,))
        self.probs, self.lims = given, tuple(lims)
        if bool((given < 0).logical_or(given > 1).any()):
            raise ValueError("ContinuousBernoulli: probs must lie in [0, 1]")
        super().__init__(shape_of(given))
        eps = float(np.finfo(dtype_of(given)).eps)
        inner = given.clip(eps, 1 - eps)
        self._odds = ew.log(inner) - ew.log1p(-inner)
        self._near = (given > self.lims[0]).logical_and(given <= self.lims[1])
        self._away = inside(self._near.logical_not(), self._odds, 1.0)

    def _chosen(self, series: Any, formula: Any) -> Any:
        return where(self._near, series, formula)

    def _log_mass(self) -> Any:
        """The log of the integral of e^(ax) over [0, 1]."""
        a, b = self._odds, self._away
        return self._chosen(a / 2 + ew.square(a) / 24, ew.log(ew.expm1(b) / b))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which probs is differentiated."""
        return self.icdf(uniform_like(self._extended(shape), self.probs))

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self._chosen(0.5 + self._odds / 12, -ew.reciprocal(ew.expm1(-self._away)) - ew.reciprocal(self._away))

    @property
    def variance(self) -> Any:
        """The variance."""
        a, b = self._odds, self._away
        spread = ew.square(ew.exp(b / 2) / ew.expm1(b))
        return self._chosen(1 / 12 - ew.square(a) / 240, ew.reciprocal(ew.square(b)) - spread)

    def entropy(self) -> Any:
        """The entropy."""
        return self._log_mass() - self._odds * self.mean

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        return self._odds * value - self._log_mass()

    def cdf(self, value: Any) -> Any:
        """The probability of a smaller value."""
        x = value.clip(0.0, 1.0)
        return self._chosen(x, ew.expm1(self._away * x) / ew.expm1(self._away))

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with a probability."""
        return self._chosen(value, ew.log1p(value * ew.expm1(self._away)) / self._away)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by covariance, precision or the lower factor of the covariance."""

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None
    ) -> None:
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError(
                "MultivariateNormal: exactly one of covariance_matrix, precision_matrix and scale_tril is wanted"
            )
        (self.loc,) = arguments("MultivariateNormal", loc)
        if scale_tril is not None:
            self.scale_tril = scale_tril
        else:
            matrix = covariance_matrix if precision_matrix is None else precision_matrix.inverse()
            self.scale_tril = lf.cholesky(matrix, upper=False, check=True)
        n = shape_of(self.scale_tril)[-1]
        if shape_of(self.loc)[-1:] != (n,):
            raise ValueError(f"MultivariateNormal: loc {list(shape_of(self.loc))} does not fit matrices of {n} rows")
        batch = np.broadcast_shapes(tuple(shape_of(self.loc))[:-1], tuple(shape_of(self.scale_tril))[:-2])
        super().__init__(batch, (n,))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the parameters are differentiated."""
        z = from_array(normal_array(self._extended(shape), dtype_of(self.loc)))
        column = st.reshape(z, shape=(*shape_of(z), 1))
        return self.loc + matmul(self.scale_tril, column).squeeze(-1)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.loc

    @property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return matmul(self.scale_tril, self.scale_tril.mT)

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return reduce_sum(ew.square(self.scale_tril), axis=(len(shape_of(self.scale_tril)) - 1,), keepdims=False)

    def _half_log_det(self) -> Any:
        n = self._event_shape[0]
        return summed(ew.log(st.reshape(self.scale_tril * np.eye(n, dtype=dtype_of(self.loc)) + (
            1 - np.eye(n, dtype=dtype_of(self.loc))), shape=(*self.scale_tril.shape[:-2], n * n))), 1)  # fmt: skip

    def entropy(self) -> Any:
        """The entropy."""
        return 0.5 * self._event_shape[0] * (1 + LOG_2PI) + self._half_log_det()

    def _mahalanobis(self, d: Any) -> Any:
        """The squared length of a difference in units of the covariance."""
        from ....ops.linalg import solve_triangular

        column = st.reshape(d, shape=(*shape_of(d), 1))
        z = solve_triangular(self.scale_tril, column, upper=False, left=True, unit=False)
        return summed(ew.square(z), 2)

    def log_prob(self, value: Any) -> Any:
        """The log density."""
        n = self._event_shape[0]
        return -0.5 * (n * LOG_2PI + self._mahalanobis(value - self.loc)) - self._half_log_det()
