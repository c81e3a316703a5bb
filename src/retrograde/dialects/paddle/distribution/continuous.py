"""Distributions over the reals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn.distributions import continuous as families
from ....ops import elementwise as ew
from ....ops import linalg_factor as lf
from ....ops import structural as st
from ....ops.implicit import gamma_sample
from ....ops.reduction import sum as reduce_sum
from .._tensor import from_array
from ..random import default_generator, normal_array
from ._rows import F, extended, row
from .distribution import ExponentialFamily, Shape, arguments, inside, uniform_like

NAMED = "loc, scale, name: str | None = None"
STDDEV = property(lambda self: ew.sqrt(self.variance))


def _moved(standard: Any) -> Any:
    """Samples of a place plus a scale times those of a standard variable, of a shape and like a tensor."""
    return extended(lambda self, shape: self.loc + from_array(standard(shape, self.loc)) * self.scale)


def _none(what: str) -> property:
    """A moment that there is not."""

    def missing(self: Any) -> Any:
        """Raises ValueError: there is none."""
        raise ValueError(f"Cauchy: the distribution has no {what}")

    return property(missing)


def _laplace(shape: Shape, like: Any) -> np.ndarray:
    u = uniform_like(shape, like).numpy() - 0.5
    return -np.sign(u) * np.log1p(-2 * np.abs(u))


def _gamma(shape: Shape, concentration: Any) -> Any:
    """Gamma variables of scale 1, through which the concentration is differentiated."""
    alpha = st.broadcast_to(concentration, shape=shape)
    drawn = default_generator.draw.standard_gamma(alpha.numpy())
    return gamma_sample(alpha, from_array(np.asarray(drawn).astype(dtype_of(concentration))))


def _student(self: Any, shape: Shape) -> Any:
    z = default_generator.draw.standard_t(np.broadcast_to(self.df.numpy(), self._extended(shape)))
    return self.loc + from_array(np.asarray(z, dtype_of(self.loc))) * self.scale


Normal = row(
    families.Normal, NAMED, stddev=STDDEV, rsample=_moved(lambda shape, like: normal_array(shape, dtype_of(like))),
)  # fmt: skip
LogNormal = row(
    families.LogNormal, "loc, scale", stddev=STDDEV, name="LogNormal",
    rsample=lambda self, shape=(): ew.exp(Normal(self.loc, self.scale).rsample(shape)),
)  # fmt: skip
Laplace = row(families.Laplace, NAMED, "cdf icdf", stddev=STDDEV, rsample=_moved(_laplace))
Gumbel = row(
    families.Gumbel, NAMED, "cdf", stddev=STDDEV,
    rsample=_moved(lambda shape, like: -np.log(-np.log(uniform_like(shape, like).numpy()))),
)  # fmt: skip
Cauchy = row(
    families.Cauchy, NAMED, "cdf", mean=_none("mean"), variance=_none("variance"), stddev=STDDEV,
    rsample=_moved(lambda shape, like: default_generator.draw.standard_cauchy(shape).astype(dtype_of(like))),
)  # fmt: skip
StudentT = row(families.StudentT, "df, " + NAMED, stddev=STDDEV, draw=_student)


def _uniform_log_prob(self: Any, value: Any) -> Any:
    """The log density, -inf outside."""
    within = (value > self.low).logical_and(value < self.high)
    return inside(within, -ew.log(self.high - self.low) + value * 0, -math.inf)


Uniform = row(
    families.Uniform, "low, high, name: str | None = None", log_prob=_uniform_log_prob,
    rsample=extended(lambda self, shape: self.low + uniform_like(shape, self.low) * (self.high - self.low)),
)  # fmt: skip
Exponential = row(
    families.Exponential, "rate", "cdf icdf", base=ExponentialFamily,
    rsample=extended(lambda self, shape: -ew.log(uniform_like(shape, self.rate)) / self.rate),
)  # fmt: skip
Gamma = row(
    families.Gamma, "concentration, rate", base=ExponentialFamily,
    rsample=extended(lambda self, shape: _gamma(shape, self.concentration) / self.rate),
)  # fmt: skip


class Chi2(Gamma):  # type: ignore[misc,valid-type]
    __doc__ = families.Chi2.doc

    def __init__(self, df: Any) -> None:
        (self.df,) = arguments("Chi2", df)
        super().__init__(self.df * 0.5, self.df * 0 + 0.5)


def _beta(self: Any, shape: Shape) -> Any:
    a, b = (_gamma(shape, c) for c in (self.alpha, self.beta))
    return a / (a + b)


def _dirichlet(self: Any, shape: Shape) -> Any:
    g = _gamma(shape, self.concentration)
    return g / g.sum(-1, keepdim=True)


def _dirichlet_take(self: Any, concentration: Any) -> Any:
    (self.concentration,) = arguments("Dirichlet", concentration)
    shape = tuple(shape_of(self.concentration))
    if not shape:
        raise ValueError("Dirichlet: concentration must have at least one dimension")
    return shape[:-1], shape[-1:]


Beta = row(families.Beta, "alpha, beta", base=ExponentialFamily, rsample=extended(_beta))
Dirichlet = row(
    families.Dirichlet, "concentration", base=ExponentialFamily, take=_dirichlet_take, rsample=extended(_dirichlet),
)  # fmt: skip


def _continuous_bernoulli_take(self: Any, probs: Any, lims: Any) -> Any:
    (given,) = arguments("ContinuousBernoulli", probs)
    if not isinstance(probs, Value):
        given = st.reshape(given, shape=tuple(shape_of(given)) or (1,))
    self.probs, self.lims = given, tuple(lims)
    if bool((given < 0).logical_or(given > 1).any()):
        raise ValueError("ContinuousBernoulli: probs must lie in [0, 1]")
    eps = float(np.finfo(dtype_of(given)).eps)
    inner = given.clip(eps, 1 - eps)
    self._odds = ew.log(inner) - ew.log1p(-inner)
    self._near = (given > self.lims[0]).logical_and(given <= self.lims[1])
    return (shape_of(given),)


ContinuousBernoulli = row(
    families.ContinuousBernoulli, "probs, lims=(0.499, 0.501)", "cdf icdf", take=_continuous_bernoulli_take,
    keeps=("_odds", "_near"), rsample=extended(lambda self, shape: self.icdf(uniform_like(shape, self.probs))),
)  # fmt: skip


def _matrix_take(self: Any, loc: Any, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> Any:
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
    return np.broadcast_shapes(tuple(shape_of(self.loc))[:-1], tuple(shape_of(self.scale_tril))[:-2]), (n,)


def _multivariate(self: Any, shape: Shape) -> Any:
    z = from_array(normal_array(shape, dtype_of(self.loc)))
    return self.loc + (self.scale_tril @ F.column(z)).squeeze(-1)


def _diagonal(self: Any) -> Any:
    """The diagonal of the covariance."""
    return reduce_sum(ew.square(self.scale_tril), axis=(len(shape_of(self.scale_tril)) - 1,), keepdims=False)


MultivariateNormal = row(
    families.MultivariateNormal, "loc, covariance_matrix=None, precision_matrix=None, scale_tril=None", take=_matrix_take,
    keeps=("loc", "scale_tril"), mean=property(lambda self: self.loc), variance=property(_diagonal),
    covariance_matrix=property(lambda self: self.scale_tril @ self.scale_tril.mT, doc="The covariance."),
    rsample=extended(_multivariate),
)  # fmt: skip
