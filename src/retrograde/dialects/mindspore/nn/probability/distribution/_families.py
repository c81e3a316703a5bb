"""The usual distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ......learn.distributions import continuous as c
from ......learn.distributions import discrete as d
from .... import _binary, _creation, _gather, _reductions, _scans, _shape
from ...._dtype import int32, int64
from ...layer.math import DiGamma, LBeta
from .._parameters import below, concrete, with_axes
from .._vocabulary import F
from ._rows import drawn, moved, row

PLACE = "The place. | The scale."
ABOVE = "for a scale that is not above 0"
DEVIATION = "for an sd that is not above 0"

# ------------------------------------------------------------------------------------------ a place and a scale


def _normal_cdf(self: Any, x: Any, mean: Any, sd: Any) -> Any:
    return 0.5 * F.erfc((mean - x) / (sd * math.sqrt(2)))


def _normal_divergence(self: Any, mean_b: Any, sd_b: Any, mean: Any, sd: Any) -> Any:
    # Without the square of the ratio under the logarithm, which float16 has not the range for.
    squares = (sd / sd_b) ** 2 + ((mean - mean_b) / sd_b) ** 2
    return F.log(sd_b / sd) + 0.5 * (squares - 1)


def _no_moments(self: Any, *parameters: Any) -> Any:
    raise ValueError("Cauchy: the distribution has no mean and no variance")


def _half_normal_log_prob(self: Any, x: Any, mean: Any, sd: Any) -> Any:
    return F.where(x >= mean, c.Normal.log_prob(F, x, mean, sd) + math.log(2), -math.inf)


Normal = row(
    c.Normal, "mean sd", "log_prob mean mode sd entropy", positive="sd", raises=DEVIATION, sample=moved("standard_normal"),
    _shown={"sd": "standard deviation"}, _cdf=_normal_cdf, _kl_loss=_normal_divergence,
    _survival_function=lambda self, x, mean, sd: _normal_cdf(self, 2 * mean - x, mean, sd),
)  # fmt: skip
Logistic = row(
    c.Logistic, "loc scale", "log_prob cdf mean mode sd entropy", positive="scale", raises=ABOVE, docs=PLACE,
    named_later=True, sample=moved("logistic"), _shown={"loc": "location"},
    _survival_function=lambda self, x, loc, scale: F.sigmoid((loc - x) / scale),
)  # fmt: skip
Cauchy = row(
    c.Cauchy, "loc scale", "log_prob cdf mode entropy kl_loss", positive="scale", raises=ABOVE, docs=PLACE,
    named_later=True, sample=moved("standard_cauchy"), _shown={"loc": "location"}, _mean=_no_moments, _sd=_no_moments,
    _var=_no_moments,
)  # fmt: skip

# Of these MindSpore knows the density only.
HalfNormal = row(
    c.HalfNormal, "mean sd", "", positive="sd", raises=DEVIATION, named_later=True, _log_prob=_half_normal_log_prob,
    extend_repr=lambda self: "",
)  # fmt: skip
Laplace = row(
    c.Laplace, "mean sd", "log_prob", positive="sd", raises=DEVIATION, named_later=True, extend_repr=lambda self: "",
)  # fmt: skip
StudentT = row(
    c.StudentT, "df mean sd", "log_prob", positive="df sd", raises="for df or sd that are not above 0",
    extend_repr=lambda self: "",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ positive numbers, intervals


def _in_order(self: Any) -> None:
    low, high = self._values.values()
    a, b = concrete(low), concrete(high)
    if a is not None and b is not None and not (a < b).all():
        raise ValueError(f"Uniform: low must be below high, got {self._given['low']} and {self._given['high']}")


def _uniform_log_prob(self: Any, x: Any, low: Any, high: Any) -> Any:
    return F.where((x >= low) & (x <= high), -F.log(high - low), -math.inf)


def _uniform(self: Any, shape: tuple[int, ...], low: Any, high: Any) -> Any:
    return low + (high - low) * self._standard("random", shape, low, high)


def _beta_mode(self: Any, a: Any, b: Any) -> Any:
    return F.where((a > 1) & (b > 1), (a - 1) / (a + b - 2), math.nan)


def _special(*functions: type) -> Any:
    """MindSpore's distributions show the layers that they compute special functions with."""

    def add(self: Any) -> None:
        for function in functions:
            setattr(self, function.__name__.lower(), function())

    return add


