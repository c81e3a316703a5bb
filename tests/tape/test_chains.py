"""A pass through a graph that is a chain at its beginning, or altogether, does what a pass through any graph does."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.ops import contraction
from retrograde.tape import engine


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


def test_a_chain_is_followed_past_a_write_that_touched_nothing_saved(monkeypatch: pytest.MonkeyPatch):
    """Operations older than a write need no look at the whole graph, where what they saved is as it was."""
    x = leaf()
    y = x.sin().exp()
    z = y * 1
    z[0] = 5.0
    monkeypatch.setattr(engine, "discover", lambda *args: pytest.fail("the graph was looked at"))
    z.sin().sum().backward()
    a = x.detach().numpy()
    wanted = np.cos(np.exp(np.sin(a))) * np.exp(np.sin(a)) * np.cos(a)
    wanted[0] = 0
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-5)


def test_a_write_into_what_was_saved_is_refused_below_operations_that_were_passed():
    x = leaf()
    y = x.exp()
    z = y.sin()
    w = z * 1
    with torch.no_grad():
        y.mul_(2)
    w.add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        w.cos().sum().backward()
    assert x.grad is None
    assert torch.equal(torch.autograd.grad(w.sum(), w)[0], torch.ones(3))


def forked(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Operations with several users, parts of one that are used apart, and leaves that are used twice."""
    y = x.sin()
    first, second = torch.chunk(y * w, 2)
    z = torch.cat([first.exp() * w[:2], second * x[2:], y[1:3]])
    return (z * z + z.abs()) / z.exp().sum()


@pytest.mark.parametrize("retain", [False, True])
def test_forks_give_the_bits_of_a_pass_that_looks_at_the_graph(monkeypatch: pytest.MonkeyPatch, retain: bool):
    found = []
    for few in (0, 3, engine._FEW):
        monkeypatch.setattr(engine, "_FEW", few)
        x, w = leaf(0.5, 1.5, -2.0, 0.3), leaf(2.0, 3.0, 4.0, -1.0)
        out = forked(x, w)
        out.backward(torch.ones(6), retain_graph=retain)
        found.append((x.grad.numpy().tobytes(), w.grad.numpy().tobytes()))
        if not retain:
            with pytest.raises(RuntimeError, match="retain_graph"):
                out.backward(torch.ones(6))
    assert found[0] == found[1] == found[2]


def test_small_forks_are_followed_without_looking_at_the_graph(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "discover", lambda *args: pytest.fail("the graph was looked at"))
    x, w = leaf(0.5, 1.5, -2.0, 0.3), leaf(2.0, 3.0, 4.0, -1.0)
    forked(x, w).sum().backward()
    assert x.grad.shape == w.grad.shape == (4,)


def test_a_write_into_what_one_branch_saved_is_refused_before_anything_is_done():
    x, w = leaf(), leaf()
    kept = x.exp()
    y = w.sin() * x + kept.sin()
    with torch.no_grad():
        kept.mul_(2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="changed in place"):
            y.backward(torch.ones(3))
    assert x.grad is w.grad is None


def test_a_branch_that_is_free_is_refused_before_anything_is_done():
    x, w = leaf(), leaf()
    below = x.exp()
    above = w.sin() * x
    y = above + below.sin()
    below.sum().backward()
    x.grad = None
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward(torch.ones(3))
    assert x.grad is w.grad is None
    above.sum().backward()  # has been passed, and is not free


def test_a_hook_below_a_fork_sees_the_whole_gradient():
    x, w = leaf(), leaf(2.0, 3.0, 4.0)
    seen: dict[str, np.ndarray] = {}
    y = w * 2
    y.register_hook(lambda g: seen.update(y=g.numpy().copy()))
    x.register_hook(lambda g: seen.update(x=g.numpy().copy()))
    (y.sin() * x + y * 3 + x * x).sum().backward()
    a, b = x.detach().numpy(), w.detach().numpy()
    np.testing.assert_allclose(seen["y"], np.cos(2 * b) * a + 3, rtol=1e-5)
    np.testing.assert_allclose(seen["x"], np.sin(2 * b) + 2 * a, rtol=1e-5)
    np.testing.assert_array_equal(w.grad.numpy(), 2 * seen["y"])
    np.testing.assert_array_equal(x.grad.numpy(), seen["x"])


def test_gradients_of_large_leaves_do_not_wait_for_the_pass(monkeypatch: pytest.MonkeyPatch):
    """What leaves get is handed over while the pass goes on, where it is much."""
    x, w = leaf(1.0), torch.ones(engine._SMALL + 1, requires_grad=True)
    left: list[int] = []
    discover = engine.discover
    monkeypatch.setattr(engine, "discover", lambda roots, *args: left.append(len(roots)) or discover(roots, *args))
    (x.sin().exp() * w.sum()).sum().backward()
    assert left == [2]  # that of sum, and that of exp
    np.testing.assert_allclose(w.grad.numpy()[:2], np.exp(np.sin(1)), rtol=1e-6)


