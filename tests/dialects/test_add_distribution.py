"""CONTRIBUTING's worked example of a distribution: its lines, written into a copy of the package, work in all dialects."""

from dialects import worked_examples

USE = """
import math
import numpy as np
import retrograde.dialects.torch as torch, retrograde.dialects.paddle as paddle, retrograde.dialects.mindspore as ms

x, scale, other = np.array([0.2, 1.0, 3.5]), np.array([0.5, 1.0, 2.0]), np.array([0.7, 1.5, 1.0])
log_prob = np.log(x / scale**2) - x**2 / (2 * scale**2)
cdf = 1 - np.exp(-(x**2) / (2 * scale**2))
divergence = scale**2 / other**2 - 1 - np.log(scale**2 / other**2)
entropy = 1 + np.log(scale / math.sqrt(2)) + np.euler_gamma / 2

def same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-5)

t = lambda a: torch.tensor(a, dtype=torch.float64)
p, q = (torch.distributions.Rayleigh(t(a)) for a in (scale, other))
same(p.log_prob(t(x)), log_prob), same(p.cdf(t(x)), cdf), same(p.icdf(t(cdf)), x), same(p.entropy(), entropy)
same(torch.distributions.kl_divergence(p, q), divergence)
assert repr(p.expand((2, 3))) == "Rayleigh(scale: torch.Size([2, 3]))" and p.rsample((4,)).shape == (4, 3)
assert torch.distributions.rayleigh.Rayleigh is type(p)
for wrong in (lambda: torch.distributions.Rayleigh(-1.0), lambda: p.log_prob(t(-x))):
    try:
        wrong()
    except ValueError as error:
        assert "Rayleigh" in str(error)
    else:
        raise AssertionError

t = paddle.to_tensor
p, q = (paddle.distribution.Rayleigh(t(a)) for a in (scale, other))
same(p.log_prob(t(x)), log_prob), same(p.cdf(t(x)), cdf), same(p.entropy(), entropy)
same(paddle.distribution.kl_divergence(p, q), divergence)
assert p.sample((4,)).shape == [4, 3]

t = lambda a: ms.Tensor(a, ms.float32)
p = ms.nn.probability.distribution.Rayleigh(t(scale))
same(p.log_prob(t(x)).asnumpy(), log_prob), same(p.cdf(t(x)).asnumpy(), cdf), same(p.entropy().asnumpy(), entropy)
same(p.kl_loss("Rayleigh", t(other)).asnumpy(), divergence)
assert p.sample((4,)).shape == (4, 3) and p("sd").shape == (3,)
"""


def test_the_worked_example(tmp_path):
    worked_examples.check("Add a distribution", "", 8, USE, tmp_path)