Exponential = row(
    c.Exponential, "rate", "log_prob cdf mean sd mode entropy kl_loss", positive="rate",
    raises="for a rate that is not above 0", docs="How many events there are in a unit of time.",
    within=lambda x, rate: x >= 0, _cdf=lambda self, x, rate: c.Exponential.cdf(F, F.relu(x), rate),
    _survival_function=lambda self, x, rate: F.exp(-rate * F.relu(x)),
    _log_survival=lambda self, x, rate: -rate * F.relu(x),
    sample=lambda self, shape, rate: self._standard("standard_exponential", shape, rate) / rate,
)  # fmt: skip
Uniform = row(
    c.Uniform, "low high", "cdf mean var entropy kl_loss", raises="for a low that is not below high", then=_in_order,
    docs="The lower end. | The upper end.", _log_prob=_uniform_log_prob, sample=_uniform,
)  # fmt: skip
Gamma = row(
    c.Gamma, "concentration rate", "log_prob cdf mean var entropy kl_loss", positive="concentration rate",
    raises="for parameters that are not above 0", then=_special(DiGamma), docs="The shape parameter. | The inverse of the scale.",
    _survival_function=lambda self, x, a, rate: _binary.igammac(a, rate * x),
    _sd=lambda self, a, rate: F.sqrt(a) / rate,
    _mode=lambda self, a, rate: F.where(a > 1, (a - 1) / rate, math.nan),
    sample=drawn(lambda stream, size, a, b: stream.gamma(a, 1 / b, size)),
)  # fmt: skip
Beta = row(
    c.Beta, "concentration1 concentration0", "log_prob mean var entropy kl_loss", positive="concentration1 concentration0",
    raises="for parameters that are not above 0", then=_special(DiGamma, LBeta), _mode=_beta_mode,
    docs="One more than the power of x in the density. | One more than the power of 1 - x in the density.",
    sample=drawn(lambda stream, size, x, y: stream.beta(x, y, size)),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ whole numbers

UNIT = "for probabilities that are not between 0 and 1"


def _unit(self: Any) -> None:
    below(type(self).__name__, "probs", self._values["probs"], 1)


def _bernoulli_cdf(self: Any, x: Any, p: Any) -> Any:
    return F.where(x < 0, 0.0, F.where(x < 1, 1 - p, 1.0))


def _geometric_cdf(self: Any, x: Any, p: Any) -> Any:
    return -F.expm1(F.relu(F.floor(x) + 1) * F.log1p(-p))


def _poisson_cdf(self: Any, x: Any, rate: Any) -> Any:
    return F.where(x >= 0, _binary.igammac(F.relu(F.floor(x)) + 1, rate), 0.0)


Bernoulli = row(
    d.Bernoulli, "probs", "log_prob mean var entropy kl_loss", whole=True, dtype=int32, named_later=True, positive="probs",
    then=_unit, raises=UNIT, docs="The probabilities.", _cdf=_bernoulli_cdf,
    _mode=lambda self, p: (p > 0.5).astype(self.dtype), sample=drawn(lambda stream, size, a: stream.random(size) < a),
)  # fmt: skip
Geometric = row(
    d.Geometric, "probs", "log_prob mean var entropy kl_loss", whole=True, dtype=int32, named_later=True, positive="probs",
    then=_unit, raises=UNIT, docs="The probabilities.", within=lambda x, p: F.floor(x) >= 0, before=F.floor,
    _cdf=_geometric_cdf, _sd=lambda self, p: F.sqrt(1 - p) / p,
    _mode=lambda self, p: _creation.zeros_like(p, dtype=self.dtype),
    sample=drawn(lambda stream, size, a: stream.geometric(a, size) - 1),
)  # fmt: skip
Poisson = row(
    d.Poisson, "rate", "log_prob mean var mode", whole=True, positive="rate", raises="for a rate that is not above 0",
    docs="The mean number of events.", within=lambda x, rate: x >= 0, before=F.relu, _cdf=_poisson_cdf,
    sample=drawn(lambda stream, size, a: stream.poisson(a, size)),
)  # fmt: skip


def _sums_to_one(self: Any) -> None:
    with_axes("Categorical", "probs", self._values["probs"])
    a = concrete(self._values["probs"])
    if a is not None and not np.allclose(a.sum(-1), 1, atol=1e-5):
        raise ValueError(f"Categorical: probs must sum to 1 along the last axis, got {self._values['probs']}")


def _batch_shape(self: Any) -> tuple[int, ...] | None:
    p = self._values["probs"]
    return None if p is None else tuple(p.shape[:-1])


def _picked(table: Any, x: Any, below: float, beyond: float) -> Any:
    """The table's elements at whole numbers along the last axis, and what stands for those outside."""
    at, count = F.floor(x), table.shape[-1]
    shape = tuple(np.broadcast_shapes(x.shape, table.shape[:-1]))
    index = _shape.broadcast_to(F.clamp(at, 0, count - 1).astype(int64), shape).expand_dims(-1)
    wide = _shape.broadcast_to(table, (*shape, count))
    found = _gather.gather_elements(wide, len(shape), index).squeeze(-1)
    return F.where(at < 0, below, F.where(at > count - 1, beyond, found))


def _categorical_cdf(self: Any, x: Any, p: Any) -> Any:
    sums = _scans.cumsum(p, -1)
    return _picked(sums / sums[..., -1:], x, 0.0, 1.0)


def _categorical_mean(self: Any, p: Any) -> Any:
    return (p * _creation.arange(p.shape[-1]).astype(p.dtype)).sum(-1, keepdims=True)


def _categorical_var(self: Any, p: Any) -> Any:
    classes = _creation.arange(p.shape[-1]).astype(p.dtype)
    return (p * (classes - _categorical_mean(self, p)) ** 2).sum(-1, keepdims=True)


def _categorical(self: Any, shape: tuple[int, ...], p: Any) -> Any:
    sums = np.cumsum(p._concrete("sample"), -1)
    size = (*shape, *sums.shape[:-1], 1)
    return self._drawn(lambda stream, _: (stream.random(size) * sums[..., -1:] >= sums).sum(-1), shape)


Categorical = row(
    d.Categorical, "probs", "", whole=True, dtype=int32, raises="where probs do not sum to 1", then=_sums_to_one,
    docs="The probabilities of the classes, along the last axis.", batch_shape=property(_batch_shape),
    _log_prob=lambda self, x, p: _picked(F.log(p), x, math.nan, math.nan), _cdf=_categorical_cdf, _mean=_categorical_mean,
    _var=_categorical_var, _mode=lambda self, p: _reductions.argmax(p, -1).astype(self.dtype),
    _entropy=lambda self, p: d.Categorical.entropy(F, p, F.log(p)), sample=_categorical,
    _kl_loss=lambda self, p_b, p: (p * F.log(p / p_b)).sum(-1),
)  # fmt: skip
