"""Gradients that are computed with the loss (compile/versions/foresight.py) are what they are when computed after it, and are
computed so only where passes have asked for them again and again."""

import gc
import sys
import weakref

import numpy as np
import pytest

import retrograde.dialects.torch as torch
from retrograde.compile import jit
from retrograde.compile.emit import history, shortcut
from retrograde.compile.versions import call
from retrograde.compile.versions.foresight import EARNED
from retrograde.core.node import FREED, Node, Slot

F = torch.nn.functional


def leaves(count=2, size=5, seed=0):
    draw = np.random.default_rng(seed)
    return [torch.tensor(draw.normal(size=size)).requires_grad_() for _ in range(count)]


def loss(x, w):
    return (torch.tanh(x * w) * torch.exp(x)).sum() + torch.softmax(x * w, 0)[0] * w[1]


def partly_recorded(x, w):
    with torch.no_grad():
        s = (x * w).exp()
    return (s * x * w).mean() + (x * w.detach()).sum()


def random(x, w):
    return (F.dropout(x * w, 0.5) * x).sum()


LOSSES = {
    "elements": loss, "parts without history": partly_recorded, "one operand unused": lambda x, w: (x * x).sum(),
    "a sum": lambda x, w: (x + w).sum(), "with another result": lambda x, w: (loss(x, w), x * 2), "drawn": random,
    "a product": lambda x, w: torch.outer(x, w).matmul(w).tanh().mean(), "an entry": lambda x, w: (x * w)[2],
}  # fmt: skip


def first(out):
    return out[0] if isinstance(out, tuple) else out


def gradients(f, xs, **options):
    torch.manual_seed(1)
    y = first(f(*xs))
    found = torch.autograd.grad(y, xs, allow_unused=True, **options)
    return [y.item(), *(None if g is None else g.tolist() for g in found)]


def earned(f, **options):
    """The function compiled, after the calls from which on it computes gradients with its result."""
    compiled = jit(f)
    for k in range(EARNED + 1):
        gradients(compiled, leaves(seed=k), **options)
    return compiled


def node_of(y):
    return getattr(y._node, "node", y._node)


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        assert (x is None) == (y is None)
        if x is not None:
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("make", [jit, torch.compile])
def test_they_are_those_of_a_pass(name, make):
    f = LOSSES[name]
    compiled = make(f)
    for k in range(EARNED + 6):
        xs = leaves(seed=k)
        close(gradients(compiled, xs), gradients(f, xs))


def test_the_backward_program_is_not_run_once_they_are_expected(monkeypatch):
    runs = []
    run = call.Program.run
    monkeypatch.setattr(call.Program, "run", lambda self, arrays: runs.append(self.name) or run(self, arrays))
    compiled, counts = jit(loss), []
    for k in range(EARNED + 3):
        gradients(compiled, leaves(seed=k))
        counts.append(len(runs))
        runs.clear()
    assert counts == [2] * EARNED + [0] * 3
    first(compiled(*leaves()))  # nobody asks for these
    for k in range(EARNED + 2):
        gradients(compiled, leaves(seed=k))
        counts.append(len(runs))
        runs.clear()
    assert counts[EARNED + 3 :] == [2] * EARNED + [0] * 2


def test_what_was_not_expected_is_computed_by_a_pass():
    compiled = earned(loss)
    for k, ask in enumerate([
        lambda f, xs: [g.tolist() for g in torch.autograd.grad(f(*xs) * 3, xs)],
        lambda f, xs: [g.tolist() for g in torch.autograd.grad(f(*xs), xs, torch.tensor(2.0, dtype=torch.float64))],
        lambda f, xs: [g.tolist() for g in torch.autograd.grad(f(*xs), xs[1:])],
        lambda f, xs: [g.tolist() for g in torch.autograd.grad(sum(
            (g * g).sum() for g in torch.autograd.grad(f(*xs), xs, create_graph=True)), xs)],
        lambda f, xs: torch.autograd.grad(f(xs[0], xs[1] * 2), xs)[1].tolist(),
    ]):  # fmt: skip
        xs = leaves(seed=k)
        close(ask(compiled, xs), ask(loss, xs))
        for again in range(EARNED + 1):
            gradients(compiled, leaves(seed=again))


def test_each_pass_gets_its_own():
    compiled, xs = earned(loss), leaves()
    expected = gradients(loss, xs)[1:]
    y = compiled(*xs)
    assert node_of(y).ready is not None
    passes = [torch.autograd.grad(y, xs, retain_graph=True) for _ in range(2)]
    for found in passes:
        close([g.tolist() for g in found], expected)
        for g in found:
            g.mul_(0)
    close([g.tolist() for g in torch.autograd.grad(y, xs)], expected)
    with pytest.raises(RuntimeError, match="freed"):
        torch.autograd.grad(y, xs)


