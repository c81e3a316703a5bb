"""`torch.distributions` against PyTorch's figures: seeded samples, densities, moments, gradients, divergences."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from dialects.torch import distribution_cases

from retrograde.dialects import torch

RECORD = json.loads((Path(__file__).parent / "data" / "distributions.json").read_text())
CASES = {name: (build, parameters) for name, build, parameters in distribution_cases.builders(torch)}
D = torch.distributions

# PyTorch approximates the gradient of a gamma sample with a relative error of up to 5e-4 (its own tests allow 1e-3).
APPROXIMATE = ("Gamma", "Beta", "Dirichlet", "Chi2", "StudentT", "FisherSnedecor", "InverseGamma")


def compare(path, found, expected, rtol=3e-5):
    if isinstance(expected, (list, tuple)):
        assert isinstance(found, (list, tuple)), (path, found)
        if len(expected) == 2 and isinstance(expected[0], list) and isinstance(expected[1], list) and all(
            isinstance(n, int) for n in expected[0]
        ) and all(isinstance(x, float) for x in expected[1]):  # fmt: skip
            assert found[0] == expected[0], path
            np.testing.assert_allclose(found[1], expected[1], rtol=rtol, atol=rtol, err_msg=str(path))
            return
        assert len(found) == len(expected), (path, found)
        for i, (x, y) in enumerate(zip(found, expected)):
            compare((*path, i), x, y, rtol)
    else:
        assert found == expected, path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_against_pytorch(name):
    found = distribution_cases.describe(torch, *CASES[name])
    expected = RECORD["distributions"][name]
    assert list(found) == list(expected)
    for key, value in expected.items():
        compare((name, key), found[key], value, 1e-3 if key == "rsample grads" and name in APPROXIMATE else 3e-5)


@pytest.mark.parametrize("i", range(len(RECORD["transforms"])))
def test_transforms(i):
    transform, positive = list(distribution_cases.transforms(torch))[i]
    text, y, jacobian, domain = RECORD["transforms"][i]
    x = torch.tensor([[0.3, -0.7, 1.1], [0.2, 0.5, -1.5]])
    x = x.abs() if positive else x
    image = transform(x)
    assert repr(transform) == text
    assert repr(transform.domain) == domain
    compare((text, "y"), distribution_cases.numbers(image), y)
    compare((text, "jacobian"), distribution_cases.numbers(transform.log_abs_det_jacobian(x, image)), jacobian)
    np.testing.assert_allclose(transform.inv(image).numpy(), x.numpy(), rtol=1e-4, atol=1e-5)
    assert transform.inv.inv is transform
    cached = transform.with_cache(1)
    assert cached.inv(cached(x)) is x or isinstance(transform, D.ComposeTransform)


def test_divergences():
    left, right = distribution_cases.divergence_families(torch, 1.0), distribution_cases.divergence_families(torch, 1.3)
    for p in left:
        for q in right:
            key = f"{type(p).__name__} {type(q).__name__}"
            found = distribution_cases.attempt(lambda p=p, q=q: distribution_cases.numbers(D.kl_divergence(p, q)))
            compare((key,), found, RECORD["divergences"][key])


def test_registered_divergences_reach_subclasses():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def _kl(p, q):
        return torch.tensor(42.0)

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 42
    assert D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0


FAILURES = [
    (lambda: D.Normal(0.0, -1.0), ValueError),
    (lambda: D.Normal("a", 1.0), ValueError),
    (lambda: D.Normal(torch.zeros(2), torch.ones(3)), RuntimeError),
    (lambda: D.Normal(0.0, 1.0).log_prob(1.0), ValueError),
    (lambda: D.Normal(0.0, 1.0).enumerate_support(), NotImplementedError),
    (lambda: D.Poisson(1.0).rsample(), NotImplementedError),
    (lambda: D.Bernoulli(), ValueError),
    (lambda: D.Bernoulli(0.5, 0.5), ValueError),
    (lambda: D.Categorical(torch.tensor(1.0)), ValueError),
    (lambda: D.Categorical(torch.tensor([0.5, 0.5])).log_prob(torch.tensor(2)), ValueError),
    (lambda: D.Uniform(2.0, 1.0), ValueError),
    (lambda: D.MultivariateNormal(torch.zeros(2), -torch.eye(2)), ValueError),
    (lambda: D.MultivariateNormal(torch.zeros(2)), ValueError),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), ValueError),
    (lambda: D.kl_divergence(D.Cauchy(0.0, 1.0), D.Poisson(1.0)), NotImplementedError),
    (lambda: D.biject_to(D.constraints.boolean), NotImplementedError),
]


@pytest.mark.parametrize("i", range(len(FAILURES)))
def test_errors(i):
    call, kind = FAILURES[i]
    with pytest.raises(kind):
        call()


def test_validation_can_be_switched_off():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)


def test_modules_have_pytorchs_names():
    from retrograde.dialects.torch.distributions.normal import Normal
    from retrograde.dialects.torch.distributions.utils import broadcast_all, lazy_property

    assert Normal is D.Normal
    assert [x.shape for x in broadcast_all(1.0, torch.zeros(2, 1), torch.zeros(3))] == [(2, 3)] * 3
    assert isinstance(D.Bernoulli.logits, lazy_property)


def test_samples_through_gamma_have_the_exact_gradient():
    a = torch.tensor([0.5, 2.0, 30.0], dtype=torch.double, requires_grad=True)
    torch.manual_seed(0)
    x = D.Gamma(a, torch.ones(3, dtype=torch.double)).rsample()
    (g,) = torch.autograd.grad(x.sum(), a)
    # -(dP/da) / p by quadrature-free differences of the regularised incomplete gamma function
    from scipy import special

    y, b, h = x.detach().numpy(), a.detach().numpy(), 1e-5
    slope = (special.gammainc(b + h, y) - special.gammainc(b - h, y)) / (2 * h)
    density = np.exp((b - 1) * np.log(y) - y - special.gammaln(b))
    np.testing.assert_allclose(g.numpy(), -slope / density, rtol=1e-6)


def test_copies_sample_the_same():
    flow = D.TransformedDistribution(D.Normal(torch.zeros(2), 1.0), [D.ExpTransform().inv.inv, D.TanhTransform()])
    torch.manual_seed(1)
    x = flow.sample()
    torch.manual_seed(1)
    assert torch.equal(copy.deepcopy(flow).sample(), x)


@pytest.mark.parametrize("logits", [-40.0, -3.0, 0.0, 0.003, 40.0])
def test_the_density_of_a_continuous_bernoulli_is_one_in_all(logits):
    """For log odds of probabilities that float32 does not tell from 0 and 1, too, and between the limits."""
    x = torch.linspace(0.0, 1.0, 20001, dtype=torch.float64)
    d = D.ContinuousBernoulli(logits=torch.tensor(logits))
    density = d.log_prob(x.float()).exp().double()
    assert torch.trapezoid(density, x).item() == pytest.approx(1, abs=2e-5)
    assert torch.trapezoid(density * x, x).item() == pytest.approx(d.mean.item(), abs=2e-5)


@pytest.mark.parametrize("logits", [-1e3, -100.0, 100.0, 1e3])
def test_a_continuous_bernoulli_has_finite_derivatives_for_any_log_odds(logits):
    given = torch.tensor(logits, requires_grad=True)
    d = D.ContinuousBernoulli(logits=given)
    x = torch.tensor([0.0, 1e-3, 0.5, 0.999, 1.0])
    assert d.mean.item() == pytest.approx(0.5 + np.sign(logits) * (0.5 - 1 / abs(logits)), abs=1e-6)
    size, above = abs(logits), max(logits, 0)
    cdf = [np.expm1(-size * v) / np.expm1(-size) * np.exp(-above * (1 - v)) for v in x.tolist()]
    assert d.cdf(x).tolist() == pytest.approx(cdf, rel=1e-4)
    for value in (d.mean, d.variance, d.log_prob(x).sum(), d.cdf(x).sum(), d.entropy()):
        assert torch.isfinite(value)
        assert torch.isfinite(torch.autograd.grad(value, given)[0])


def test_divergences_of_trials_that_are_certain():
    """Values and derivatives where a probability is 0 or 1."""
    p = torch.tensor([0.0, 0.0, 1.0, 1.0, 0.3], requires_grad=True)
    q = torch.tensor([0.0, 0.3, 1.0, 0.3, 1.0], requires_grad=True)
    expected = [0.0, -np.log(0.7), 0.0, -np.log(0.3), np.inf]
    for found, n in ((D.kl_divergence(D.Bernoulli(p), D.Bernoulli(q)), 1), (
        D.kl_divergence(D.Binomial(4, p), D.Binomial(4, q)), 4)):  # fmt: skip
        np.testing.assert_allclose(found.detach().numpy(), n * np.array(expected), rtol=1e-5)
        for gradient in torch.autograd.grad(found.sum(), (p, q)):
            assert torch.isfinite(gradient).all()
    p, q = torch.tensor([1.0, 1.0, 0.5]), torch.tensor([0.5, 1.0, 1.0])
    found = D.kl_divergence(D.Geometric(p), D.Geometric(q))
    np.testing.assert_allclose(found.numpy(), [np.log(2), 0.0, np.inf], rtol=1e-6)
