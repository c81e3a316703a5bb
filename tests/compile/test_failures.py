"""Errors in compiled code: they name the user's line, have the type that they have without, and leave everything as it was."""

import inspect

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.compile import jit, pipeline


def cholesky(x):
    y = x * 2
    return torch.linalg.cholesky(y) + 1  # here


def inverse(x):
    return torch.linalg.inv(x - x) * 2  # here


def gathered(x):
    i = (x[:, :1] * 0 + 7).long()
    return torch.gather(x, 0, i) + 1  # here


def indexed(x):
    i = (x[0] * 0 + 7).long()
    return x[i] * 2  # here


def looked_up(x):
    i = (x[0] * 0 - 9).long()
    return torch.nn.functional.embedding(i, x)  # here


PROGRAMS = [cholesky, inverse, gathered, indexed, looked_up]


def line_of(f):
    lines, first = inspect.getsourcelines(f)
    return f"test_failures.py:{first + next(i for i, line in enumerate(lines) if '# here' in line)}"


@pytest.mark.parametrize("how", pipeline.EMITTERS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_an_error_names_the_line_and_has_its_type(monkeypatch, f, how):
    monkeypatch.setenv("RETROGRADE_COMPILE", how)
    x = -torch.eye(3)
    with pytest.raises(Exception) as eager:
        f(x)
    compiled = jit(f)
    for _ in range(2):
        with pytest.raises(eager.type) as found:
            compiled(x)
        assert found.type is eager.type
        (note,) = found.value.__notes__
        assert line_of(f) in note


def test_the_line_of_a_gradient_is_that_of_its_operation():
    def f(x):
        return rg.sum(rg.linalg.inv(x))  # here

    with pytest.raises(np.linalg.LinAlgError) as found:
        jit(rg.grad(f))(np.zeros((2, 2)))
    assert line_of(f) in found.value.__notes__[0]


@pytest.mark.parametrize("dialect", ["paddle", "mindspore"])
def test_every_dialect_raises_its_own(dialect):
    module = {"paddle": paddle, "mindspore": mindspore}[dialect]
    x = paddle.to_tensor(np.zeros((2, 2), np.float32)) if dialect == "paddle" else mindspore.Tensor(np.zeros((2, 2), np.float32))
    inverse = module.linalg.inv if dialect == "paddle" else module.ops.inverse
    with pytest.raises(Exception) as eager:
        inverse(x)
    with pytest.raises(eager.type):
        jit(lambda x: inverse(x) * 2)(x)


# ------------------------------------------------------------------------------------------ what is left as it was


class Training:
    """A step of training that draws numbers, counts statistics and updates parameters, and fails where a matrix is none."""

    def __init__(self):
        torch.manual_seed(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 3, bias=False), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5))
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=0.1)
        self.total = torch.zeros(3)

    def step(self, x, matrix):
        self.optimiser.zero_grad()
        self.total.add_(x.sum(0))
        x.mul_(1.5)
        loss = self.net(x).square().sum()
        loss.backward()
        self.optimiser.step()
        return loss.detach() + torch.linalg.cholesky(matrix).sum()


def everything(training, x):
    parameters = list(training.net.parameters())
    moments = [t for s in training.optimiser.state.values() for t in s.values() if isinstance(t, torch.Tensor)]
    tensors = [x, training.total, *parameters, *training.net.buffers(), *moments]
    tensors += [p.grad for p in parameters if p.grad is not None]
    objects = [id(p.grad) for p in parameters]
    return [np.asarray(t._a).tobytes() for t in tensors], objects, torch.get_rng_state()._a.tobytes()


GOOD, BAD = torch.eye(3), -torch.eye(3)


@pytest.mark.parametrize("how", ["jit", "torch.compile"])
@pytest.mark.parametrize(("emitter", "warm"), [("llvm", 0), ("llvm", 1), ("llvm", 4), ("numpy", 1), ("eager", 1)])
def test_a_step_that_fails_leaves_everything_as_it_was(monkeypatch, how, warm, emitter):
    monkeypatch.setenv("RETROGRADE_COMPILE", emitter)
    training, x = Training(), torch.ones(4, 3)
    with torch.no_grad():
        x += torch.arange(12.0).reshape(4, 3).sin()
    training.step(x, GOOD)  # the optimiser has its state
    compiled = (jit if how == "jit" else torch.compile)(training.step)
    for _ in range(warm):
        compiled(x, GOOD)
    before = everything(training, x)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="positive definite"):
            compiled(x, BAD)
        after = everything(training, x)
        if how == "jit" or warm:
            assert after == before
    if how == "jit" or warm:  # and it goes on as if nothing had been
        other, y = Training(), torch.ones(4, 3)
        with torch.no_grad():
            y += torch.arange(12.0).reshape(4, 3).sin()
        for _ in range(warm + 1):
            other.step(y, GOOD)
        state = torch.get_rng_state()
        found = compiled(x, GOOD)
        torch.set_rng_state(state)
        np.testing.assert_allclose(found._a, other.step(y, GOOD)._a, rtol=1e-4)


def test_a_gradient_that_fails_outside_leaves_what_has_none_without():
    w = torch.ones(2, 2, requires_grad=True)
    compiled = torch.compile(lambda x: torch.linalg.inv(w * x).sum())
    for _ in range(4):
        compiled(torch.eye(2)).backward()
    before = w.grad.clone()
    with pytest.raises(RuntimeError):
        compiled(torch.zeros(2, 2)).backward()
    assert w.grad.tolist() == before.tolist()
    compiled(torch.eye(2)).backward()


def test_an_exception_that_the_function_expects_is_caught():
    def safe(x):
        try:
            return torch.linalg.cholesky(x)
        except RuntimeError:
            return torch.zeros_like(x)

    compiled = torch.compile(safe)
    for _ in range(4):
        compiled(GOOD)
    assert compiled(BAD).tolist() == np.zeros((3, 3)).tolist()
    assert compiled(4 * GOOD).tolist() == (2 * np.eye(3)).tolist()


@pytest.mark.parametrize("how", [jit, torch.compile])
@pytest.mark.parametrize("warm", [1, 2, 5])
def test_numbers_that_are_stored_are_left_as_they_were(how, warm):
    class Counter:
        def __init__(self):
            self.seen, self.rate = 0, 1.0

    counter = Counter()

    def f(x):
        counter.seen += 1
        counter.rate *= 0.5
        return torch.linalg.cholesky(x) * counter.rate

    compiled = how(f)
    for _ in range(warm):
        compiled(GOOD)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="positive definite"):
            compiled(BAD)
        assert (counter.seen, counter.rate) == (warm, 0.5**warm)
    assert compiled(GOOD)[0, 0].item() == 0.5 ** (warm + 1)
    assert counter.seen == warm + 1
