"""Functions whose arguments' sizes vary run from a bounded number of traces, and give for each size what they give without."""

import collections
import copy
import logging
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.backend.jit import llvm
from retrograde.compile import compile_report, pipeline, records
from retrograde.compile.trace import sizes
from retrograde.compile.versions.versions import KEPT

F = torch.nn.functional
nn = torch.nn
SIZES = (4, 7, 9, 16, 5, 33, 2)


def row():
    return compile_report().to_dict()["functions"][-1]


def numbers(shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def tensor(shape, seed=0):
    return torch.tensor(numbers(shape, seed, np.float32))


def arrays(out):
    """The arrays in what a function gives, and everything else as it is."""
    if isinstance(out, (tuple, list)) and not isinstance(out, torch.Size):
        return [a for y in out for a in arrays(y)]
    return [out.detach()._a] if isinstance(out, torch.Tensor) else [out._a] if hasattr(out, "_a") else [out]


def alike(got, wanted, rtol=1e-5):
    got, wanted = arrays(got), arrays(wanted)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert type(a) is type(b)
        if isinstance(a, np.ndarray):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
        else:
            assert a == b
            for x in a if isinstance(a, tuple) else (a,):
                assert type(x) in (int, float, bool, str, type(None))


# ------------------------------------------------------------------------------------------ programs

PROGRAMS = {
    "products": lambda x: torch.tanh(x @ x.transpose(-1, -2)).sum(0) / x.shape[0],
    "rows": lambda x: torch.softmax(x, -1).mean(0) + F.layer_norm(x, (3,)).sum(0),
    "columns": lambda x: torch.log_softmax(x, 0) * x.var(0, keepdim=True, unbiased=False),
    "reshape": lambda x: x.view(x.size(0) * 3).reshape(3, -1).t().reshape(-1, x.shape[0]),
    "flatten": lambda x: x.flatten().unsqueeze(0).expand(2, -1).sum(1),
    "slices": lambda x: x[: x.shape[0] // 2] * 2 - x[-(x.shape[0] // 2) :],
    "steps": lambda x: x[::2].sum() + x[1:].mean() + x[:-1].amax(0).sum(),
    "branch": lambda x: x * 2 if x.shape[0] > 8 else x + 1,
    "parity": lambda x: x.view(2, -1).sum(1) if x.shape[0] % 2 == 0 else x.sum(),
    "numbers": lambda x: (x.sum() / x.shape[0] ** 0.5, x * (1 / x.numel()), x.shape, x.size(0) * 2 + 1, 1 / x.shape[0]),
    "made": lambda x: x * torch.arange(x.shape[0])[:, None] + torch.zeros(x.shape[0], 3) + torch.full((x.shape[0], 1), 2.0),
    "eye": lambda x: (x @ x.t() * torch.eye(x.shape[0])).sum(),
    "like": lambda x: torch.where(x > 0, torch.ones_like(x), x.new_zeros(x.shape)).sum(1),
    "causal": lambda x: (x @ x.t()).masked_fill(torch.ones(x.shape[0], x.shape[0]).triu(1).bool(), -1.0) @ x,
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "joined": lambda x: torch.cat([x, x[:1], x * 2], 0).cumsum(0)[-1],
    "stacked": lambda x: torch.stack([x, x + 1], 1).flip(0).permute(1, 0, 2),
    "padded": lambda x: F.pad(x, (0, 0, 1, 2)).roll(1, 0),
    "written": lambda x: x.clone().index_fill_(1, torch.tensor([0]), 5.0).mul_(x),
    "gathered": lambda x: x[torch.arange(x.shape[0]), 0] + x.max(1)[0],
    "chosen": lambda x: F.cross_entropy(x, torch.arange(x.shape[0]) % 3),
    "sorted": lambda x: x.sort(0)[0].diff(dim=0).abs().sum(),
    "einsum": lambda x: torch.einsum("ik,jk->ij", x, x).diagonal(),
    "windows": lambda x: x.unfold(0, 2, 1).mean(-1),
}
FEW = {"written", "parity", "slices", "steps", "branch"}
"""Programs in which sizes decide something: a trace for each way."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_traced_for_all_sizes_at_once(name):
    program = PROGRAMS[name]
    compiled = torch.compile(program)
    for n in SIZES:
        x = tensor((n, 3), n)
        for _ in range(2):
            alike(compiled(x), program(x))
    assert row()["traced"] == row()["versions"] <= (4 if name in FEW else 3), row()
    assert row()["compiled_calls"] >= 2 * len(SIZES) - 2 - row()["traced"] - sizes.CONFIRMED, row()
    assert row()["reasons"] == [], row()


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_derivatives_from_inside_are_right_for_each_size(name):
    program = PROGRAMS[name]

    def total(x):
        out = program(x)
        return sum(y.sum() for y in (out if isinstance(out, tuple) and not isinstance(out, torch.Size) else (out,))
                   if isinstance(y, torch.Tensor))  # fmt: skip

    gradient = torch.func.grad_and_value(total)
    compiled = rg.jit(gradient)
    for n in (4, 7, 9, 1, 2):
        if n == 1 and name in ("windows", "steps"):  # of nothing
            continue
        x = tensor((n, 3), n)
        alike(compiled(x), gradient(x), 1e-4)


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"like"}))
def test_its_derivatives_from_outside_are_right_for_each_size(name):
    program = PROGRAMS[name]
    compiled = torch.compile(program)
    for n in (4, 7, 9, 33, 2):
        grads = []
        for f in (compiled, program):
            x = tensor((n, 3), n).requires_grad_()
            out = f(x)
            outs = [y for y in (out if isinstance(out, tuple) and not isinstance(out, torch.Size) else (out,))
                    if isinstance(y, torch.Tensor)]  # fmt: skip
            (g,) = torch.autograd.grad(sum((y * y).sum() for y in outs), [x], create_graph=True)
            (h,) = torch.autograd.grad((g * g).sum(), [x], allow_unused=True)
            grads.append((g, x if h is None else h))
        alike(*grads, 1e-3)
    assert row()["traced"] <= (6 if name in FEW else 4), row()


OPERATIONS = {
    "tanh": lambda x, n: rg.tanh(x),
    "scale": lambda x, n: x / n,
    "shift": lambda x, n: x + rg.arange(n)[:, None] / n,
    "mean": lambda x, n: x - rg.mean(x, axis=0, keepdims=True),
    "rows": lambda x, n: x / (1 + rg.sum(x * x, axis=1, keepdims=True)),
    "product": lambda x, n: (x @ rg.matrix_transpose(x)) @ x / n,
    "half": lambda x, n: rg.concat([x[n // 2 :], x[: n // 2]]),
    "back": lambda x, n: rg.flip(x, axis=0),
    "reshape": lambda x, n: rg.reshape(rg.reshape(x, (-1,)) * 2, (n, 3)),
    "branch": lambda x, n: x * 2 if n > 10 else x - 1,
    "odd": lambda x, n: x[: n - n % 2].repeat(1) if False else x * (1 + n % 2),
    "ones": lambda x, n: x + rg.ones((n, 1)) * rg.zeros((n, 3)),
    "least": lambda x, n: x[: min(n, 6)].sum() * x,
    "loop": lambda x, n: sum((x * k for k in range(min(n, 4))), x),
    "table": lambda x, n: x * {4: 2.0, 7: 3.0}.get(n, 1.0),
    "among": lambda x, n: -x if n in {5, 9, 12} else x,
    "text": lambda x, n: x * len(f"{n}"),
    "whole": lambda x, n: x * int(n) + [0.0, 1.0, 2.0][n % 3],
}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=1, max_size=4),
    st.lists(st.integers(0, 14), min_size=3, max_size=7),
)
def test_random_programs_over_random_sizes(names, several):
    def program(x):
        for name in names:
            x = OPERATIONS[name](x, x.shape[0])
        return rg.sum(x * x), x

    compiled, gradient = rg.jit(program), rg.grad(lambda x: program(x)[0])
    compiled_gradient = rg.jit(gradient)
    for n in several:
        x = rg.asarray(numbers((n, 3), n))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = program(x), gradient(x)
        except (ZeroDivisionError, ValueError) as problem:
            for f in (compiled, compiled_gradient):
                with pytest.raises(type(problem)):
                    f(x)
            continue
        alike((compiled(x), compiled_gradient(x)), wanted, 1e-9)
    for f in (compiled, compiled_gradient):
        assert all(len(family.versions) <= sizes.MOST for family in f._versions.families.values())


# ------------------------------------------------------------------------------------------ what a size decides


@pytest.mark.parametrize("asks", [
    lambda x: sum(x[i] * i for i in range(x.shape[0])),
    lambda x: x.sum() * int(x.shape[0]),
    lambda x: x.sum() * len([0] * x.shape[0]),
    lambda x: x.sum() * list(range(100))[x.shape[0]],
    lambda x: x.sum() * sum(list(range(100))[: x.shape[0]]),
    lambda x: x.sum() * {k: k + 1 for k in range(100)}[x.shape[0]],
    lambda x: x.sum() * float(f"{x.shape[0]}"),
    lambda x: x.sum() * float("%d" % x.shape[0]),  # noqa: UP031 - what is tried
    lambda x: x.sum() * (x.shape[0] ^ 5),
    lambda x: x.sum() * np.ones(7)[: x.shape[0]].sum(),
    lambda x: x.sum() * len(x),
    lambda x: x.sum() + torch.tensor([x.shape[0]]),
])  # fmt: skip
def test_what_asks_for_the_value_of_a_size_has_a_version_for_each(asks):
    compiled = torch.compile(asks)
    for n in (3, 4, 5, 6, 3, 5):
        x = tensor((n, 2), n)
        for _ in range(2):
            alike(compiled(x), asks(x))
    assert row()["traced"] == 4, row()
    (reason,) = row()["reasons"]
    assert reason.startswith("each size is a version of its own")
    assert __file__ in reason, reason


def test_a_decision_on_a_size_is_a_trace_for_each_outcome():
    asked = []

    def f(x):
        asked.append(1)
        return x.sum() if x.shape[0] > 10 else x.mean() if x.shape[0] > 5 else x

    compiled = rg.jit(f)
    for n in (3, 4, 20, 7, 8, 30, 2, 11, 10, 5, 6):
        x = rg.asarray(numbers((n,), n))
        alike(compiled(x), (x.sum() if n > 10 else x.mean() if n > 5 else x))
    assert len(asked) == 4  # the first size by itself, and each of the three ways


def test_what_comes_out_in_many_ways_is_traced_no_more_than_some_times():
    compiled = torch.compile(lambda x: x * sum(1 for bound in range(40) if x.shape[0] > 2 * bound))
    for n in range(2, 60):
        assert compiled(torch.ones(n)).tolist() == [(n + 1) // 2] * n
    assert row()["versions"] <= sizes.MOST + 32, row()
    assert any("in more than 8 ways" in reason for reason in row()["reasons"]), row()


def test_the_guards_of_sizes_are_said(caplog):
    caplog.set_level(logging.DEBUG, "retrograde.compile.guards")
    rg.jit(lambda x: x * 2 if x.shape[0] > 10 else x, dynamic=True)(rg.ones((4, 1)))
    assert "s0 is the size of axis 0 of array 0 of the arguments" in caplog.text
    assert "s0 > 10 is False" in caplog.text


def test_kinds_of_calls_are_counted_where_sizes_vary_at_once():
    compiled = torch.compile(lambda x, how: x * len(how), dynamic=True)
    for k in range(8):
        for n in (2, 3, 4):
            assert compiled(torch.ones(n), "x" * k).tolist() == [k] * n
    assert row()["traced"] == 8, row()
    with pytest.warns(UserWarning, match="8 kinds of calls"):
        compiled(torch.ones(2), "x" * 8)
    assert compiled(torch.ones(5), "x" * 9).tolist() == [9] * 5


def test_a_trace_that_fails_leaves_nothing_behind():
    x = torch.ones(3)
    hidden = collections.deque([x])
    for f in (lambda y: (hidden[0].add_(1), y + 1)[1], lambda y: (hidden[0].add_(y), y)[1]):
        with pytest.raises(rg.UnsupportedError, match="from outside"):
            rg.jit(f, dynamic=True)(torch.ones(3))
        assert x.tolist() == [1, 1, 1]


def test_a_size_is_no_key_of_what_is_remembered():
    """Functions that remember what they gave for sizes give numbers for numbers after a trace, and before."""

    def f(x):
        return F.max_pool1d(F.conv1d(F.layer_norm(x, (3,)).t()[None], torch.ones(2, 3, 2)), 2)

    compiled = torch.compile(f, dynamic=True)
    for n in (5, 6, 8, 5, 9):
        x = tensor((n, 3), n)
        for _ in range(2):
            alike(compiled(x), f(x))
            assert all(type(k) is int for k in f(x).shape)
    assert row()["traced"] <= 3, row()


def test_a_size_that_outlives_the_trace_is_refused():
    kept = []

    @rg.jit
    def f(x):
        kept.append(x.shape[0])
        return x * 2

    f(rg.ones(3))
    f(rg.ones(4))
    with pytest.raises(rg.LevelError, match="after the function had returned"):
        range(kept[-1])
    assert (kept[-1] == 4) is False
    assert "s0" in repr(kept[-1])


def test_numbers_and_sizes_go_together():
    rate = [0.5]

    @rg.jit
    def f(x, k):
        return x * (rate[0] / x.shape[0]) + k * x.shape[0], x.shape[0] * k

    for turn, n in enumerate((3, 4, 4, 5, 6, 3, 7, 8)):
        rate[0] = 0.5 + turn
        x = rg.asarray(numbers((n,), n))
        alike(f(x, turn), (x * (rate[0] / n) + turn * n, n * turn))


def test_numbers_that_vary_with_every_size_are_found_to():
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    @torch.compile
    def step(x, k):
        optimizer.zero_grad()
        loss = (net(x) * k).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    other = copy.deepcopy(net)
    for turn, n in enumerate(range(4, 16)):
        x = tensor((n, 3), n)
        optimizer.param_groups[0]["lr"] = rate = 0.1 / (turn + 1)
        got = step(x, turn / 10)
        wanted = (other(x) * (turn / 10)).square().mean()
        gradients = torch.autograd.grad(wanted, list(other.parameters()))
        with torch.no_grad():
            for p, g in zip(other.parameters(), gradients):
                p -= rate * g
        alike((got, *net.parameters()), (wanted, *other.parameters()), 1e-4)
    assert row()["traced"] <= 5, row()
    assert row()["compiled_calls"] >= 6, row()


def test_a_number_from_item_beside_a_size():
    @torch.compile
    def f(x):
        return x.sum().item() * x.size(0)

    for n in (3, 3, 4, 5, 6, 7):
        assert f(torch.ones(n)) == n * n
    assert row()["traced"] == 2, row()


def test_sizes_that_are_stored_are_those_of_the_call():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.last = 0, 0

        def forward(self, x):
            self.last = x.shape[0]
            self.seen += x.shape[0]
            return x.sum()

    counter = Counter()
    compiled = torch.compile(counter)
    total = 0
    for n in (3, 4, 5, 3, 6, 7, 8):
        compiled(torch.ones(n))
        total += n
        assert (counter.seen, counter.last, type(counter.seen), type(counter.last)) == (total, n, int, int)


# ------------------------------------------------------------------------------------------ how often, how fast


def test_many_sizes_make_few_traces_and_no_machine_code():
    traced = []

    @rg.jit
    def f(x, w):
        traced.append(1)
        return rg.sum(rg.tanh(x @ w), axis=0) / x.shape[0]

    w = rg.asarray(numbers((3, 4)))
    f(rg.ones((2, 3)), w)
    before = dict(llvm.MADE)
    for n in range(3, 203):
        x = rg.asarray(numbers((n, 3), n))
        np.testing.assert_allclose(f(x, w)._a, np.tanh(x._a @ w._a).sum(0) / n, rtol=1e-12, atol=1e-12)
    assert len(traced) == 2
    assert before == llvm.MADE
    assert len(f._versions) <= KEPT + 1


@pytest.fixture
def unkept(monkeypatch):
    """No program is found on disk, where an earlier run has left it."""
    monkeypatch.setattr(records, "_kept", lambda key, graph: None)


def test_sizes_that_come_often_become_machine_code_up_to_a_number(monkeypatch, unkept):
    if not llvm.available():
        pytest.skip("no llvmlite")
    monkeypatch.setattr(sizes, "MACHINE", 3)
    f = rg.jit(lambda x: rg.sum(rg.exp(x) * 2))
    f(rg.ones(3))
    for n in (5, 6, 7, 8, 9):
        x = rg.asarray(numbers((n,), n))
        for _ in range(pipeline.OFTEN + 3):
            np.testing.assert_allclose(f(x)._a, np.sum(np.exp(x._a) * 2), rtol=1e-12)
    made = [v for known in f._versions.values() for v in known if v.origin is not None]
    assert len(made) == 5
    assert sum(type(v.compiled) is not pipeline.Growing for v in made) == 3


def test_segments_of_deferred_functions_of_further_sizes_make_no_machine_code(capsys, unkept):
    @torch.compile
    def f(x):
        y = torch.tanh(x) * x.shape[0] + 1
        print(y.sum().item())
        return y * 2

    f(torch.ones(3))
    f(torch.ones(4))
    before = dict(llvm.MADE)
    for n in range(5, 40):
        x = tensor((n,), n)
        alike(f(x), (torch.tanh(x) * n + 1) * 2)
        assert float(capsys.readouterr().out.split()[-1]) == pytest.approx((torch.tanh(x) * n + 1).sum().item(), rel=1e-5)
    assert row()["segments"] > 70, row()
    assert before == llvm.MADE
    for _ in range(pipeline.OFTEN + 3):
        alike(f(x), (torch.tanh(x) * n + 1) * 2)
    if llvm.available():
        assert before != llvm.MADE


def test_dynamic_says_when_sizes_vary():
    for dynamic, count in ((True, 1), (None, 2), (False, 5)):
        traced = []

        def f(x, traced=traced):
            traced.append(1)
            return x * x.shape[0]

        compiled = rg.jit(f, dynamic=dynamic)
        for n in (3, 4, 5, 6, 7):
            np.testing.assert_array_equal(compiled(rg.ones((n, 2)))._a, np.full((n, 2), n))
        assert len(traced) == count
        compiled = torch.compile(lambda x: x * x.shape[1], dynamic=dynamic)
        for n in (3, 4, 5, 6, 7):
            assert compiled(torch.ones(2, n)).tolist() == [[n] * n] * 2
        assert row()["traced"] == count, row()


@pytest.mark.parametrize("how", ["eager", "numpy"])
def test_a_way_of_running_is_kept_to(monkeypatch, how):
    monkeypatch.setenv("RETROGRADE_COMPILE", how)
    f = rg.jit(lambda x: rg.mean(x) * 2)
    for n in (3, 4, 5):
        for _ in range(pipeline.OFTEN + 2):
            assert float(f(rg.ones(n))) == 2


def test_other_layouts_and_dtypes_are_other_traces():
    f = rg.jit(lambda x: rg.sum(x, axis=0) * x.shape[0])
    data = numbers((40, 4))
    for n in (3, 5, 8, 13):
        for x in (data[:n], data[:, :2][:n], np.asfortranarray(data[:n]), data[::2][:n], data[:n].astype(np.float32)):
            np.testing.assert_allclose(f(rg.asarray(x))._a, x.sum(0) * n, rtol=1e-5)


def test_sizes_on_several_axes_and_arguments():
    traced = []

    @rg.jit
    def f(x, y):
        traced.append(1)
        return (x @ y) / (x.shape[0] * y.shape[1] + x.shape[1]), x.shape + y.shape

    for a, b, c in ((2, 3, 4), (5, 3, 4), (5, 3, 6), (7, 8, 9), (4, 4, 4), (3, 5, 2), (6, 2, 2), (9, 9, 1), (1, 1, 1)):
        x, y = rg.asarray(numbers((a, b), a)), rg.asarray(numbers((b, c), c))
        alike(f(x, y), (rg.asarray((x._a @ y._a) / (a * c + b)), (a, b, b, c)), 1e-12)
    assert len(traced) <= 7


def test_arguments_of_one_size_may_come_in_two():
    f = rg.jit(lambda x, y: x + y)
    for n in (3, 4, 5):
        np.testing.assert_array_equal(f(rg.ones(n), rg.ones(n))._a, 2 * np.ones(n))
    np.testing.assert_array_equal(f(rg.ones(6), rg.ones(1))._a, 2 * np.ones(6))
    np.testing.assert_array_equal(f(rg.ones(1), rg.ones(6))._a, 2 * np.ones(6))
    with pytest.raises(ValueError):
        f(rg.ones(6), rg.ones(7))
    np.testing.assert_array_equal(f(rg.ones(8), rg.ones(8))._a, 2 * np.ones(8))


def test_a_tensor_from_outside_of_the_size_of_the_arguments_holds_for_that_size():
    outside = torch.ones(4, 3)
    compiled = torch.compile(lambda x: x + outside)
    alike(compiled(torch.ones(4, 3)), torch.ones(4, 3) * 2)
    alike(compiled(torch.ones(1, 3)), torch.ones(4, 3) * 2)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            compiled(torch.ones(5, 3))
    alike(compiled(torch.ones(4, 3)), torch.ones(4, 3) * 2)


def test_vmap_and_jvp_around_and_inside():
    f = rg.jit(lambda x: rg.sum(rg.sin(x) * x.shape[0]))
    inside = rg.jit(lambda x: rg.vmap(lambda row: rg.sum(rg.cos(row)) / row.shape[0])(x))
    for n in (3, 4, 5, 6):
        x = rg.asarray(numbers((2, n), n))
        np.testing.assert_allclose(rg.vmap(f)(x)._a, (np.sin(x._a) * n).sum(1), rtol=1e-12)
        _, push = rg.jvp(f, (x,), (rg.ones((2, n)),))
        np.testing.assert_allclose(push._a, (np.cos(x._a) * 2).sum(), rtol=1e-12)
        np.testing.assert_allclose(rg.hessian(f)(x[0])._a, np.diag(-np.sin(x._a[0]) * n), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(inside(x)._a, np.cos(x._a).mean(1), rtol=1e-12)


# ------------------------------------------------------------------------------------------ networks


def training(make, loss, batches, how, rate=0.01):
    """The losses, and what is left, of training with batches: as it is, as a compiled step, or with a compiled network."""
    torch.manual_seed(0)
    net = make()
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    model = torch.compile(net) if how == "network" else net

    def step(*batch):
        optimizer.zero_grad()
        value = loss(model, *batch)
        value.backward()
        optimizer.step()
        return value.detach()

    step = torch.compile(step) if how == "step" else step
    torch.manual_seed(1)
    losses = [step(*batch).item() for batch in batches]
    return losses, {k: v._a for k, v in net.state_dict().items()}


NETWORKS = {
    "mlp": lambda: nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 2)),
    "norm": lambda: nn.Sequential(nn.Linear(3, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 2)),
    "convolutions": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(4, 2)
    ),
}


@pytest.mark.parametrize("how", ["step", "network"])
@pytest.mark.parametrize("name", NETWORKS)
def test_training_with_a_last_smaller_batch_and_others(name, how):
    ns = (8, 8, 8, 5, 8, 8, 5, 3, 8, 6, 2, 7, 8, 5)
    batches = [(tensor((n, 3), k), tensor((n, 2), k + 99)) for k, n in enumerate(ns)]
    loss = lambda net, x, y: F.mse_loss(net(x), y)  # noqa: E731
    losses, state = training(NETWORKS[name], loss, batches, how)
    traced = row()
    wanted, left = training(NETWORKS[name], loss, batches, "as it is")
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    for key in left:
        np.testing.assert_allclose(state[key], left[key], rtol=1e-3, atol=1e-4)
    assert traced["traced"] <= 4, traced
    assert traced["compiled_calls"] >= 7, traced


def test_a_transformer_over_sentences_of_varying_lengths():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    compiled = torch.compile(layer)
    for length in (3, 5, 4, 9, 7, 2, 11, 6, 8):
        x = tensor((2, length, 8), length)
        grads = []
        for f in (compiled, layer):
            layer.zero_grad()
            out = f(x)
            (out * tensor(out.shape, 5)).sum().backward()
            grads.append([out, *(p.grad for p in layer.parameters())])
        alike(*grads, 1e-3)
    assert row()["versions"] <= 6, row()


def test_a_recurrent_network_over_sequences_of_varying_lengths():
    torch.manual_seed(0)
    net = nn.LSTM(3, 4, batch_first=True)
    compiled = torch.compile(lambda x: net(x)[0].mean(1))
    with torch.no_grad():
        for length in (3, 5, 4, 9, 7, 2, 11):
            x = tensor((2, length, 3), length)
            alike(compiled(x), net(x)[0].mean(1))
    assert row()["traced"] == 2, row()
    compiled = torch.compile(lambda x: net(x)[0].mean(1))  # its derivative is a step for each element: for each length its own
    for length in (3, 5, 4, 3):
        grads = []
        for f in (compiled, lambda x: net(x)[0].mean(1)):
            net.zero_grad()
            f(tensor((2, length, 3), length)).sum().backward()
            grads.append([p.grad for p in net.parameters()])
        alike(*grads, 1e-4)
    (reason,) = row()["reasons"]
    assert reason.startswith("each size is a version of its own: its value is asked for"), reason
    assert "<retrograde" not in reason


def test_padding_masks():
    def pooled(x, lengths):
        mask = torch.arange(x.shape[1])[None, :] < lengths[:, None]
        scores = (x @ x.transpose(1, 2)).masked_fill(~mask[:, None, :], float("-inf"))
        return (torch.softmax(scores, -1) @ x * mask.unsqueeze(-1)).sum(1) / lengths[:, None]

    compiled = torch.compile(pooled)
    for length in (4, 6, 5, 9, 2, 12):
        for k in range(2):
            x, lengths = tensor((3, length, 2), length + k), torch.tensor([length, 1, max(1, length // 2)])
            alike(compiled(x, lengths), pooled(x, lengths))
    assert row()["traced"] <= 3, row()


def test_copies_of_compiled_modules_keep_their_own():
    net = torch.compile(nn.Linear(3, 2), dynamic=True)
    other = copy.deepcopy(net)
    with torch.no_grad():
        other.weight.mul_(2)
        for n in (2, 3, 4):
            x = tensor((n, 3), n)
            alike(net(x), net._orig_mod(x))
            alike(other(x), other._orig_mod(x))


def test_the_other_dialects():
    def paddled(x):
        rows = paddle.arange(x.shape[0]).astype("float32").unsqueeze(1)
        return paddle.reshape(x * rows + paddle.ones([x.shape[0], 1]), [-1]) / x.shape[0]

    static = paddle.jit.to_static(paddled)
    for n in (3, 4, 5, 6):
        np.testing.assert_allclose(static(paddle.ones([n, 2])).numpy(), np.repeat(np.arange(n) + 1, 2) / n, rtol=1e-6)
    assert row()["traced"] == 2, row()
    layer = paddle.jit.to_static(paddle.nn.Linear(2, 3), input_spec=[paddle.static.InputSpec([None, 2])])
    for n in (3, 4, 5, 6):  # the first one happens to be that of the weight, too
        assert layer(paddle.ones([n, 2])).shape == [n, 3]
    assert row()["traced"] == 2, row()

    def minded(x):
        rows = mindspore.ops.arange(x.shape[0]).astype(mindspore.float32).expand_dims(1)
        return (x * rows + mindspore.ops.zeros((x.shape[0], 1), mindspore.float32)).sum() / x.size

    jitted = mindspore.jit(minded, dynamic=1)
    for n in (3, 4, 5, 6):
        np.testing.assert_allclose(jitted(mindspore.ops.ones((n, 2))).asnumpy(), (n - 1) / 2, rtol=1e-6)
    assert row()["traced"] == 1, row()
