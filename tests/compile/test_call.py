"""Compiled functions under transforms and on tensors that want gradients give what the functions give, to every order."""

import threading

import numpy as np
import pytest
from test_trace import numbers, same, tensor

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import jit
from retrograde.compile.versions.call import Program

F = torch.nn.functional

# ------------------------------------------------------------------------------------------ transforms


def waves(x):
    return rg.sum(rg.tanh(2 * x + 1) * rg.exp(-(x**2)) + rg.sin(x))


def mixed(x):
    table = rg.asarray([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
    y = rg.cumulative_sum(rg.matmul(table, x * x))
    return rg.max(y) * rg.sum(rg.concat([y, x])) + rg.sum(x[1:] ** 3)


def with_gradient(x):
    return rg.sum(rg.grad(waves)(x) * x)


TRANSFORMS = {
    "grad": lambda f, x: rg.grad(f)(x),
    "grad of grad": lambda f, x: rg.grad(lambda y: rg.sum(rg.grad(f)(y) ** 2))(x),
    "third order": lambda f, x: rg.grad(lambda z: rg.sum(z * rg.grad(lambda y: rg.sum(rg.grad(f)(y) ** 2))(z)))(x),
    "jvp": lambda f, x: rg.jvp(f, (x,), (x + 1,)),
    "jvp of jvp": lambda f, x: rg.jvp(lambda y: rg.jvp(f, (y,), (y * y,))[1], (x,), (x,)),
    "vmap": lambda f, x: rg.vmap(f)(rg.stack([x, 2 * x])),
    "vmap, last axis": lambda f, x: rg.vmap(f, in_axes=1)(rg.stack([x, 2 * x], axis=1)),
    "vmap of vmap": lambda f, x: rg.vmap(rg.vmap(f))(rg.stack([rg.stack([x, 2 * x])] * 3)),
    "vmap of grad": lambda f, x: rg.vmap(rg.grad(f))(rg.stack([x, 2 * x])),
    "grad of vmap": lambda f, x: rg.grad(lambda y: rg.sum(rg.vmap(f)(rg.stack([y, 2 * y])) ** 2))(x),
    "jvp of grad": lambda f, x: rg.jvp(rg.grad(f), (x,), (x,)),
    "grad of jvp": lambda f, x: rg.grad(lambda y: rg.jvp(f, (y,), (y,))[1])(x),
    "jacrev": lambda f, x: rg.jacrev(lambda y: f(y) * y)(x),
    "jacfwd": lambda f, x: rg.jacfwd(lambda y: f(y) * y)(x),
    "hessian": lambda f, x: rg.hessian(f)(x),
    "pullback under vmap": lambda f, x: rg.vmap(rg.vjp(f, x)[1])(rg.asarray([1.0, 3.0])),
    "one operand of two": lambda f, x: rg.grad(lambda a: rg.grad(lambda b: f(x * b * a))(0.5) * a)(2.0),
    "compiled again": lambda f, x: jit(rg.grad(f))(x),
    "compiled gradient's gradient": lambda f, x: rg.grad(lambda y: rg.sum(jit(rg.grad(f))(y)))(x),
}


def flat(out):
    return [y._a for y in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("f", [waves, mixed, with_gradient])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_compiled_function_is_transformed_as_the_function_is(name, f):
    compiled, x = jit(f), rg.asarray(numbers(3).astype(float) / 2)
    want = flat(TRANSFORMS[name](f, x))
    for _ in range(2):
        same(flat(TRANSFORMS[name](compiled, x)), want, 1e-9)


def test_perturbations_are_not_confused():
    times = jit(lambda a, b: a * b)
    assert rg.grad(lambda x: x * rg.grad(lambda y: times(x, y))(1.0))(3.0).item() == 6
    assert rg.grad(lambda x: x * rg.jvp(lambda y: times(x, y), (rg.asarray(1.0),), (rg.asarray(1.0),))[1])(3.0).item() == 6
    assert rg.jvp(lambda x: x * rg.grad(lambda y: times(x, y))(1.0), (rg.asarray(3.0),), (rg.asarray(1.0),))[1].item() == 6


def test_what_a_transform_holds_may_be_read_from_outside():
    def outer(compile):
        return rg.grad(lambda x: rg.grad(compile(lambda y: y * y * x))(2.0) * x)(3.0)

    assert outer(jit).item() == outer(lambda f: f).item() == 24


def test_what_is_detached_is_detached_at_every_level():
    def f(x):
        return (x * x.detach() * x).sum()

    x = torch.tensor([2.0, 3.0])
    g = torch.func.grad(lambda y: torch.func.grad(jit(f))(y).sum())(x)
    same([g._a], [torch.func.grad(lambda y: torch.func.grad(f)(y).sum())(x)._a])


def test_draws_differ_where_they_are_to_differ():
    x = torch.zeros(4, 3)
    out = torch.vmap(jit(lambda row: row + torch.rand(3)), randomness="different")(x)
    assert len({tuple(row) for row in out.tolist()}) == 4


# ------------------------------------------------------------------------------------------ the tape


def gradients(f, *xs):
    """The gradients of first, second and third order, by backward passes that are recorded."""
    y = f(*xs)
    found = [[y]]
    for order in range(3):
        total = sum((g * g).sum() for g in found[-1])
        found.append(torch.autograd.grad(total, xs, create_graph=order < 2, allow_unused=True, materialize_grads=True))
    return [g.detach()._a for gs in found for g in gs]


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 4 * g * x**2  # not 3


def partly_unrecorded(x, w):
    with torch.no_grad():
        s = (x * w).exp()
    return s * x * w


def written(x, w):
    y = x * w
    y[1:] *= w[1:]
    y.mul_(x)
    return y


TAPED = {
    "elementwise": lambda x, w: torch.tanh(x * w) * torch.exp(x) + torch.sin(w) / x,
    "products": lambda x, w: F.softmax(torch.outer(x, w) @ w, 0) * x,
    "detached": lambda x, w: torch.exp(x) * x + x * x.detach() * w,
    "partly unrecorded": partly_unrecorded,
    "a function of the user's": lambda x, w: Cube.apply(x * w) * x,
    "written in place": written,
    "checkpointed": lambda x, w: torch.utils.checkpoint.checkpoint(lambda y: torch.sin(y * w) * y, x, use_reentrant=False) * x,
    "one operand unused": lambda x, w: x * x,
    "an operand itself": lambda x, w: x,
    "a gradient of its own": lambda x, w: torch.autograd.grad((x**3 * w).sum(), x, create_graph=True)[0] * w,
}


@pytest.mark.parametrize("name", TAPED)
def test_tensors_that_want_gradients_get_them_to_every_order(name):
    f = TAPED[name]
    compiled = jit(f)
    for seed in range(2):
        xs = [(torch.tensor(numbers(3, seed + k).astype(float)) / 3).requires_grad_() for k in range(2)]
        same(gradients(compiled, *xs), gradients(f, *xs), 1e-8)


def test_parameters_from_outside_get_their_gradients():
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    compiled, twin = jit(lambda x: net(x)), torch.nn.Sequential(*[type(m)(*a) for m, a in zip(
        net, [(3, 4), (4,), (), (4, 2)], strict=True)])  # fmt: skip
    twin.load_state_dict(net.state_dict())
    for module, f in ((net, compiled), (twin, twin)):
        optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
        for seed in range(3):
            optimiser.zero_grad()
            (f(tensor((5, 3), seed)) ** 2).mean().backward()
            optimiser.step()
    same([x._a for x in net.state_dict().values()], [x._a for x in twin.state_dict().values()], 1e-5)


def test_draws_inside_are_pulled_back_as_they_were_drawn():
    def results(f):
        torch.manual_seed(3)
        x = torch.ones(8, requires_grad=True)
        y = f(x)
        y.sum().backward()
        return y, x.grad

    def f(x):
        return F.dropout(x, 0.5) * x

    for got, want in zip(results(jit(f)), results(f), strict=True):
        assert got.tolist() == want.tolist()


def test_the_forward_runs_once_and_the_backward_once_a_pull(monkeypatch):
    runs = []
    run = Program.run
    monkeypatch.setattr(Program, "run", lambda self, arrays: runs.append(self.name) or run(self, arrays))

    def f(x):
        return torch.sin(x) * x

    f.__name__ = "f"
    compiled = jit(f)
    for _ in range(2):
        x = torch.ones(3, requires_grad=True)
        y = compiled(x)
        y.sum().backward(retain_graph=True)
        assert runs == ["jit of f", "jit of f, backwards"]
        y.sum().backward()
        assert runs == ["jit of f", "jit of f, backwards", "jit of f, backwards"]
        del runs[:]
    rg.grad(rg.grad(jit(lambda x: rg.sin(x) * x)))(1.0)
    assert len(runs) == 3  # the function, its backward pass, and that one's, with the function's on what it keeps
    assert len(compiled._versions) == 1


def test_what_is_kept_is_freed_and_watched_as_elsewhere():
    compiled = jit(lambda x: torch.tanh(x) * 2)
    x = torch.ones(3, requires_grad=True)
    y = compiled(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.sum().backward()
    product, w = jit(lambda x, w: x * w), torch.ones(3)
    y = product(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.sum().backward()
    total = jit(lambda x, w: x + w)(x, w)
    w.add_(1)  # a sum keeps nothing
    total.sum().backward()


def test_a_result_without_history_has_none():
    first, second, third = jit(lambda x: ((x * 2).detach(), x * 3, x > 0))(torch.ones(3, requires_grad=True))
    assert [y.requires_grad for y in (first, second, third)] == [False, True, False]
    with torch.no_grad():
        assert not jit(lambda x: x * 3)(torch.ones(3, requires_grad=True)).requires_grad


def test_an_argument_that_is_written_has_the_history_of_what_is_written():
    def f(x, w):
        x.mul_(w)
        return x.sum()

    found = []
    for g in (jit(f), f):
        w = torch.ones(3, requires_grad=True)
        x = w * 2
        g(x, w)
        x.sum().backward()
        found.append((x.tolist(), w.grad.tolist()))
    assert found[0] == found[1] == ([2, 2, 2], [4, 4, 4])


def test_what_was_computed_is_no_leaf_inside():
    seen = []

    def f(x):
        seen.append((x.is_leaf, x.requires_grad))
        return x * 2

    x = torch.ones(3, requires_grad=True) * 3
    jit(f)(x).sum().backward()
    with torch.no_grad():
        jit(f)(x)
    assert seen == [(False, True)] * 2


def test_threads_call_one_compiled_function():
    compiled, found = jit(lambda x, w: torch.tanh(x * w) * x), []

    def work(k):
        for _ in range(5):
            x, w = (torch.full((k,), 0.5, requires_grad=True) for _ in range(2))
            compiled(x, w).sum().backward()
            found.append((x.grad.tolist(), w.grad.tolist()))

    threads = [threading.Thread(target=work, args=(3,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 20
    assert all(g == found[0] for g in found)


def test_what_is_kept_may_be_packed_or_computed_again():
    calls, f = [], jit(lambda x, w: torch.tanh(x * w) * x)
    x, w = (torch.tensor([0.3, 0.5], requires_grad=True) for _ in range(2))
    want = torch.autograd.grad(f(x, w).sum(), (x, w))
    for fresh in (f, jit(lambda x, w: torch.tanh(x * w) * x)):
        y = torch.utils.checkpoint.checkpoint(lambda *xs, f=fresh: calls.append(1) or f(*xs), x, w, use_reentrant=False)
        assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, w))] == [g.tolist() for g in want]
    assert len(calls) == 4
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        y = f(x, w)
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, w), create_graph=True)] == [g.tolist() for g in want]


def test_hooks_of_leaves_are_called_once():
    seen = []
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda g: seen.append(g.tolist()))
    jit(lambda x: x * 2)(x).sum().backward()
    assert seen == [[2, 2, 2]]


def test_elements_are_computed_again_rather_than_kept():
    compiled = jit(lambda x: torch.sigmoid(x * x + torch.exp(x * x)))
    x = torch.ones(1000, requires_grad=True)
    compiled(x)
    kept = next(iter(compiled._versions.values()))[0].forward
    assert len(kept.residuals) == 1


def test_small_operands_are_copied_rather_than_large_results_kept():
    def f(x, w, b):
        return ((torch.sin(x) * w + b) ** 3).sum(1)

    xs = [tensor((128, 64), 0), tensor((64,), 1), tensor((64,), 2)]
    kept = []
    for g in (jit(f), f):
        leaves = [x.clone().requires_grad_() for x in xs]
        y = g(*leaves)
        with torch.no_grad():
            leaves[2].add_(1)  # an operand that a sum does not keep
        first = torch.autograd.grad((y * y).sum(), leaves, create_graph=True)
        second = torch.autograd.grad(sum((z * z).sum() for z in first), leaves)
        kept.append([z.detach()._a for z in (*first, *second)])
        if g is not f:
            residuals = next(iter(g._versions.values()))[0].forward.residuals
            assert sorted(v.size for v in residuals) == [64, 64, 128 * 64]
    for found, expected in zip(*kept, strict=True):
        same([found / np.max(np.abs(expected))], [expected / np.max(np.abs(expected))], 1e-5)