@pytest.mark.parametrize("behind", [False, True])
def test_one_result_of_several_is_followed(behind: bool):
    x = torch.tensor(np.arange(8, dtype=np.float32).reshape(4, 2) ** 2, requires_grad=True)
    norm = torch.nn.BatchNorm1d(2)  # its running statistics change after its operation was recorded
    y = norm(x * 1.0 if behind else x)
    assert y._node is not None
    (y.exp() if behind else y).backward(torch.tensor(np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)))
    numbers = x.detach().numpy().astype(np.float64)
    seed = np.linspace(-1, 1, 8).reshape(4, 2)
    scale = 1 / np.sqrt(numbers.var(0) + 1e-5)
    standard = (numbers - numbers.mean(0)) * scale
    g = seed * np.exp(standard) if behind else seed
    wanted = scale * (g - g.mean(0) - standard * (g * standard).mean(0))
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(norm.weight.grad.numpy(), (g * standard).sum(0), rtol=1e-5)
    np.testing.assert_allclose(norm.bias.grad.numpy(), g.sum(0), rtol=1e-5, atol=1e-6)


def test_what_several_results_were_computed_from_and_changed_is_refused():
    x = leaf(3.0, 1.0, 2.0)
    y = x * 1
    found = y.sort()[0]
    y, z = leaf(), leaf()
    product = y.exp() * z.exp()
    kept = product.sin()
    with torch.no_grad():
        product.mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        kept.backward(torch.ones(3))
    assert y.grad is None
    found.backward(torch.ones(3))  # of other memory
    assert torch.equal(x.grad, torch.ones(3))


def test_leaves_beside_the_chain_get_their_gradients():
    a, v, w = leaf(), leaf(2.0, 3.0), leaf(5.0)
    for _ in range(2):  # the second time they are added to what is there
        ((a + v[:, None]) * w).backward(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    np.testing.assert_array_equal(a.grad.numpy(), [50, 70, 90])
    np.testing.assert_array_equal(v.grad.numpy(), [60, 150])
    sums = a.detach().numpy() + v.detach().numpy()[:, None]
    np.testing.assert_allclose(w.grad.numpy(), [2 * (sums * [[1, 2, 3], [4, 5, 6]]).sum()], rtol=1e-6)


def test_a_leaf_beside_the_chain_and_at_its_end_gets_the_sum_at_once():
    x = leaf(1.0)
    x.grad = torch.tensor([2.0**24])
    (x + x * 1.0).backward(torch.ones(1))  # 2^24 + 1 is rounded down
    assert x.grad.item() == 2**24 + 2


@pytest.mark.parametrize("second", [False, True])
def test_hooks_of_leaves_beside_the_chain_run_in_the_order_of_any_graph(second: bool):
    a, b, c = leaf(), leaf(), leaf()
    seen = []
    for name, x in (("a", a), ("b", b), ("c", c)):
        x.register_hook(lambda g, name=name: seen.append(name))
    y = a + b * c
    if second:
        torch.autograd.backward([y, (y * 1.0).detach().requires_grad_()], [torch.ones(3)] * 2)  # no chain
        wanted = seen[:]
        seen.clear()
        (a + b * c).backward(torch.ones(3))
        assert seen == wanted
    else:
        y.backward(torch.ones(3))
        assert sorted(seen) == ["a", "b", "c"]
        assert seen[0] == "a"


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


def test_several_leaves_are_reached_without_looking_at_the_graph(monkeypatch: pytest.MonkeyPatch):
    x, w = leaf(), leaf(2.0, 3.0, 4.0)
    y = x
    for _ in range(3):
        y = y * w
    monkeypatch.setattr(engine, "discover", None)
    of_w, of_x, again = torch.autograd.grad(y.sum(), [w, x, w])
    np.testing.assert_allclose(of_x.numpy(), w.detach().numpy() ** 3)
    np.testing.assert_allclose(of_w.numpy(), 3 * x.detach().numpy() * w.detach().numpy() ** 2)
    assert torch.equal(of_w, again)
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="retain_graph"):
        torch.autograd.grad(y.exp().sum(), [x, w])


def test_a_branch_to_leaves_that_are_not_asked_for_is_not_freed():
    a, b, c = leaf(), leaf(), leaf()
    y = ((a * 2) * c + (b * b).exp().exp()).sum()  # the branch to b is newer, so that a pass ahead is there first
    of_a, of_c = torch.autograd.grad(y, [a, c])
    assert torch.equal(of_a, 2 * c)
    assert torch.equal(of_c, 2 * a)
    e = (b.detach() * b.detach()).exp()
    np.testing.assert_allclose(torch.autograd.grad(y, [b])[0].numpy(), (e.exp() * e * 2 * b.detach()).numpy(), rtol=1e-5)
    y = (a * 2 + b * b).sum()
    assert torch.autograd.grad(y, [a, c], allow_unused=True)[1] is None
    assert torch.equal(torch.autograd.grad(y, [b])[0], 2 * b)
