"""Gradients through samples: how a draw moves with its distribution's parameters at a fixed value of its cdf.

A sample x with cdf F(x; a) has dx/da = -(dF/da) / (dF/dx) (Figurnov, Mohamed, Mnih 2018). The operations here return a
sample that was drawn elsewhere and record that derivative; a second one is not offered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._errors import UnsupportedError
from ..core.aval import Aval
from ..core.primitive import primitive
from .linalg import refuse
from .reduction import sum as reduce_sum
from .rules import batch_elementwise, batch_leading, infer_elementwise
from .samples import sample, uniform
from .shapes import matching

_REMEDY = "only first derivatives pass through samples of gamma and Dirichlet distributions"


def _not_in_the_standard(name: str, function: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: it needs the incomplete {function} function, which array libraries do not have in common; convert the "
        "operands with numpy()"
    )


def _parameter_derivative(cdf: Callable[[Any], Any], survival: Callable[[Any], Any], a: np.ndarray) -> Any:
    """d cdf(a) / d a by differences of order 4 of the logarithm of the smaller tail, which keeps the tails' digits."""
    h = 2e-3 * a
    lower = cdf(a) < 0.5

    def tail(a: Any) -> Any:
        return np.log(np.where(lower, cdf(a), survival(a)))

    slope = (8 * (tail(a + h) - tail(a - h)) - (tail(a + 2 * h) - tail(a - 2 * h))) / (12 * h)
    return slope * np.where(lower, cdf(a), -survival(a))


def _gamma_derivative_numpy(alpha: Any, x: Any) -> Any:
    from scipy import special

    a, y = alpha.astype(np.float64), x.astype(np.float64)
    with np.errstate(all="ignore"):
        change = _parameter_derivative(lambda a: special.gammainc(a, y), lambda a: special.gammaincc(a, y), a)
        log_density = (a - 1) * np.log(y) - y - special.gammaln(a)
        # As x goes to 0 the cdf goes to x^a / gamma(a + 1), which has no digits left long before x is 0.
        limit = -(y / a) * (np.log(y) - special.digamma(a + 1))
        small = special.gammainc(a * 1.01, y) < 1e-280
        out = np.where(small, limit, -change / np.exp(log_density))
    return np.where(y > 0, out, 0).astype(x.dtype)


def _beta_derivative_numpy(x: Any, alpha: Any, total: Any) -> Any:
    from scipy import special

    y, a, b = (z.astype(np.float64) for z in (x, alpha, total - alpha))
    with np.errstate(all="ignore"):
        change = _parameter_derivative(
            lambda a: special.betainc(a, b, y), lambda a: special.betaincc(a, b, y), a)  # fmt: skip
        log_density = (a - 1) * np.log(y) + (b - 1) * np.log1p(-y) - special.betaln(a, b)
        limit = -(y / a) * (np.log(y) - special.digamma(a + 1) + special.digamma(a + 1 + b) - 1 / (a + b))
        small = special.betainc(a * 1.01, b, y) < 1e-280
        out = np.where(small, limit, -change / np.exp(log_density)) / (1 - y)
    return np.where((y > 0) & (y < 1), out, 0).astype(x.dtype)


# How a sample x of the gamma distribution of shape alpha (and scale 1) moves with alpha.
gamma_derivative = primitive(
    "gamma_derivative", kernel=lambda xp, alpha, x: _not_in_the_standard("gamma_derivative", "gamma"),
    numpy=_gamma_derivative_numpy,
    vjp=lambda needs, _g, _out, _alpha, _x: refuse("gamma_derivative", _REMEDY),
    jvp=lambda tangents, out, alpha, x: refuse("gamma_derivative", _REMEDY),
    kind="elementwise", batch=batch_elementwise, infer=infer_elementwise, tolerances={"gauge": True},
    samples=lambda: [sample(uniform(0.5, 3, 3), uniform(0.2, 3, 3))],
)  # fmt: skip

# How an entry x of a sample of the Dirichlet distribution, divided by 1 - x, moves with its own concentration alpha.
dirichlet_derivative = primitive(
    "dirichlet_derivative",
    kernel=lambda xp, x, alpha, total: _not_in_the_standard("dirichlet_derivative", "beta"), numpy=_beta_derivative_numpy,
    vjp=lambda needs, _g, _out, _x, _alpha, _total: refuse("dirichlet_derivative", _REMEDY),
    jvp=lambda tangents, out, x, alpha, total: refuse("dirichlet_derivative", _REMEDY),
    kind="elementwise", batch=batch_elementwise, infer=infer_elementwise, tolerances={"gauge": True},
    samples=lambda: [sample(uniform(0.1, 0.9, 3), uniform(0.5, 3, 3), uniform(4, 5, 3))],
)  # fmt: skip

# The sample x, as a function of the shape alpha of the gamma distribution that it was drawn from.
gamma_sample = primitive(
    "gamma_sample", kernel=lambda xp, alpha, x: xp.asarray(xp.broadcast_arrays(alpha, x)[1], copy=True),
    vjps=[lambda g, _out, alpha, x: g * gamma_derivative(alpha, x), None],
    jvp=lambda tangents, out, alpha, x: None if tangents[0] is None else tangents[0] * gamma_derivative(alpha, x),
    kind="elementwise", batch=batch_elementwise, infer=infer_elementwise, tolerances={"gauge": True},
    samples=lambda: [sample(uniform(0.5, 3, 3), uniform(0.2, 3, 3))],
)  # fmt: skip


def _total(alpha: Any) -> Any:
    return reduce_sum(alpha, axis=(len(alpha.shape) - 1,), keepdims=True)


def _dirichlet_pull(g: Any, alpha: Any, x: Any) -> Any:
    return dirichlet_derivative(x, alpha, _total(alpha)) * (g - _total(x * g))


def _dirichlet_push(tangents: Any, out: Any, alpha: Any, x: Any) -> Any:
    if tangents[0] is None:
        return None
    moved = tangents[0] * dirichlet_derivative(x, alpha, _total(alpha))
    return moved - x * _total(moved)


def _infer_sample(avals: Any, p: dict[str, Any]) -> Aval:
    alpha, x = avals
    matching("the parameters of the sample", alpha.shape, x.shape)
    return Aval(x.shape, x.dtype)


# The sample x (points of the simplex along the last axis), as a function of the Dirichlet concentrations.
dirichlet_sample = primitive(
    "dirichlet_sample", kernel=lambda xp, alpha, x: xp.asarray(x, copy=True),
    vjps=[lambda g, _out, alpha, x: _dirichlet_pull(g, alpha, x), None], jvp=_dirichlet_push, batch=batch_leading,
    infer=_infer_sample, tolerances={"gauge": True},
    samples=lambda: [sample(uniform(0.5, 3, 2, 3), np.full((2, 3), 1 / 3))],
)  # fmt: skip
