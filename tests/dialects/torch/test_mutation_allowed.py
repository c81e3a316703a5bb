"""`allow_mutation_on_saved_tensors`: what was saved stays as it was, whoever writes; figures from PyTorch 2.13."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks


def leaf(value=1.0, n=2):
    return torch.full((n,), value, requires_grad=True)


def test_saved_tensors_may_be_changed():
    with allow_mutation_on_saved_tensors():
        a = torch.arange(6.0).reshape(2, 3).requires_grad_()
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
        assert a.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
        p = leaf(0.5)
        h, total = p * 1, 0
        for _ in range(3):
            total = total + (h * h).sum()
            h.mul_(2)
        total.backward()
        assert p.grad.tolist() == [21, 21]
        v = leaf()
        e = v.exp()
        z = e.sum()
        e.mul_(3)
        (z + e.sum()).backward()
        assert torch.allclose(v.grad, torch.full((2,), 10.8731), atol=1e-4)



@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(1),
        lambda x: x.zero_(),
        lambda x: x.__setitem__(1, 7),
        lambda x: x.data.mul_(5),
        lambda x: x.view(1, 2)[:, 1:].fill_(9),
        lambda x: torch.add(torch.ones(2), 1, out=x),
        lambda x: x.normal_(),
        lambda x: x.copy_(torch.ones(2)),
    ],
)
def test_every_way_of_writing_is_seen(change):
    with allow_mutation_on_saved_tensors():
        x, p = torch.tensor([3.0, 4.0]), leaf()
        out = (x * p).sum()
        change(x)
        out.backward()
        assert p.grad.tolist() == [3, 4]
        mask, q = torch.tensor([True, False]), leaf()
        out = torch.where(mask, q * 2, q * 3).sum()
        mask.logical_not_()
        out.backward()
        assert q.grad.tolist() == [2, 3]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: (w * 4).sum().backward(),
        lambda w: torch.nn.utils.clip_grad_norm_([w], 1.0),
        lambda w: torch.nn.utils.clip_grad_value_([w], 1.0),
        lambda w: w.grad.zero_(),
    ],
)
def test_gradients_that_were_saved(change):
    w, p = leaf(), leaf()
    (w * 3).sum().backward()
    with allow_mutation_on_saved_tensors():
        out = (w.grad * p).sum()
        change(w)
        out.backward()
    assert p.grad.tolist() == [3, 3]


def test_rows_that_an_embedding_scales():
    table, p = torch.full((2, 2), 3.0), leaf()
    with allow_mutation_on_saved_tensors():
        out = (table * p).sum()
        torch.nn.functional.embedding(torch.tensor([0]), table, max_norm=1.0)
        out.backward()
    assert p.grad.tolist() == [6, 6]


def test_optimisers_double_backward_and_custom_functions():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    with allow_mutation_on_saved_tensors():
        w, x = leaf(1.0), leaf(3.0)
        opt = torch.optim.SGD([w], 0.5)
        loss = (w * x).sum()
        loss.backward(retain_graph=True)
        opt.step()
        assert w.tolist() == [-0.5, -0.5]
        x.grad = None
        loss.backward()
        assert x.grad.tolist() == [1, 1]
        p = leaf(0.5)
        h = p.clone()
        out = (h**3).sum()
        h.add_(1)
        (g,) = torch.autograd.grad(out, p, create_graph=True)
        g.sum().backward()
        assert p.grad.tolist() == [3, 3]
        p = leaf(1.0)
        c = p.clone()
        out = Square.apply(c).sum()
        c.mul_(9)
        out.backward()
        assert p.grad.tolist() == [2, 2]


def test_limits():
    with allow_mutation_on_saved_tensors() as context:
        a = leaf()
        out = (a.clone() ** 2).sum()
        assert type(context).__name__ == "_AllowMutationOnSavedContext"
        with pytest.raises(RuntimeError, match="nested"), allow_mutation_on_saved_tensors():
            pass
    with pytest.raises(AssertionError):
        out.backward()
    x = torch.ones(2)
    out = (leaf() * x).sum()
    x.add_(1)
    with pytest.raises(RuntimeError), allow_mutation_on_saved_tensors():
        out.backward()


def test_tensors_unpacked_by_hooks_keep_their_history():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    p = leaf(2.0)
    with saved_tensors_hooks(lambda x: x.numpy().copy(), lambda a: torch.from_numpy(a)):
        out = Cube.apply(p * 1).sum()
    (g,) = torch.autograd.grad(out, p, create_graph=True)
    assert torch.autograd.grad(g.sum(), p)[0].tolist() == [12, 12]
    for f in (Cube.apply, torch.exp):
        with saved_tensors_hooks(lambda x: x, lambda x: x.tolist()):
            out = f(p * 1)
        with pytest.raises(TypeError, match="unpack hook"):
            out.sum().backward()
