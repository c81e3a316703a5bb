"""A pass through a graph that is a chain at its beginning, or altogether, does what a pass through any graph does."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.ops import contraction


def leaf(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers or (0.5, 1.5, -2.0), requires_grad=True)


def test_what_was_passed_is_freed():
    x = leaf()
    y = (x.exp() * 2).sin().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_a_pass_that_is_refused_further_down_frees_nothing_above():
    x = leaf()
    below = x.exp()
    y = below.sin()
    below.sum().backward(retain_graph=True)
    z = y.cos().sum()
    below.sum().backward()  # what is below is free now
    before = x.grad.clone()
    with pytest.raises(RuntimeError, match="retain_graph"):
        z.backward()
    assert torch.equal(x.grad, before)
    cotangent = torch.autograd.grad(z, y)[0]
    np.testing.assert_allclose(cotangent.numpy(), -np.sin(np.sin(np.exp(x.detach().numpy()))), rtol=1e-6)


def test_it_forks_into_leaves_and_operations():
    x, w = leaf(), leaf(2.0, 3.0, 4.0)
    ((x * w).exp().sum() * 3).backward()
    e = 3 * np.exp(x.detach().numpy() * w.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), e * w.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(w.grad.numpy(), e * x.detach().numpy(), rtol=1e-6)
    x.grad = w.grad = None
    y = (x * w).exp()
    (y * w.sin() * x).sum().backward()
    ours = x.grad.numpy(), w.grad.numpy()
    theirs = rg.grad(lambda a, b: rg.sum(rg.exp(a * b) * rg.sin(b) * a), argnums=(0, 1))(x.detach().numpy(), w.detach().numpy())
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-6)


def test_gradients_add_up_in_memory_of_their_own():
    x = leaf()
    seed = torch.ones(3)
    (x + 1).backward(seed)
    first = x.grad
    (x * 2).exp().sum().backward()
    assert first is x.grad
    assert torch.equal(seed, torch.ones(3))
    np.testing.assert_allclose(first.numpy(), 1 + 2 * np.exp(2 * x.detach().numpy()), rtol=1e-6)
    assert not np.shares_memory(first.numpy(), seed.numpy())


@pytest.mark.parametrize("operands", [1, 2])
def test_hooks_of_leaves_are_called_in_the_same_order(operands: int):
    """Of two leaves that meet in the first operation, and of two that meet after others."""
    called: list[str] = []
    x, w = leaf(), leaf(2.0, 3.0, 4.0)
    x.register_hook(lambda g: called.append("x"))
    w.register_hook(lambda g: called.append("w"))
    y = x * w
    for _ in range(operands):
        y = y.sin()
    y.sum().backward()
    direct, called[:] = list(called), []
    torch.stack([(x * w).sin(), (x * w).cos()]).sum().backward()  # no chain
    assert direct == called


def test_paddle_serves_the_second_leaf_first_on_a_chain_too():
    called: list[str] = []
    x, w = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
    x.register_hook(lambda g: called.append("x"))
    w.register_hook(lambda g: called.append("w"))
    (x * w).sum().backward()
    chain, called[:] = list(called), []
    y = x * w
    (y.sin() + y.cos()).sum().backward()
    assert chain == called


def test_what_changed_in_place_is_refused_with_the_graph_retained():
    x = leaf()
    y = x.sin()
    y.mul_(y)
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(y.sum(), x, retain_graph=True)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.sum().backward()
    assert x.grad is None


def test_a_hook_on_the_way_is_called_and_its_gradient_goes_on():
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.sin().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 20 * np.cos(2 * x.detach().numpy()), rtol=1e-6)


def test_large_cotangents_leave_nothing_behind_while_the_pass_goes_on():
    """A chain of large arrays is freed operation by operation."""
    x = torch.ones(100_000, requires_grad=True)
    seen: list[bool] = []
    z = x * 1
    z.register_hook(lambda g: seen.append(kept() is None))
    y = z.exp()
    kept = weakref.ref(y._a)
    y = y.sin().sum()
    y.backward()
    assert seen == [True]


@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize("wanted", ["x", "w"])
def test_one_gradient_of_large_operands_is_pulled_alone(monkeypatch, wanted, retain):
    x, w = (torch.rand(80, 80, requires_grad=True) for _ in "xw")
    y, g = x @ w, torch.ones(80, 80)
    pulled, pull = [], contraction.product
    monkeypatch.setattr(contraction, "product", lambda *a, **k: (pulled.append(1), pull(*a, **k))[1])
    (found,) = torch.autograd.grad(y, {"x": x, "w": w}[wanted], g, retain_graph=retain)
    assert len(pulled) == 1
    expected = g.numpy() @ w.detach().numpy().T if wanted == "x" else x.detach().numpy().T @ g.numpy()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
