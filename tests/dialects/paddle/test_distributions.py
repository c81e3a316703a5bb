"""Distributions: figures recorded from PaddlePaddle 3.3.1, samples against moments, gradients through samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

T = paddle.to_tensor
D = paddle.distribution

# mean, variance, entropy, log_prob at a value
FIGURES: dict[str, tuple[Any, ...]] = {
    "D.Normal(0.0, 2.0)": (0.0, 4.0, 2.11209, 0.5, -1.64334), "D.Bernoulli(0.3)": (0.3, 0.21, 0.61086, 1.0, -1.20397),
    "D.Beta(0.5, 2.0)": (0.2, 0.04571, -0.76528, 0.2, 0.29389), "D.Exponential(2.0)": (0.5, 0.25, 0.30685, 0.5, -0.30685),
    "D.Gamma(2.0, 3.0)": (0.66667, 0.22222, 0.4786, 0.5, 0.00408), "D.Geometric(0.3)": (2.33333, 7.77778, 2.03621, 1.0, -1.56065),
    "D.Gumbel(1.0, 2.0)": (2.15443, 6.57974, 2.27036, 0.5, -1.72717), "D.Laplace(1.0, 2.0)": (1.0, 8.0, 2.38629, 0.5, -1.63629),
    "D.LogNormal(1.0, 2.0)": (20.08554, 21623.04, 3.11209, 0.5, -1.27728), "D.Poisson(2.0)": (2.0, 2.0, 1.70488, 3.0, -1.71232),
    "D.StudentT(3.0, 1.0, 2.0)": (1.0, 12.0, 2.46662, 0.5, -1.73527), "D.Binomial(5.0, 0.3)": (1.5, 1.05, 1.41362, 2.0, -1.17539),
    "D.Chi2(3.0)": (3.0, 6.0, 2.05412, 0.5, -1.51551), "D.Uniform(0.0, 2.0)": (1.0, 1 / 3, 0.69315, 0.5, -0.69315),
}  # fmt: skip


@pytest.mark.parametrize("expression", FIGURES)
def test_figures(expression: str) -> None:
    mean, variance, entropy, value, log_prob = FIGURES[expression]
    d = eval(expression)
    found = [float(d.mean), float(d.variance), float(d.entropy()), float(d.log_prob(T(value)))]
    np.testing.assert_allclose(found, [mean, variance, entropy, log_prob], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("expression", [e for e in FIGURES if "LogNormal" not in e and "Student" not in e])
def test_samples_have_the_moments(expression: str) -> None:
    paddle.seed(3)
    d = eval(expression)
    x = d.sample((20000,))
    assert x.stop_gradient
    assert abs(float(x.mean()) - float(d.mean)) < 0.05 * (1 + float(d.variance) ** 0.5)
    assert float(x.numpy().var()) == pytest.approx(float(d.variance), rel=0.1)


def test_several_dimensions() -> None:
    d = D.Dirichlet(T([1.0, 2.0, 3.0]))
    assert d.event_shape == (3,)
    np.testing.assert_allclose(
        [float(d.entropy()), float(d.log_prob(T([0.2, 0.3, 0.5])))], [-1.24434, 1.50408], rtol=1e-5
    )
    m = D.Multinomial(5, T([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(
        [float(m.entropy()), float(m.log_prob(T([1.0, 2.0, 2.0])))], [2.59181, -2.00248], rtol=1e-5
    )
    assert m.sample((4,)).sum(-1).tolist() == [5.0] * 4
    n = D.MultivariateNormal(T([1.0, 2.0]), covariance_matrix=T([[2.0, 0.5], [0.5, 1.0]]))
    np.testing.assert_allclose([float(n.entropy()), float(n.log_prob(T([0.5, 1.0])))], [3.11768, -2.61768], rtol=1e-5)
    i = D.Independent(D.Normal(T([0.0, 1.0]), T([1.0, 2.0])), 1)
    np.testing.assert_allclose([float(i.entropy()), float(i.log_prob(T([0.5, 1.0])))], [3.53102, -2.65602], rtol=1e-5)


def test_categorical_takes_logits_as_proportions_but_entropies_of_their_softmax() -> None:
    c = D.Categorical(T([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(c.probs(T([0, 2])).numpy(), [1 / 6, 0.5], rtol=1e-6)
    assert float(c.entropy()) == pytest.approx(0.83239555)
    assert c.sample([2, 3]).dtype is paddle.int64


@pytest.mark.parametrize(
    "p,q,wanted",
    [
        ("D.Normal(0.,1.)", "D.Normal(1.,2.)", 0.44315), ("D.Beta(0.5,2.)", "D.Beta(1.,1.)", 0.76528),
        ("D.Categorical(T([1.,2.]))", "D.Categorical(T([3.,1.]))", 1.00684), ("D.Bernoulli(.3)", "D.Bernoulli(.6)", 0.18379),
        ("D.Dirichlet(T([1.,2.]))", "D.Dirichlet(T([3.,1.]))", 2.09454), ("D.Exponential(1.)", "D.Exponential(2.)", 0.30685),
        ("D.Gamma(1.,2.)", "D.Gamma(2.,3.)", 0.26629), ("D.Laplace(1.,2.)", "D.Laplace(2.,3.)", 0.14315),
        ("D.Geometric(.3)", "D.Geometric(.5)", 0.08228), ("D.LogNormal(1.,2.)", "D.LogNormal(2.,3.)", 0.18324),
        ("D.Poisson(1.)", "D.Poisson(2.)", 0.30685), ("D.Cauchy(1.,2.)", "D.Cauchy(2.,3.)", 0.08004),
        ("D.Binomial(5.,0.3)", "D.Binomial(5.,0.5)", 0.41141),
        ("D.MultivariateNormal(T([1.,2.]),T([[2.,.5],[.5,1.]]))",
         "D.MultivariateNormal(T([0.,0.]),T([[1.,0.],[0.,1.]]))", 2.72019),
    ],
)  # fmt: skip
def test_divergences(p: str, q: str, wanted: float) -> None:
    assert float(D.kl_divergence(eval(p), eval(q))) == pytest.approx(wanted, abs=1e-5)


def test_no_divergence_is_an_error() -> None:
    with pytest.raises(NotImplementedError, match="Normal and Beta"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Beta(1.0, 1.0))


def test_gradients_flow_through_rsample_and_log_prob() -> None:
    loc, scale = T([0.5], stop_gradient=False), T([2.0], stop_gradient=False)
    x = D.Normal(loc, scale).rsample((3,))
    x.sum().backward()
    assert loc.grad.tolist() == [3.0]
    np.testing.assert_allclose(scale.grad.numpy(), ((x.detach() - 0.5) / 2).sum().numpy(), rtol=1e-5)
    loc.clear_gradient()
    D.Normal(loc, scale).log_prob(T([1.5])).backward()
    assert float(loc.grad) == pytest.approx(0.25)


def test_transforms() -> None:
    chain, x = D.ChainTransform([D.AffineTransform(T(1.0), T(2.0)), D.ExpTransform()]), T([0.3, 0.6])
    np.testing.assert_allclose(chain.forward(x).numpy(), [4.95303249, 9.02501392], rtol=1e-6)
    np.testing.assert_allclose(chain.inverse(chain.forward(x)).numpy(), x.numpy(), rtol=1e-5)
    np.testing.assert_allclose(chain.forward_log_det_jacobian(x).numpy(), [2.29314709, 2.89314723], rtol=1e-6)
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
    assert float(d.log_prob(T(0.5))) == pytest.approx(-0.46601784)


@pytest.mark.parametrize("concentration,recorded", [(0.5, -2.3872), (1.0, -1.8195), (2.5, -1.6171)])
def test_lkj_density(concentration: float, recorded: float) -> None:
    factor = paddle.to_tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.3, 0.4, 0.75**0.5]])
    made = paddle.distribution.LKJCholesky(3, concentration)
    assert made.log_prob(factor).item() == pytest.approx(recorded, abs=1e-4)
    assert made.log_prob(paddle.stack([factor, factor])).shape == [2]


@pytest.mark.parametrize("method", ["onion", "cvine"])
def test_lkj_samples(method: str) -> None:
    paddle.seed(5)
    made = paddle.distribution.LKJCholesky(3, 2.0, method)
    factors = made.sample([4000]).numpy()
    assert np.all(np.triu(factors, 1) == 0)
    matrices = factors @ factors.swapaxes(1, 2)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2), 1.0, atol=1e-5)
    below = matrices[:, [1, 2, 2], [0, 0, 1]]
    np.testing.assert_allclose(below.mean(0), 0.0, atol=0.03)
    np.testing.assert_allclose(below.var(0), 1 / 6, atol=0.012)  # of a Beta distribution, 1 / (2 c + d - 1)
    both = paddle.distribution.LKJCholesky(2, paddle.to_tensor([1.0, 2.0]), method)
    assert both.batch_shape == (2,)
    assert both.sample([4]).shape == [4, 2, 2, 2]


@pytest.mark.parametrize("arguments,error", [
    ((1,), ValueError), ((2.5,), TypeError), ((3, -1.0), ValueError), ((3, 2), TypeError), ((3, 1.0, "foo"), ValueError),
])  # fmt: skip
def test_lkj_refuses(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error, match="LKJCholesky"):
        paddle.distribution.LKJCholesky(*arguments)
