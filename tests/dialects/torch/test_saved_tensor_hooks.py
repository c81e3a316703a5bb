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


@pytest.mark.parametrize("second", [lambda x: x[:1].exp(), lambda x: x * 1], ids=["another shape", "less"])
def test_a_checkpoint_that_does_something_else_the_second_time(second):
    from retrograde.dialects.torch.utils.checkpoint import CheckpointError

    calls, x = [], torch.ones(2, requires_grad=True)

    def f(x):
        calls.append(1)
        return x.exp() if len(calls) == 1 else second(x)

    with pytest.raises(CheckpointError, match="again"):
        checkpoint(f, x, use_reentrant=False).sum().backward()
    with pytest.raises(ValueError, match="keyword"):
        checkpoint(f, x, use_reentrant=True, other=3)
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(f, x, use_reentrant=False, determinism_check="some")


def test_what_a_node_shows_of_what_it_saved():
    x = torch.ones(2, requires_grad=True)
    saved = lambda y: sorted(name for name in dir(y.grad_fn) if name.startswith("_saved_"))  # noqa: E731
    assert saved(x.sin()) == ["_saved_self"]
    assert saved(x.exp()) == ["_saved_result"]
    assert saved(x + 1) == []
    y = x * 1
    z = y**2
    assert z.grad_fn == z.grad_fn
    assert hash(z.grad_fn) == hash(z.grad_fn)
    assert z.grad_fn != y.grad_fn
    y.add_(1)
    with pytest.raises(RuntimeError, match="in place"):
        z.grad_fn._saved_self  # noqa: B018
    with torch.autograd.set_detect_anomaly(True):
        assert "test_saved" in "".join((x * 2).grad_fn.metadata["traceback_"])


def test_pack_hooks_see_the_tensor_that_is_saved_with_its_history():
    x, seen = torch.ones(2, requires_grad=True), []

    def pack(t):
        seen.append((t is x, t.requires_grad, None if t.grad_fn is None else t.grad_fn.name()))
        return (t * 3).detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t / 3):
        y = x.sin()
        y.cos().sum().backward()
    assert seen == [(True, True, None), (False, True, "SinBackward0")]
    assert torch.allclose(x.grad, -x.detach().sin().sin() * x.detach().cos())


def test_pack_hooks_see_what_a_function_saves_of_its_own_outputs():
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1]

    x, calls = torch.ones(2, requires_grad=True), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: calls.append("in") or t, lambda t: calls.append("out") or t):
        y = Exp.apply(x)
    y.sum().backward()
    assert calls == ["in", "in", "out", "out"]
    assert torch.equal(x.grad, y.detach())
