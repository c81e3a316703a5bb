"""Distributions and bijectors of `nn.probability`: figures recorded from MindSpore 2.10, derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, ops
from retrograde.dialects.mindspore.nn.probability import bijector as b
from retrograde.dialects.mindspore.nn.probability import distribution as d

T = Tensor
FUNCTIONS = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
TABLE: list[tuple[Callable[[], Any], list[float], dict[str, list[float]], dict[str, float]]] = [
    (lambda: d.Normal(0.5, 2.0), [0.3, -1.0],
     {"prob": [0.19848, 0.15057], "log_prob": [-1.61709, -1.89334], "cdf": [0.46017, 0.22663],
      "log_cdf": [-0.77615, -1.48445], "survival_function": [0.53983, 0.77337], "log_survival": [-0.61651, -0.25699]},
     {"mean": 0.5, "sd": 2.0, "var": 4.0, "mode": 0.5, "entropy": 2.11209}),
    (lambda: d.Bernoulli(0.3), [0.0, 1.0], {"prob": [0.7, 0.3], "cdf": [0.7, 1.0], "survival_function": [0.3, 0.0]},
     {"mean": 0.3, "sd": 0.458258, "entropy": 0.610864}),
    (lambda: d.Categorical(T([0.2, 0.3, 0.5])), [0.0, 2.0], {"prob": [0.2, 0.5], "cdf": [0.2, 1.0]},
     {"mean": 1.3, "sd": 0.781025, "mode": 2, "entropy": 1.02965}),
    (lambda: d.Exponential(0.7), [0.3, -1.0], {"prob": [0.56741, 0.0], "cdf": [0.18942, 0.0]},
     {"mean": 1.42857, "sd": 1.42857, "var": 2.04082, "mode": 0.0, "entropy": 1.35667}),
    (lambda: d.Uniform(0.0, 2.0), [0.3, 3.0], {"prob": [0.5, 0.0], "cdf": [0.15, 1.0], "log_survival": [-0.16252, -np.inf]},
     {"mean": 1.0, "sd": 0.57735, "entropy": 0.693147}),
    (lambda: d.Gamma(T([2.0]), T([3.0])), [0.3, 1.0], {"prob": [1.09774, 0.44808], "cdf": [0.22752, 0.80085]},
     {"mean": 0.66667, "sd": 0.4714, "mode": 0.33333, "entropy": 0.4786}),
    (lambda: d.Beta(T([2.0]), T([3.0])), [0.3, 0.6], {"prob": [1.764, 1.152]},
     {"mean": 0.4, "var": 0.04, "mode": 0.33333, "entropy": -0.23491}),
    (lambda: d.Geometric(0.4), [1.0, 3.0], {"prob": [0.24, 0.0864], "cdf": [0.64, 0.8704]},
     {"mean": 1.5, "sd": 1.93649, "mode": 0, "entropy": 1.68253}),
    (lambda: d.Geometric(0.4), [1.5, -1.0], {"prob": [0.24, 0.0], "cdf": [0.64, 0.0]}, {}),
    (lambda: d.Gumbel(0.5, 2.0), [0.3, 1.0], {"prob": [0.18299, 0.17872], "cdf": [0.33115, 0.45896]},
     {"mean": 1.65443, "sd": 2.5651, "mode": 0.5, "entropy": 2.27036}),
    (lambda: d.Logistic(0.5, 2.0), [0.3, 1.0], {"prob": [0.12469, 0.12307], "log_survival": [-0.6444, -0.82594]},
     {"mean": 0.5, "sd": 3.6276, "entropy": 2.69315}),
    (lambda: d.LogNormal(0.5, 2.0), [0.3, 1.0], {"prob": [0.46253, 0.19333], "cdf": [0.19711, 0.40129]},
     {"mean": 12.1825, "sd": 89.189, "mode": 0.0301974, "entropy": 2.61209}),
    (lambda: d.Poisson(T([2.5])), [1.0, 3.0], {"prob": [0.20521, 0.21376], "cdf": [0.2873, 0.75758]},
     {"mean": 2.5, "sd": 1.58114, "mode": 2.0}),
    (lambda: d.Cauchy(0.5, 2.0), [0.3, 1.0], {"prob": [0.15758, 0.14979], "cdf": [0.46827, 0.57798]},
     {"mode": 0.5, "entropy": 3.22417}),
    (lambda: d.HalfNormal(0.5, 2.0), [0.7, -1.0], {"prob": [0.39695, 0.0]}, {}),
    (lambda: d.Laplace(0.5, 2.0), [0.3, 1.0], {"log_prob": [-1.48629, -1.63629]}, {}),
    (lambda: d.StudentT(3.0, 0.5, 2.0), [0.3, 1.0], {"log_prob": [-1.70069, -1.73527]}, {}),
    (lambda: d.TransformedDistribution(b.Exp(), d.Normal(0.5, 2.0)), [0.3, 1.0],
     {"prob": [0.46253, 0.19333], "cdf": [0.19711, 0.40129]}, {}),
    (lambda: d.TransformedDistribution(b.ScalarAffine(2.0, 1.0), d.Normal(0.5, 2.0)), [0.3, -1.0],
     {"log_survival": [-0.4086, -0.25699]}, {"mean": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TABLE)))
def test_values(number: int) -> None:
    make, at, functions, moments = TABLE[number]
    x = make()
    for name, values in functions.items():
        np.testing.assert_allclose(getattr(x, name)(T(at)).asnumpy(), values, atol=2e-5)
        np.testing.assert_allclose(x(name, T(at)).asnumpy(), values, atol=2e-5)
    for name, value in moments.items():
        np.testing.assert_allclose(getattr(x, name)().asnumpy(), value, rtol=2e-5)


@pytest.mark.parametrize(
    ("make", "other", "kl", "cross"),
    [
        (lambda: d.Normal(0.5, 2.0), (0.0, 1.0), 0.93185, 3.04394),
        (lambda: d.Bernoulli(0.3), (0.6,), 0.18379, 0.79465),
        (lambda: d.Categorical(T([0.2, 0.3, 0.5])), ([0.3, 0.3, 0.4],), 0.03048, 1.06013),
        (lambda: d.Exponential(0.7), (1.0,), 0.0719, 1.42857),
        (lambda: d.Uniform(0.0, 2.0), (0.0, 3.0), 0.40547, 1.09861),
        (lambda: d.Uniform(0.0, 2.0), (1.0, 3.0), np.inf, np.inf),
        (lambda: d.Gamma(T([2.0]), T([3.0])), (1.0, 1.0), 0.18806, 0.66666),
        (lambda: d.Beta(T([2.0]), T([3.0])), (1.0, 1.0), 0.23491, 0.0),
        (lambda: d.Geometric(0.4), (0.6,), 0.20273, 1.88526),
        (lambda: d.Gumbel(0.5, 2.0), (0.0, 1.0), 0.59713, 2.86749),
        (lambda: d.LogNormal(0.5, 2.0), (0.0, 1.0), 0.93185, 3.54394),
        (lambda: d.Cauchy(0.5, 2.0), (0.0, 1.0), 0.14518, 3.36935),
    ],
)
def test_divergences(make: Callable[[], Any], other: tuple[Any, ...], kl: float, cross: float) -> None:
    x = make()
    given = [T(v) for v in other]
    kind = type(x).__name__
    np.testing.assert_allclose(x.kl_loss(kind, *given).asnumpy(), kl, atol=2e-5)
    np.testing.assert_allclose(x.cross_entropy(kind, *given).asnumpy(), cross, atol=2e-5)
    with pytest.raises(ValueError, match=kind):
        x.kl_loss("Foo", *given)


def test_parameters_that_come_with_the_call() -> None:
    plain, batch = d.Normal(), d.Normal(T([0.0, 1.0]), T([1.0, 2.0]))
    v = T([0.3, -1.0])
    assert str(plain) == "Normal(mean = None, standard deviation = None)"
    assert str(batch) == "Normal(batch_shape = (2,))"
    assert str(d.Normal(0, 1)) == "Normal(mean = 0.0, standard deviation = 1.0)"
    np.testing.assert_allclose(plain.prob(v, T(0.0), T(1.0)).asnumpy(), [0.38139, 0.24197], atol=1e-5)
    np.testing.assert_allclose(batch.prob(v.expand_dims(1)).asnumpy(), [[0.38139, 0.18762], [0.24197, 0.12099]], atol=1e-5)
    assert [float(x) for x in d.Normal(0.5, 2.0).get_dist_args(T(3.0))] == [3.0, 2.0]
    with pytest.raises(TypeError, match="given"):
        plain.mean()
    with pytest.raises(TypeError, match="Tensor"):
        batch.prob(0.3)
    assert batch.sample((3,)).shape == (3, 2)
    assert str(d.Bernoulli(0.3).sample((2,)).dtype) == "Int32"
    for wrong in (lambda: d.Normal(0.0, -1.0), lambda: d.Bernoulli(1.5), lambda: d.Categorical(T([0.2, 0.9]))):
        with pytest.raises(ValueError, match="must"):
            wrong()
    for wrong in (lambda: d.Normal("a", 1.0), lambda: d.Categorical(0.5), lambda: d.Normal(0.0, 1.0, seed="a")):
        with pytest.raises(TypeError, match="must"):
            wrong()
    with pytest.raises(NotImplementedError):
        d.Logistic(0.0, 1.0).kl_loss("Logistic", T(0.0), T(1.0))


def test_derivatives() -> None:
    plain = d.Normal()
    v = T([0.3, -1.0])
    np.testing.assert_allclose(ms.grad(d.Normal(0.5, 2.0).log_prob)(v).asnumpy(), [0.05, 0.375], rtol=1e-5)
    assert abs(float(ms.grad(lambda mu: plain.log_prob(v, mu, T(1.0)).sum())(T(0.5))) + 1.7) < 1e-5
    # A sample moves with the parameters.
    assert abs(float(ms.grad(lambda mu: plain.sample((4,), mu, T(1.0)).sum())(T(0.5))) - 4) < 1e-5


@pytest.mark.parametrize(
    ("make", "mean"),
    [
        (lambda: d.Normal(0.5, 2.0), 0.5), (lambda: d.Uniform(0.0, 2.0), 1.0), (lambda: d.Exponential(0.7), 1.42857),
        (lambda: d.Categorical(T([0.2, 0.3, 0.5])), 1.3), (lambda: d.Geometric(0.4), 1.5),
        (lambda: d.Gumbel(0.5, 2.0), 1.65443), (lambda: d.Gamma(T([2.0]), T([3.0])), 0.66667),
        (lambda: d.Beta(T([2.0]), T([3.0])), 0.4), (lambda: d.Poisson(T([2.5])), 2.5), (lambda: d.Bernoulli(0.3), 0.3),
        (lambda: d.Logistic(0.5, 2.0), 0.5),
    ],
)  # fmt: skip
def test_samples_have_the_mean(make: Callable[[], Any], mean: float) -> None:
    ms.set_seed(3)
    x = make().sample((20000,)).asnumpy().astype(np.float64)
    assert abs(x.mean() - mean) < 5 * x.std() / np.sqrt(x.size)


MAPS: list[tuple[Callable[[], Any], list[float], list[float], list[float]]] = [
    (lambda: b.Exp(), [0.3, -1.0], [1.34986, 0.36788], [0.3, -1.0]),
    (lambda: b.PowerTransform(0.5), [0.3, 2.0], [1.3225, 4.0], [0.13976, 0.69315]),
    (lambda: b.ScalarAffine(2.0, 1.0), [0.3, -1.0], [1.6, -1.0], [0.69315, 0.69315]),
    (lambda: b.Softplus(2.0), [0.3, -1.0], [0.51874, 0.06346], [-0.43749, -2.12693]),
    (lambda: b.GumbelCDF(0.5, 2.0), [0.3, -1.0], [0.33115, 0.12039], [-1.69832, -2.06015]),
    (lambda: b.Invert(b.Exp()), [1.0, 2.0], [0.0, 0.69315], [0.0, -0.69315]),
]


@pytest.mark.parametrize("number", range(len(MAPS)))
def test_bijectors(number: int) -> None:
    make, at, values, slopes = MAPS[number]
    f = make()
    x = T(at)
    y = f.forward(x)
    np.testing.assert_allclose(y.asnumpy(), values, atol=2e-5)
    np.testing.assert_allclose(f("inverse", y).asnumpy(), at, atol=2e-5)
    np.testing.assert_allclose(ops.zeros_like(x).asnumpy() + f.forward_log_jacobian(x).asnumpy(), slopes, atol=2e-5)
    np.testing.assert_allclose(ops.zeros_like(x).asnumpy() - f.inverse_log_jacobian(y).asnumpy(), slopes, atol=2e-5)
    np.testing.assert_allclose(np.log(ms.grad(f.forward)(x).asnumpy()), slopes, atol=2e-5)
    with pytest.raises(TypeError, match="Tensor"):
        f.forward(0.3)


def test_parameters_go_by_the_names_that_a_distribution_has() -> None:
    assert d.Logistic(1.0, 2.0).loc == 1.0
    assert d.LogNormal(1.0, 2.0).scale == 2.0
    assert not hasattr(d.Normal(1.0, 2.0), "loc")


def test_numbers_are_parameters_of_every_distribution() -> None:  # in MindSpore these want an axis
    assert d.Gamma(2.0, 4.0).mean() == 0.5
    assert d.Beta(2.0, 2.0).mean() == 0.5
    assert d.Poisson(2.5).mean() == 2.5
    for made in (d.Gamma(2.0, 4.0), d.Beta(2.0, 2.0), d.Poisson(2.5)):
        assert made.sample().shape == ()
        assert made.sample((3,)).shape == (3,)
        assert made.log_prob(T(0.5)).shape == ()
