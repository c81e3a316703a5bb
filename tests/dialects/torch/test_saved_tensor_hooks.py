"""Saved-tensor hooks: what they see, also in a second derivative, and contexts that nobody ends; as PyTorch 2.13 has it."""

import contextlib
import weakref

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.autograd.graph import saved_tensors_hooks
from retrograde.dialects.torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop


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


def test_a_pack_hook_does_not_change_what_it_packs():
    x = torch.ones(3, requires_grad=True)
    with saved_tensors_hooks(lambda x: x.add_(1), lambda x: x), pytest.raises(RuntimeError, match="in place"):
        x.exp()


def test_hooks_on_one_saved_tensor():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x * 2, lambda x: x)
    with pytest.raises(RuntimeError, match="already"):
        y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)
    y.sum().backward()
    assert torch.allclose(x.grad, 2 * y.detach())
    assert (x * x).grad_fn._saved_self is x


def test_a_checkpoint_stops_when_it_has_what_it_needs():
    calls = []

    def f(x):
        calls.append("begun")
        y = x.sin()
        calls.append("ended")
        return y

    x = torch.ones(1, requires_grad=True)
    for early, again in ((None, ["begun"]), (False, ["begun", "ended"])):
        with contextlib.nullcontext() if early is None else set_checkpoint_early_stop(early):
            y = checkpoint(f, x, use_reentrant=False)
        calls.clear()
        y.backward()
        assert calls == again
    assert torch.allclose(x.grad, 2 * x.detach().cos())
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(torch.sin, x)


def test_helpers_of_checkpoints():
    from retrograde.dialects.torch.utils import checkpoint as helpers

    x = torch.ones(2, requires_grad=True)
    y, other = helpers.detach_variable((x * 2, "a"))
    assert (y.is_leaf, y.requires_grad, other) == (True, True, "a")
    with pytest.warns(UserWarning, match="no gradients"):
        helpers.check_backward_validity([torch.ones(1)])
    helpers.set_device_states(*helpers.get_device_states(x))
    with helpers.set_checkpoint_debug_enabled(True):
        checkpoint(torch.sin, x, use_reentrant=False, context_fn=helpers.noop_context_fn).sum().backward()
    assert torch.allclose(x.grad, x.detach().cos())
    with pytest.raises(NotImplementedError, match="by operation"):
        helpers.create_selective_checkpoint_contexts([])
