"""Whole training steps run from one trace, and leave what they leave without."""

import copy

import numpy as np
import pytest

import retrograde.dialects.torch as torch
from retrograde.compile import compile_report
from retrograde.dialects.torch._stream import KIND, Stream
from retrograde.ops.random import draw
from retrograde.tape import mutation

nn = torch.nn


def steps(norm_type, bound, rate, compiled):
    """The losses of eight steps with dropout and clipped gradients, the parameters after them, and the next random number."""
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1), nn.Dropout(0.1))
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate)
    x, y = torch.randn(16, 5), torch.randn(16, 1)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), bound, norm_type)
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    losses = [step().item() for _ in range(8)]
    return losses, copy.deepcopy(net.state_dict()), torch.rand(1).item()


@pytest.mark.parametrize(("norm_type", "bound"), [(2.0, 0.05), (2.0, 100.0), (float("inf"), 0.01), (1.0, 0.1)])
def test_a_step_with_dropout_and_clipped_gradients_runs_from_its_trace(norm_type, bound):
    losses, state, following = steps(norm_type, bound, 0.01, compiled=False)
    got, left, drawn = steps(norm_type, bound, 0.01, compiled=True)
    np.testing.assert_allclose(got, losses, rtol=1e-5)
    for name, value in state.items():
        np.testing.assert_allclose(left[name].numpy(), value.numpy(), rtol=1e-4, atol=1e-6)
    assert drawn == following
    assert compile_report().to_dict()["functions"][-1]["compiled_calls"] >= 4


def test_draws_from_one_state_are_the_same_however_often_and_whatever_was_drawn_after_it():
    begin = Stream(5)
    begin.bernoulli(7, 0.5)
    state = begin.get_state()
    options = {"stream": KIND.name, "method": "bernoulli", "shape": (9,), "dtype": np.dtype(np.float32),
               "arguments": (("shape", (9,)), ("p", 0.5), ("dtype", np.dtype(np.float32)))}  # fmt: skip
    first, after = draw(state, **options)
    second, last = draw(after, **options)
    third, _ = draw(last, **options)
    for _ in range(2):
        again, state_again = draw(state, **options)
        np.testing.assert_array_equal(again, first)
        np.testing.assert_array_equal(state_again, after)
        np.testing.assert_array_equal(draw(after, **options)[0], second)
        np.testing.assert_array_equal(draw(last, **options)[0], third)
    live = Stream(5)
    live.bernoulli(7, 0.5)
    np.testing.assert_array_equal(np.concatenate([live.bernoulli(9, 0.5) for _ in range(3)]), [*first, *second, *third])


@pytest.mark.filterwarnings("error")
def test_a_gradient_that_is_nothing_but_rounding_does_not_speak_against_a_trace():
    """The bias before a normalisation has no gradient but rounding, of which Adam makes whole steps."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    x = torch.randn(64, 8)
    y = (x[:, :2] ** 2).sum(1, keepdim=True)

    @torch.compile
    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        return loss

    losses = [step().item() for _ in range(12)]
    assert losses[-1] < losses[0]
    assert compile_report().to_dict()["functions"][-1]["compiled_calls"] >= 8


def test_what_a_step_writes_is_exchanged_only_where_nobody_else_holds_it(monkeypatch):
    torch.manual_seed(0)
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(4, 64)

    @torch.compile
    def step():
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(4):
        step()
    held = net.weight._a
    address, version = held.ctypes.data, net.weight._version
    view, shared = net.weight.detach()[1], net.weight.detach().numpy()
    before = view.clone()
    step()
    assert net.weight._a is held  # a view, NumPy's array and this test look at it
    assert net.weight._a.ctypes.data == address
    assert not torch.equal(view, before)
    assert np.array_equal(shared, net.weight._a)
    assert np.array_equal(view._a, net.weight._a[1])
    assert net.weight._version == version + 1
    saved = net.weight * net.weight  # a node that keeps it notices the change
    del held, view, shared
    step()
    with pytest.raises(RuntimeError, match="changed in place"):
        saved.sum().backward()
    del saved
    exchanged, found = mutation.exchanged, []
    monkeypatch.setattr(mutation, "exchanged", lambda value, array: found.append(exchanged(value, array)) or found[-1])
    version = net.weight._version
    step()
    assert found == [True] * 2  # the weight and its momentum
    assert net.weight._version == version + 1
