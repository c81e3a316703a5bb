"""Every error path of grad and backward: the exception, and that graph, `.grad` and grad mode are as they were."""

from __future__ import annotations

import numpy as np
import pytest

import retrograde.dialects.torch as torch


def leaf(*numbers: float):
    return torch.tensor(list(numbers), requires_grad=True)


def ones(*shape: int):
    return torch.ones(*shape)


class Unchanged:
    """The graph can still be used, no gradient has been accumulated, and recording is on."""

    def __init__(self):
        self.x = leaf(1.0, 2.0)
        self.y = self.x * self.x * self.x

    def check(self):
        assert self.x.grad is None
        assert torch.is_grad_enabled()
        self.y.backward(ones(2))
        np.testing.assert_array_equal(self.x.grad.numpy(), [3.0, 12.0])


def bad_calls(s: Unchanged):
    other = leaf(1.0, 2.0)
    plain = torch.tensor([1.0, 2.0])
    grad, backward = torch.autograd.grad, torch.autograd.backward
    return {
        "no implicit gradient": (RuntimeError, lambda: grad(s.y, s.x)),
        "no implicit gradient, backward": (RuntimeError, lambda: s.y.backward()),
        "wrong shape": (RuntimeError, lambda: grad(s.y, s.x, ones(3))),
        "wrong shape, backward": (RuntimeError, lambda: s.y.backward(ones(2, 1))),
        "wrong kind": (RuntimeError, lambda: grad(s.y, s.x, torch.ones(2, dtype=torch.complex64))),
        "gradient no tensor": (TypeError, lambda: grad(s.y, s.x, [1.0])),
        "too many gradients": (RuntimeError, lambda: grad(s.y, s.x, [ones(2), ones(2)])),
        "too few gradients": (RuntimeError, lambda: backward([s.y, s.y], [ones(2)])),
        "unused input": (RuntimeError, lambda: grad(s.y, [s.x, other], ones(2), retain_graph=True)),
        "input without grad": (RuntimeError, lambda: grad(s.y, plain, ones(2))),
        "input no tensor": (TypeError, lambda: grad(s.y, [3.0], ones(2))),
        "output no tensor": (TypeError, lambda: grad(3.0, s.x)),
        "output without history": (RuntimeError, lambda: grad(plain, s.x, ones(2))),
        "backward without history": (RuntimeError, lambda: plain.backward(ones(2))),
        "empty inputs": (RuntimeError, lambda: s.y.backward(ones(2), inputs=[])),
        "materialize and disallow": (ValueError, lambda: grad(s.y, s.x, ones(2), allow_unused=False, materialize_grads=True)),
        "batched without gradient": (RuntimeError, lambda: grad(s.y, s.x, is_grads_batched=True)),
        "backward input without grad": (RuntimeError, lambda: s.y.backward(ones(2), inputs=[plain])),
    }  # fmt: skip


@pytest.mark.parametrize("name", bad_calls(Unchanged()))
def test_bad_arguments_change_nothing(name):
    s = Unchanged()
    kind, call = bad_calls(s)[name]
    retained = name == "unused input"
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind, "the very type that PyTorch raises"
    assert len(str(caught.value)) > 20
    if not retained:
        s.check()


def test_a_freed_graph_is_refused_before_anything_accumulates():
    x, z = leaf(2.0), leaf(3.0)
    shared = x * x
    shared.backward(ones(1))
    x.grad = None
    y = z * z + shared  # the part over z is fresh, the part over x is freed
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward(ones(1))
    assert x.grad is None
    assert z.grad is None
    assert torch.is_grad_enabled()


def test_a_changed_value_is_refused_before_anything_accumulates():
    x, z = leaf(2.0), leaf(3.0)
    a = x * 1.0
    y = a * a + z * z
    with torch.no_grad():
        a += 1
    with pytest.raises(RuntimeError, match="changed in place"):
        y.backward(ones(1))
    assert x.grad is None
    assert z.grad is None


def test_an_error_in_a_hook_restores_the_grad_mode():
    x = leaf(2.0)
    y = x * x

    def hook(g):
        raise KeyError("the user's own error")

    y.register_hook(hook)
    with pytest.raises(KeyError):
        y.backward(ones(1))
    assert torch.is_grad_enabled()
    with torch.no_grad():
        with pytest.raises(KeyError):
            (x * x).backward(ones(1)) if False else y.backward(ones(1))
        assert not torch.is_grad_enabled()


@pytest.mark.parametrize("result,kind", [(3.0, TypeError), (torch.ones(2), RuntimeError)])
def test_what_a_hook_returns_is_checked(result, kind):
    x = leaf(2.0)
    x.register_hook(lambda g: result)
    with pytest.raises(kind):
        (x * x).backward(ones(1))
    assert x.grad is None


@pytest.mark.parametrize("write", [
    lambda x: x.mul_(2.0),
    lambda x: x.add_(1.0),
    lambda x: x.__imul__(2.0),
])  # fmt: skip
def test_a_refused_in_place_change_changes_nothing(write):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf"):
        write(x)
    np.testing.assert_array_equal(x.detach().numpy(), [1.0, 2.0])
    assert x.is_leaf
    assert x._version == 0


def test_an_in_place_change_of_the_wrong_shape_or_kind_changes_nothing():
    x = torch.tensor([1, 2])
    with pytest.raises(RuntimeError):
        x.add_(1.5)
    y = torch.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError):
        y.add_(torch.ones(3, 2))
    assert x.numpy().tolist() == [1, 2]
    assert y.numpy().tolist() == [1.0, 2.0]


def test_a_leaked_value_says_where_it_came_from():
    kept = []

    def f(x):
        kept.append(x)
        return x * x

    torch.func.vmap(f)(torch.ones(2))  # what reverse mode leaves behind is a constant in PyTorch, and here
    with pytest.raises(RuntimeError, match="vmap"):
        kept[0] * 2.0