def test_they_are_handed_out_for_whatever_is_asked_of_the_operands():
    compiled = earned(loss)
    for k, ask in enumerate([
        lambda f, xs: torch.autograd.grad(f(*xs), xs[::-1]),
        lambda f, xs: torch.autograd.grad(f(*xs), [*xs, xs[0]]),
        lambda f, xs: torch.autograd.grad(f(xs[0], xs[0]), xs[:1]),
        lambda f, xs: torch.autograd.grad(f(xs[0], xs[0]), (xs[0], xs[0])),
        lambda f, xs: torch.autograd.grad(f(*xs), (xs[0], torch.ones(1, requires_grad=True)), allow_unused=True)[:1],
        hooked,
    ]):
        xs, others = leaves(seed=k), leaves(seed=k)
        for _ in range(EARNED + 1):
            gradients(compiled, leaves(seed=k))
        close([g.tolist() for g in ask(compiled, xs)], [g.tolist() for g in ask(loss, others)])


def hooked(f, xs):
    xs[1].register_hook(lambda g: g * 2)
    return torch.autograd.grad(f(*xs), xs)


def test_an_operand_that_was_changed_since_is_refused():
    compiled, xs = earned(loss), leaves()
    y = compiled(*xs)
    assert node_of(y).ready is not None
    with torch.no_grad():
        xs[0].mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(y, xs)


def test_they_are_added_to_grad():
    def run(f, calls):
        xs = leaves()
        for _ in range(calls):
            f(*xs).backward()
        return [x.grad.tolist() for x in xs]

    close(run(jit(loss), EARNED + 4), run(loss, EARNED + 4))
    compiled = earned(loss)
    xs = leaves()
    total = compiled(*xs) + compiled(xs[1], xs[0])  # the first is not pulled back before the second is computed
    want = loss(*xs) + loss(xs[1], xs[0])
    close([g.tolist() for g in torch.autograd.grad(total, xs)], [g.tolist() for g in torch.autograd.grad(want, xs)])


def test_one_leaf_in_two_places_gets_the_sum():
    compiled = jit(lambda x, w: (x * w * w).sum())
    for k in range(EARNED + 3):
        (x,) = leaves(1, seed=k)
        (found,) = torch.autograd.grad(compiled(x, x), x)
        np.testing.assert_allclose(found.tolist(), (3 * x * x).tolist())


def test_what_was_written_in_between_is_refused():
    compiled, xs = earned(loss), leaves()
    y = compiled(*xs)
    with torch.no_grad():
        xs[0].mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(y, xs)


def test_hooks_see_them_and_change_them():
    compiled, (x, w) = earned(loss), leaves()
    expected = gradients(loss, (x, w))[1:]
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
    found = torch.autograd.grad(compiled(x, w), (x, w))
    close([seen[0], *(g.tolist() for g in found)], [expected[0], (2 * np.array(expected[0])).tolist(), expected[1]])


def test_parameters_from_outside_get_theirs():
    def run(compile_):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
        x, y = torch.randn(6, 3), torch.randn(6, 1)
        f = compile_(lambda x, y: F.mse_loss(net(x), y))
        for _ in range(EARNED + 5):
            optimiser.zero_grad()
            f(x, y).backward()
            optimiser.step()
        return [p.tolist() for p in net.parameters()]

    for found, expected in zip(run(torch.compile), run(lambda f: f), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_an_exception_of_the_derivative_is_the_passes(monkeypatch):
    compiled = jit(loss)
    for k in range(EARNED):
        gradients(compiled, leaves(seed=k))

    def failing(graph, what=None, **options):
        def run(*arrays):
            raise FloatingPointError("no")

        return run

    monkeypatch.setattr("retrograde.compile.versions.foresight.pipeline.compiled", failing)
    xs = leaves()
    for _ in range(2):
        close(gradients(compiled, xs), gradients(loss, xs))


def test_what_is_computed_again_has_the_history_that_it_had():
    """Points without a history are made leaves inside, for a derivative that is part of the loss: derivatives of every order to
    the weights, where layers are computed again in the backward code rather than kept."""
    points = torch.tensor(np.random.default_rng(0).normal(size=(6, 1)))

    def slope(y, x):
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

    def f(w1, w2):
        x = points.detach().requires_grad_()
        y = torch.tanh(torch.tanh(x @ w1) @ w2)
        return ((slope(y, x) + y.detach() * x) ** 2).mean() + (torch.exp(points @ w1) * slope(y, x)).mean()

    def orders(f):
        ws = [torch.linspace(-1, 1, n).double().reshape(-1, m).requires_grad_() for n, m in ((4, 4), (12, 3))]
        value = f(*ws)
        first = torch.autograd.grad(value, ws, create_graph=True)
        second = torch.autograd.grad(sum((g * g).sum() for g in first), ws)
        return [x.tolist() for x in (value, *first, *second)]

    compiled = torch.compile(f, fullgraph=True)
    for _ in range(2 * EARNED):
        ws = [torch.linspace(-1, 1, 4)[None].double().requires_grad_(), torch.ones(4, 3).double().requires_grad_()]
        close([g.tolist() for g in torch.autograd.grad(compiled(*ws), ws)], [g.tolist() for g in torch.autograd.grad(f(*ws), ws)])
    close(orders(compiled), orders(f))

    def without(w1, w2):  # and nothing is computed with a history that had none
        x = points.detach().requires_grad_()
        return ((slope(torch.tanh(torch.tanh(x @ w1) @ w2), x)) ** 2).mean()

    close(orders(torch.compile(without)), orders(without))


def several(x, w):
    """Results of which one has no history, in containers, and a tensor from outside."""
    y = x * w
    return [(y * OUTSIDE).sum(), (torch.exp(y), [x.detach() + 1])]


OUTSIDE = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], dtype=torch.float64)


