"""What holds when something goes wrong, or user code interferes, in the middle of a pass or of a change in place."""

from __future__ import annotations

import signal
import threading

import ml_dtypes
import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde._state import Observer, is_grad_enabled, observe, state
from retrograde.core.level import Level
from retrograde.ops import structural
from retrograde.tape import engine


def leaf(*numbers: float):
    return torch.tensor(list(numbers), requires_grad=True)


# ------------------------------------------------------------------------------------------ saved values


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("retain_graph", [False, True])
def test_a_value_that_a_hook_overwrites_is_refused_when_its_operation_is_pulled(create_graph, retain_graph):
    x = leaf(2.0)
    y = x * x
    z = y * y
    out = z * 1.0

    def overwrite(g):
        with torch.no_grad():
            y.fill_(100.0)

    out.register_hook(overwrite)
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(out, x, retain_graph=retain_graph, create_graph=create_graph)
    assert torch.is_grad_enabled()


def test_a_value_that_a_hook_overwrites_is_refused_in_a_batched_pass():
    x = leaf(2.0, 3.0)
    y = x * x
    z = y * y
    def overwrite(g):
        with torch.no_grad():
            y.zero_()

    z.register_hook(overwrite)
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(z, x, torch.ones(1, 2), is_grads_batched=True)


def test_what_a_hook_writes_elsewhere_is_no_obstacle():
    x = leaf(2.0)
    seen = torch.zeros(1)
    z = (x * x) * x
    z.register_hook(lambda g: None if seen.copy_(g.detach()) is seen else g)
    z.backward()
    assert x.grad.item() == 12.0
    assert seen.item() == 1.0


# ------------------------------------------------------------------------------------------ errors on the way


def test_an_error_while_a_pass_begins_leaves_recording_on():
    class Broken(Observer):
        def pass_begins(self, *what):
            raise ZeroDivisionError

    x = leaf(2.0)
    y = x * x
    with pytest.raises(ZeroDivisionError), observe(Broken()):
        y.backward()
    assert is_grad_enabled()
    assert state.run is None
    assert (x * x).requires_grad


def test_memory_is_written_only_when_the_new_history_is_there(monkeypatch):
    base = leaf(1.0, 2.0, 3.0) * 1.0
    part, other = base[:2], base[1:]
    before = (base._node, part._node, other._node)

    def fails(*operands, **params):
        raise MemoryError

    monkeypatch.setattr("retrograde.tape.inplace.record", fails)
    with pytest.raises(MemoryError):
        part.mul_(10.0)
    assert base.tolist() == [1.0, 2.0, 3.0]
    assert (base._node, part._node, other._node) == before
    assert base._version == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this platform")
def test_an_interrupt_in_a_pass_leaves_recording_on():
    x = leaf(*np.linspace(0, 1, 5))
    y = x
    for _ in range(60):
        y = y * x
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        interrupted = 0
        for i in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 1e-6 * i)
                engine.run([y._node], [np.ones(5, np.float32)], cls=torch.Tensor, retain_graph=True)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert is_grad_enabled()
            assert state.run is None
        assert interrupted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("make", [torch.no_grad, torch.inference_mode, lambda: Level("a test", tape=True).open()])
def test_what_was_entered_and_never_left_is_left_when_it_goes(make):
    """As where an interrupt comes at the first instruction of `__exit__`."""
    entered = make()
    entered.__enter__()
    inside = torch.no_grad()
    inside.__enter__()
    del entered, inside
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    assert state.levels == ()
    assert state.tape is None
    with torch.no_grad():
        outer = torch.enable_grad()
        outer.__enter__()
    del outer  # the one around it has been left already
    assert torch.is_grad_enabled()
    assert state.entered == []


@pytest.mark.parametrize("error", [IndexError, OverflowError])
def test_what_a_kernel_raises_names_the_operation(monkeypatch, error):
    def fails(*operands, **params):
        raise error("the words of a library")

    from retrograde.core.specialise import swap_kernel

    kernel = structural.reshape.prim.numpy_kernel
    swap_kernel(structural.reshape.prim, fails)
    try:
        with pytest.raises(error, match=r"reshape\(float32\[2\].*: the words"):
            leaf(1.0, 2.0).reshape(2, 1)
    finally:
        swap_kernel(structural.reshape.prim, kernel)


def test_anomaly_mode_sees_nan_in_bfloat16():
    x = rg.asarray(np.array([0.0], ml_dtypes.bfloat16), requires_grad=True)
    y = rg.sqrt(x) * 0.0
    state.anomaly = True
    try:
        with pytest.raises(rg.GradError, match="gave nan"):
            y.backward()
    finally:
        state.anomaly = False


# ------------------------------------------------------------------------------------------ threads


def test_an_observer_sees_its_own_thread_only():
    names: list[str] = []

    class Watch(Observer):
        def operation(self, prim, operands, params, results, node):
            names.append(prim.name)

        def pass_begins(self, *what):
            names.append("pass")

    def elsewhere():
        x = leaf(1.0)
        (x.exp() * 2.0).sum().backward()

    with observe(Watch()):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        leaf(1.0).sin()
    assert names == ["sin"]


def test_a_level_in_another_thread_is_said_to_be_open_there():
    found: list[str] = []

    def f(x):
        def use():
            try:
                x * 2.0
            except rg.LevelError as error:
                found.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        return rg.sum(x * x)

    rg.grad(f)(rg.asarray([1.0]))
    assert "in another thread" in found[0]


# ------------------------------------------------------------------------------------------ `.grad` has memory of its own


def test_a_gradient_with_history_has_memory_of_its_own():
    for loss in (lambda x: x.sum(), lambda x: x.mean() * 4, lambda x: (x * 1.0).sum()):
        x = leaf(1.0, 2.0, 3.0, 4.0)
        loss(x).backward(create_graph=True)
        assert x.grad.stride() == (1,)
        (x * x / 2).sum().backward()
        assert x.grad.tolist() == [2.0, 3.0, 4.0, 5.0]
        torch.optim.SGD([x], 0.1).zero_grad(set_to_none=False)
        assert x.grad.tolist() == [0.0] * 4


def test_a_gradient_argument_is_not_what_grad_holds():
    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    x.backward(g, create_graph=True)
    g[0] = 9.0
    assert x.grad.tolist() == [1.0, 1.0]
    x = leaf(1.0, 2.0)
    x.backward(torch.ones(1).expand(2), create_graph=True)
    x.backward(torch.tensor([1.0, 2.0]))
    assert x.grad.tolist() == [2.0, 3.0]


def test_inputs_and_retained_gradients_have_memory_of_their_own():
    x = leaf(1.0, 2.0)
    x.sum().backward(inputs=[x], create_graph=True)
    (x * x).sum().backward(inputs=[x])
    assert x.grad.tolist() == [3.0, 5.0]
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.sum().backward(create_graph=True)
    (y * y).sum().backward()
    assert y.grad.tolist() == [5.0, 9.0]


def test_an_expanded_tensor_as_grad_is_not_added_to():
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="share memory"):
        (x * x).sum().backward()


def test_the_native_gradient_has_memory_of_its_own():
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    rg.sum(x).backward(create_graph=True)
    rg.sum(x * x).backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_a_plain_pass_adds_in_place_to_a_gradient_with_history():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward(create_graph=True)
    held = x.grad
    (x * x).sum().backward()
    assert x.grad is held
    assert held.requires_grad
    assert held.tolist() == [4.0, 8.0]
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward(create_graph=True)
    (x * x).backward()
    assert x.grad.requires_grad
