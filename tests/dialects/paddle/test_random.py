"""Random numbers of the paddle dialect: the same from the same seed, and distributed as their names say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

N = 20_000
DRAWS: dict[str, tuple[Callable[[], Any], float, float]] = {
    "rand": (lambda: paddle.rand([N]), 0.5, 1 / 12),
    "randn": (lambda: paddle.randn([N], dtype="float64"), 0.0, 1.0),
    "standard_normal": (lambda: paddle.standard_normal([N]), 0.0, 1.0),
    "uniform": (lambda: paddle.uniform([N], min=-1.0, max=3.0), 1.0, 16 / 12),
    "normal": (lambda: paddle.normal(2.0, 3.0, [N]), 2.0, 9.0),
    "normal of tensors": (lambda: paddle.normal(paddle.full([N], 2.0), paddle.full([N], 3.0)), 2.0, 9.0),
    "gaussian": (lambda: paddle.gaussian([N], 1.0, 2.0), 1.0, 4.0),
    "randint": (lambda: paddle.randint(0, 10, [N]), 4.5, 8.25),
    "bernoulli": (lambda: paddle.bernoulli(paddle.full([N], 0.3)), 0.3, 0.21),
    "binomial": (lambda: paddle.binomial(paddle.full([N], 10, "int64"), paddle.full([N], 0.3)), 3.0, 2.1),
    "poisson": (lambda: paddle.poisson(paddle.full([N], 4.0)), 4.0, 4.0),
    "standard_gamma": (lambda: paddle.standard_gamma(paddle.full([N], 3.0)), 3.0, 3.0),
    "multinomial": (lambda: paddle.multinomial(paddle.to_tensor([1.0, 2.0, 1.0]), N, True), 1.0, 0.5),
    "uniform_": (lambda: paddle.zeros([N]).uniform_(-1.0, 1.0), 0.0, 1 / 3),
    "normal_": (lambda: paddle.zeros([N]).normal_(1.0, 2.0), 1.0, 4.0),
    "exponential_": (lambda: paddle.zeros([N]).exponential_(2.0), 0.5, 0.25),
    "bernoulli_": (lambda: paddle.zeros([N]).bernoulli_(0.25), 0.25, 0.1875),
    "log_normal_": (lambda: paddle.zeros([N]).log_normal_(0.0, 0.5), np.exp(0.125), (np.exp(0.25) - 1) * np.exp(0.25)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_moments_and_seed(name: str) -> None:
    draw, mean, variance = DRAWS[name]
    paddle.seed(11)
    first = draw().numpy()
    paddle.seed(11)
    assert np.array_equal(draw().numpy(), first)
    assert not np.array_equal(draw().numpy(), first)
    assert first.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / N))
    assert first.var() == pytest.approx(variance, rel=0.1)


def test_state_and_permutations() -> None:
    state = paddle.get_rng_state()
    first = paddle.randperm(50).numpy()
    paddle.set_rng_state(state)
    assert np.array_equal(paddle.randperm(50).numpy(), first)
    assert sorted(first.tolist()) == list(range(50))
    drawn = paddle.multinomial(paddle.to_tensor([0.2, 0.0, 0.5, 0.3]), 3).numpy()
    assert sorted(drawn.tolist()) == [0, 2, 3]


def test_in_place_draws_have_no_gradient_of_what_was_there() -> None:
    x = paddle.ones([3])
    x.stop_gradient = False
    y = x * 2
    y.uniform_()
    (y * 3 + x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="less than"):
        paddle.randint(5, 0, [3])
    with pytest.raises(ValueError, match="replacement"):
        paddle.multinomial(paddle.to_tensor([0.0, 1.0]), 2)
    with pytest.raises(RuntimeError, match="int64"):
        paddle.to_tensor([1, 2]).uniform_()


def test_gradients_reach_the_mean_and_the_deviation() -> None:
    mean, std = paddle.to_tensor([1.0, 2.0], stop_gradient=False), paddle.to_tensor([0.5, 0.5], stop_gradient=False)
    drawn = paddle.normal(mean, std)
    drawn.sum().backward()
    assert mean.grad.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(std.grad, (drawn - mean) / std, rtol=1e-5)
    mean.clear_grad()
    drawn = paddle.log_normal(mean, 0.0)
    np.testing.assert_allclose(paddle.grad(drawn, mean)[0], np.exp([1.0, 2.0]), rtol=1e-6)