@pytest.fixture(params=[True, False], ids=["machine code", "Python"])
def in_code(request, monkeypatch):
    """Whether calls are recorded, and gradients handed out, by machine code (compile/emit/history.py)."""
    if request.param and not shortcut.offered():
        pytest.skip("Python's objects are not read here")
    if not request.param:
        monkeypatch.setattr(history, "record", lambda *given: None)
        monkeypatch.setattr(history, "hand", lambda *given: None)
    return request.param


@pytest.mark.parametrize("f", [loss, lambda x, w: several(x, w)[0], several])
def test_a_call_leaves_the_same_on_the_tape_whoever_records_it(f, in_code):
    def tensors(found):
        return [found[0], found[1][0], found[1][1][0]] if f is several else [found]

    compiled = torch.compile(f, fullgraph=True)
    for k in range(EARNED + 9):
        xs = leaves(seed=k)
        found, expected = tensors(compiled(*xs)), tensors(f(*xs))
        inputs = tuple(xs) if k % 2 else xs
        if k > EARNED + 4:
            node = found[0]._node.node
            assert node.edges[:2] == (xs[0]._node, xs[1]._node)
            assert node.seq > xs[1]._node.seq
            assert node.ready is not None
        for y, want in zip(found, expected, strict=True):
            assert (type(y), y.requires_grad, y.shape, y._grad, y._level) == (type(want), want.requires_grad, want.shape, None, 0)
            close([y.tolist()], [want.tolist()])
            if y.requires_grad and k > EARNED + 4:
                assert (y._node.shape, y._node.dtype, y._node.node is node) == (y._a.shape, y._a.dtype, True)
        both = [torch.autograd.grad(tree[0], inputs) for tree in (found, expected)]
        close(*([g.tolist() for g in grads] for grads in both))
        if k > EARNED + 4:
            assert node.ready is None
            assert node.saved is FREED


def test_nothing_is_kept_of_calls_whoever_records_them(in_code):
    compiled = torch.compile(several)
    for _ in range(2):  # which run both ways
        compiled(*leaves())

    def call():
        xs = leaves()
        y = compiled(*xs)
        node = y[0]._node.node
        arrays = [*(x._a for x in xs), *(z._a for z in torch.autograd.grad(y[0], xs)), y[0]._a, y[1][0]._a]
        lent = compiled(*xs)  # of which nobody asks the gradient
        for _ in range(EARNED + 1):
            torch.autograd.grad(compiled(*xs)[0], xs)
        return [weakref.ref(x) for x in (node, lent[0]._node.node, *arrays)], node.prim

    for _ in range(4):
        references, prim = call()
    assert [r() for r in references] == [None] * len(references)
    shared = [prim, prim.forward._foresight, prim.forward._foresight._known, FREED, Slot, Node, torch.Tensor, several, OUTSIDE._a]
    gc.collect()  # what other tests have left refers to these, too
    before = list(map(sys.getrefcount, shared))
    for _ in range(3):
        call()
    gc.collect()
    assert list(map(sys.getrefcount, shared)) == before


def test_gradients_are_handed_out_by_machine_code_where_nothing_is_special():
    if not shortcut.offered():
        pytest.skip("Python's objects are not read here")
    compiled = earned(loss)

    def handed(ask, xs=None, keep=False):
        xs = xs or leaves()
        y = compiled(*xs)
        joint = y._node.node.ready[0]
        found = joint.hand(y, ask(xs), keep)
        assert (y._node.node.ready is None) == (found is not None)
        assert (y._node.node.saved is FREED) == (found is not None and not keep)
        for k in range(EARNED + 1):
            gradients(compiled, leaves(seed=k))
        return found

    for ask in (lambda xs: xs, tuple):
        for keep in (False, True):
            close([g.tolist() for g in handed(ask, keep=keep)], gradients(loss, leaves())[1:])
    for ask in (lambda xs: xs[:1], lambda xs: xs[::-1], lambda xs: [*xs, xs[0]], iter, lambda xs: [xs[0], None], lambda xs: None,
                lambda xs: [xs[0], torch.nn.Parameter(xs[1])], lambda xs: [xs[0], xs[1] * 1]):  # fmt: skip
        assert handed(ask) is None
    hooked = leaves()
    hooked[1].register_hook(lambda g: g)
    assert handed(lambda xs: xs, hooked) is None
    y = compiled(*(xs := leaves()))
    hand = y._node.node.ready[0].hand
    with torch.no_grad():
        assert hand(y, xs, False) is None
    assert hand(xs[0], xs, False) is None  # a leaf
    assert hand(torch.ones(2), xs, False) is None
    assert hand(y, xs) is None
    with torch.no_grad():
        xs[0].mul_(1)
    assert hand(y, xs, False) is None
