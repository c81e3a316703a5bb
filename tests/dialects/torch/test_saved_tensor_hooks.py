"""Saved-tensor hooks: what they see, also in a second derivative, and contexts that nobody ends; as PyTorch 2.13 has it."""

import weakref

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.autograd.graph import saved_tensors_hooks


def double_derivative():
    a = torch.ones(1, requires_grad=True)
    (g,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
    g.sum().backward()
    return a.grad.item()


def test_hooks_around_a_double_backward_see_tensors_and_no_numbers():
    seen = []
    with saved_tensors_hooks(lambda x: seen.append(x) or x, lambda x: x):
        (torch.ones(5, requires_grad=True) * 3).sum()
    assert seen == []
    with saved_tensors_hooks(lambda x: 2 * x, lambda x: x):
        assert double_derivative() == 48
    assert double_derivative() == 6


def test_a_context_that_a_hook_begins_ends_with_the_pass():
    def unpack(x):
        reference().__enter__()
        return x

    context = saved_tensors_hooks(lambda x: x, unpack)
    reference = weakref.ref(context)
    with context:
        torch.ones(3, requires_grad=True).sin().sum().backward()
    del context, unpack
    x = torch.ones(1, requires_grad=True)
    x.sin().sum().backward()
    assert x.grad is not None
