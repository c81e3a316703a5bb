"""Views of which the base is changed in place, and hooks on them; names of nodes that say so; as PyTorch 2.13 has it."""

import pytest

import retrograde.dialects.torch as torch


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


PARTS = {"split": lambda y: y.split(1), "unbind": lambda y: y.unbind(), "chunk": lambda y: y.chunk(2)}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_cannot_be_used_after_the_whole_was_changed(name):
    x = leaf(1.0, 2.0)
    y = x * 2
    a, b = PARTS[name](y)
    y.mul_(2)
    for use in (lambda: a + 1, lambda: torch.stack([a, b]), lambda: a.grad_fn, lambda: b.sum().backward()):
        with pytest.raises(RuntimeError, match="cannot be used any more"):
            use()
    assert a.detach().tolist() == a.tolist()
    assert "Invalid" in repr(b)
    with torch.no_grad():
        assert (a * 1).tolist() == ([4] if name != "unbind" else 4)
    y.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_a_slice_goes_on_after_the_whole_was_changed():
    x = leaf(1.0, 2.0)
    y = x * 2
    a = y[:1]
    y.mul_(2)
    a.sum().backward()
    assert x.grad.tolist() == [4, 0]


def test_no_gradient_is_asked_for_of_nothing():
    with pytest.raises(RuntimeError, match="empty"):
        torch.autograd.grad(leaf(1.0, 2.0).sum(), [])


def test_a_leaf_that_wants_no_gradient_any_more_gets_none():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    x.requires_grad_(False)
    y.backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_()
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_names_of_nodes():
    x = leaf(1.0, -2.0)
    (g,) = torch.autograd.grad((x.relu() ** 2).sum(), x, create_graph=True)
    assert g.grad_fn.name() == "ThresholdBackwardBackward0"
    (x**3).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    x.grad.sum().backward()
    assert x.grad.tolist() == [9, 0]
    filled = (x * 1).fill_(leaf(3.0)[0])
    assert filled.grad_fn.name() == "FillBackward3"
    weighted = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
    assert weighted.weight.grad_fn.name() == "WeightNormInterfaceBackward0"


def test_numbers_of_what_requires_grad_where_nothing_is_recorded():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 2]


def test_a_tensor_that_looks_at_a_storage():
    x = torch.arange(6.0)
    y = torch.empty(0).set_(x.storage(), 1, (2, 2), (2, 1))
    assert y.tolist() == [[1, 2], [3, 4]]
    y.zero_()
    assert x.tolist() == [0, 0, 0, 0, 0, 5]
    with pytest.raises(RuntimeError, match="reach past"):
        torch.empty(0).set_(x.storage(), 1, (2, 3), (3, 1))
