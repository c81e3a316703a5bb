"""Functions under `torch.compile` do what they do without, whatever that is; and the report says how they were run."""

import math

import numpy as np
import pytest
import test_trace as programs
from test_trace import bits, numbers, same, tensor

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import compile_report
from retrograde.compile.versions import deferred

F = torch.nn.functional


def results(out):
    return [y._a for y in (out if isinstance(out, tuple) else (out,))]


def row():
    return compile_report().to_dict()["functions"][-1]


def run_deferred(f, *args):
    leaves = [x for x in args if isinstance(x, torch.Tensor)]
    return deferred.run("f", [f], leaves, lambda: f(*args))[0]


@pytest.mark.parametrize("name", programs.PROGRAMS)
@pytest.mark.parametrize("how", ["compiled", "deferred"])
def test_a_program_gives_what_it_gives_without(name, how):
    program, *shapes = programs.PROGRAMS[name]
    compiled = torch.compile(program) if how == "compiled" else lambda *args: run_deferred(program, *args)
    for seed in range(4):
        given = [tensor(shape, seed + i) for i, shape in enumerate(shapes)]
        got = results(compiled(*given))
        assert all(type(a) is np.ndarray for a in got)
        same(got, results(program(*given)))
    if how == "compiled":
        assert row()["calls"] == 4
        assert row()["compiled_calls"] == 2, row()


@pytest.mark.parametrize("optimiser", ["SGD", "Adam", "RMSprop"])
@pytest.mark.parametrize("how", ["compiled", "deferred"])
def test_a_step_of_training_is_compiled(optimiser, how):
    step, state = programs.training(optimiser)
    eager, wanted = programs.training(optimiser)
    compiled = torch.compile(step) if how == "compiled" else lambda *args: run_deferred(step, *args)
    losses = []
    for program in (compiled, eager):
        torch.manual_seed(3)
        losses.append([program(torch.tensor(numbers((4, 3), seed)))._a for seed in range(5)])
    same(*losses, 1e-4)
    same([x._a for x in state], [x._a for x in wanted], 1e-4)
    assert all(type(x._a) is np.ndarray for x in state)
    if how == "compiled":
        assert row()["compiled_calls"] == 3, row()


def test_a_loss_whose_gradient_is_taken_outside():
    nets = [torch.nn.Linear(3, 2) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    compiled = torch.compile(lambda x: (nets[0](x) ** 2).sum())
    for seed in range(4):
        x = tensor((4, 3), seed)
        compiled(x).backward()
        (nets[1](x) ** 2).sum().backward()
    same([p.grad._a for p in nets[0].parameters()], [p.grad._a for p in nets[1].parameters()])


# ------------------------------------------------------------------------------------------ effects and branches


def test_what_is_printed_is_printed_at_every_call(capsys):
    @torch.compile
    def f(x):
        y = x * 2
        print(y.sum().item())
        return y + 1

    for k in range(4):
        assert f(torch.full((2,), float(k))).tolist() == [2 * k + 1] * 2
    assert capsys.readouterr().out == "0.0\n4.0\n8.0\n12.0\n"
    assert row()["compiled_calls"] == 0
    assert "print" in row()["reasons"][0]
    assert row()["segments"] >= 8


def test_the_report_says_why_first_calls_ran_as_they_are():
    @torch.compile
    def inner(x):
        return x * 2

    for n in (2, 3):
        assert inner(torch.ones(n)).tolist() == [2.0] * n
    (reason,) = row()["reasons"]
    assert "first" in reason
    outer = torch.compile(lambda x: inner(x) + 1)
    for _ in range(4):
        outer(torch.ones(2))
    assert compile_report().to_dict()["functions"][-2]["reasons"] == []  # they run from a trace, as part of the other's


def test_a_branch_on_a_value_goes_either_way():
    @torch.compile
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    for k in (1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0):
        assert f(torch.full((2,), k)).tolist() == ([2 * k] * 2 if k > 0 else [k - 1] * 2)
    assert (row()["traced"], row()["compiled_calls"], row()["segments"]) == (2, 3, 0), row()


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.seen, self.layer = 0, [], torch.nn.Linear(2, 2)

    def forward(self, x):
        self.calls += 1
        self.seen.append(x.shape)
        self.last = self.layer(x)
        return self.last


def test_attributes_that_are_stored_are_stored_at_every_call():
    net = Counting()
    compiled = torch.compile(net)
    with torch.no_grad():
        for k in range(4):
            x = tensor((k + 1, 2))
            out = compiled(x)
            assert net.calls == k + 1 == len(net.seen)
            assert out is net.last
            same([net.last._a], [net.layer(x)._a])


def test_a_number_that_is_only_returned_needs_no_value():
    @torch.compile
    def f(x):
        y = x * 2
        return y, (y.sum().item(), [y[0].item()])

    for k in range(4):
        assert f(torch.full((2,), float(k)))[1] == (4 * k, [2 * k])
    assert row()["compiled_calls"] == 2


def test_a_number_that_is_computed_with_is_right():
    def f(x):
        n = x.sum().item()
        return x * n, math.sqrt(n), f"{n:.2f}", n > 1, [n, max(n, 1.0)], x + torch.tensor(n)

    compiled = torch.compile(f)
    for k in range(4):
        x = torch.full((2,), float(k))
        for got, want in zip(compiled(x), f(x), strict=True):
            assert got.tolist() == want.tolist() if isinstance(want, torch.Tensor) else got == want
    for g in (lambda x: math.sqrt(x.sum().item()), lambda x: (x * x.sum().item()).tolist()):
        compiled = torch.compile(g)
        for k in range(1, 5):
            assert compiled(torch.full((1,), float(k))) == g(torch.full((1,), float(k)))


def test_an_exception_leaves_what_happened_before_it():
    w = torch.zeros(2)

    @torch.compile
    def f(x):
        w.add_(x)
        if x.sum().item() > 2:
            raise ValueError("too large")
        return w * 1

    assert f(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(ValueError, match="too large"):
        f(torch.full((2,), 2.0))
    assert w.tolist() == [3, 3]


def test_numbers_that_come_from_values_are_right_when_they_are_used_again():
    def f(x):
        scale = x.abs().max().item()
        y = x / scale
        y[0] = float(y.sum())
        return y, torch.tensor(scale)

    for seed in range(3):
        x = tensor(5, seed)
        same(results(run_deferred(f, x)), results(f(x)))


# ------------------------------------------------------------------------------------------ memory that is shared


def shared_by_detach(x):
    y = x * 1
    z = y.detach()
    z.add_(1)
    return y * 2, z


def shared_by_data(x):
    y = x * 1
    y.data[0] = 7
    return y.view(-1)[:2] * 2


def views_of_shared(x):
    y = (x * 1).view(3)
    z = y[1:].detach()
    z.mul_(10)
    y[1] += 1
    return y, z


SHARING = [shared_by_detach, shared_by_data, views_of_shared]


@pytest.mark.parametrize("f", SHARING)
@pytest.mark.parametrize("how", ["jit", "compiled", "deferred"])
def test_memory_that_is_shared_is_seen_through_both(f, how):
    compiled = {"jit": rg.jit, "compiled": torch.compile, "deferred": lambda f: lambda x: run_deferred(f, x)}[how](f)
    for seed in range(4):
        x = tensor(3, seed)
        same(results(compiled(x)), results(f(x)))


def test_parameters_that_are_written_through_data():
    nets = [torch.nn.Linear(3, 2) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())

    def step(net):
        def f(x):
            for p in net.parameters():
                p.grad = None
            loss = (net(x) ** 2).sum()
            loss.backward()
            for p in net.parameters():
                p.data -= 0.01 * p.grad
            with torch.no_grad():
                for p in net.parameters():
                    p.add_(p.grad, alpha=-0.01)
            return loss.detach()

        return f

    compiled, eager = torch.compile(step(nets[0])), step(nets[1])
    for seed in range(4):
        x = tensor((4, 3), seed)
        same([compiled(x)._a], [eager(x)._a], 1e-5)
    same([p._a for p in nets[0].parameters()], [p._a for p in nets[1].parameters()], 1e-5)


def test_draws_are_those_of_the_generator():
    compiled = torch.compile(lambda x: F.dropout(x) + torch.rand(3))
    drawn = []
    for f in (compiled, lambda x: F.dropout(x) + torch.rand(3)):
        torch.manual_seed(3)
        drawn.append([bits(f(torch.ones(3))._a) for _ in range(4)] + [bits(torch.rand(1)._a)])
    assert drawn[0] == drawn[1]


# ------------------------------------------------------------------------------------------ the entry


def test_what_cannot_be_traced_is_an_error_when_a_whole_graph_is_asked_for():
    @torch.compile(fullgraph=True)
    def f(x):
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(rg.UnsupportedError, match=r"test_compiled\.py"):
        f(torch.ones(2))


def test_too_many_versions_are_deferred_with_one_warning():
    compiled = torch.compile(lambda x, how: x * len(how))
    for k in range(8):
        assert compiled(torch.ones(2), "x" * k).tolist() == [k, k]
    with pytest.warns(UserWarning, match="8 kinds of calls"):
        compiled(torch.ones(2), "x" * 8)
    assert compiled(torch.ones(2), "x" * 9).tolist() == [9, 9]


def test_other_sizes_share_a_trace_without_end_or_warning(recwarn):
    net = torch.nn.Linear(3, 2)

    @torch.compile
    def f(x):
        return torch.tanh(net(x)).sum(1) * x.shape[0]

    for _ in range(4):
        for n in (*range(1, 11), 1):
            x = tensor((n, 3), n)
            same([f(x)._a], [(torch.tanh(net(x)).sum(1) * n)._a])
    assert row()["traced"] == row()["versions"] == 2, row()
    assert row()["compiled_calls"] >= 39, row()
    for n in range(11, 60):
        assert f(torch.zeros(n, 3)).shape == (n,)
    assert row()["traced"] == 2, row()
    assert not [w for w in recwarn if "compiled for" in str(w.message)]


def test_where_a_size_is_asked_for_some_sizes_are_traced_and_others_run_as_they_are(recwarn):
    compiled = torch.compile(lambda x: x * int(x.shape[0]))
    for n in (*range(2, 60), *range(2, 60)):
        assert compiled(torch.ones(n)).tolist() == [n] * n
    assert row()["traced"] == 33, row()
    assert row()["compiled_calls"] == 33, row()
    assert row()["reasons"][1:] == ["more than 32 sizes of arguments"], row()
    assert not [w for w in recwarn if "compiled for" in str(w.message)]


def test_a_custom_backend_is_refused():
    with pytest.raises(NotImplementedError, match="only backend"):
        torch.compile(lambda x: x, backend=lambda graph, inputs: graph)


def test_a_method_that_reads_and_writes_elements_itself_is_run_as_it_is():
    def fit(f):
        w = torch.zeros(2, requires_grad=True)
        optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = ((w - 3) ** 4).sum() + (w[0] * w[1] - 9) ** 2
            loss.backward()
            return loss

        step = f(lambda: optimizer.step(closure) * 2)
        return [step().item() for _ in range(4)], w.tolist()

    assert fit(torch.compile) == fit(lambda f: f)


def test_a_history_that_a_pass_inside_has_used_up_is_shown_and_refused_as_without():
    net = torch.nn.Linear(3, 2)

    @torch.compile
    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(5):
        loss = step(torch.ones(4, 3))
        assert loss.requires_grad
        assert "MeanBackward0" in repr(loss)
        with pytest.raises(RuntimeError, match="freed"):
            loss.backward()
    assert row()["compiled_calls"] >= 2


def test_numpys_arrays_from_outside_are_read_at_every_call():
    a = np.ones(3, np.float32)

    @torch.compile
    def f(x):
        return x * torch.from_numpy(a)

    for k in range(1, 5):
        a[:] = k
        assert f(torch.ones(3)).tolist() == [k] * 3


def test_a_call_that_fails_says_nothing_of_the_next_ones():
    compiled = torch.compile(lambda x: x @ torch.ones(3))
    with pytest.raises(RuntimeError, match="matmul"):
        compiled(torch.ones(5))
    for _ in range(4):
        assert compiled(torch.ones(3)).item() == 3
    assert row()["compiled_calls"] == 2


# ------------------------------------------------------------------------------------------ under transforms, and inside others


def wave(x, w):
    return (torch.tanh(x @ w) * torch.sin(x).sum()).sum()


def with_its_own_gradient(x, w):
    return (torch.func.grad(wave)(x, w) ** 2).sum()


func = torch.func
OUTSIDE = {
    "vmap": lambda f: func.vmap(f, in_dims=(0, None)),
    "grad": lambda f: lambda x, w: func.grad(f, argnums=1)(x[0], w),
    "vmap of grad": lambda f: func.vmap(func.grad(f), in_dims=(0, None)),
    "per-sample gradients of weights": lambda f: func.vmap(func.grad(f, argnums=1), in_dims=(0, None)),
    "grad of vmap": lambda f: func.grad(lambda x, w: (func.vmap(f, in_dims=(0, None))(x, w) ** 2).sum()),
    "jvp": lambda f: lambda x, w: func.jvp(lambda y: f(y, w), (x[0],), (x[1],)),
    "jacrev": lambda f: lambda x, w: func.jacrev(f, argnums=1)(x[0], w),
    "hessian": lambda f: lambda x, w: func.hessian(f)(x[0], w),
    "vmap of hessian": lambda f: func.vmap(func.hessian(f), in_dims=(0, None)),
    "hessian and backward": lambda f: lambda x, w: torch.autograd.grad(
        func.hessian(f)(x[0], w.requires_grad_()).square().sum(), w
    ),
    "no_grad around": lambda f: torch.no_grad()(lambda x, w: func.grad(f)(x[0].detach().requires_grad_(), w)),
}


@pytest.mark.parametrize("f", [wave, with_its_own_gradient])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_compiled_function_is_transformed_as_the_function_is(name, f):
    compiled = torch.compile(f)
    for seed in range(4):
        given = tensor((3, 4), seed) / 4, tensor((4, 2), seed + 1) / 4
        got = OUTSIDE[name](compiled)(*given)
        same(results(got), results(OUTSIDE[name](f)(*given)), 1e-5)
    assert row()["compiled_calls"] == row()["calls"] - 2 > 0, row()


def test_modules_are_compiled_under_functional_call():
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))

    def loss(params, x, y):
        return F.cross_entropy(func.functional_call(net, params, (x[None],)), y[None])

    params = {k: v.detach() for k, v in net.named_parameters()}
    x, y = tensor((6, 4)), torch.arange(6) % 2
    want = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    compiled = torch.compile(loss)
    for _ in range(4):
        got = func.vmap(func.grad(compiled), in_dims=(None, 0, 0))(params, x, y)
        same([got[k]._a for k in want], [want[k]._a for k in want], 1e-5)
    assert row()["compiled_calls"] == 2, row()


def test_what_has_another_derivative_than_its_operations_say_runs_as_it_is_under_transforms():
    compiled = torch.compile(lambda x: (x * x.detach()).sum())
    for _ in range(4):
        assert func.grad(compiled)(torch.full((2,), 3.0)).tolist() == [3, 3]
    assert "detaches" in row()["reasons"][0]
    for _ in range(4):
        assert compiled(torch.full((2,), 3.0)).item() == 18
    assert row()["compiled_calls"] == 2


def test_compiled_functions_run_from_their_traces_inside_one_that_is_deferred():
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
    eager = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
    eager.load_state_dict(net.state_dict())

    def training(net, compile):
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
        penalty = compile(lambda p: (p * p).sum())

        @compile
        def step(x, y):
            optimiser.zero_grad()
            loss = ((net(x) - y) ** 2).mean() + 0.1 * penalty(net[0].weight)
            loss.backward()
            optimiser.step()
            return loss.detach()

        @compile
        def fit(x, y):
            return [step(x * (k + 1), y + x[:, :1]).tolist() for k in range(6)]  # which no trace has

        return fit(tensor((5, 3)), tensor((5, 1), 1))

    got = training(net, torch.compile)
    fit, step, penalty = (compile_report().to_dict()["functions"][-k] for k in (1, 2, 3))
    assert got == pytest.approx(training(eager, lambda f: f), rel=1e-5)
    same([x._a for x in net.state_dict().values()], [x._a for x in eager.state_dict().values()], 1e-5)
    assert fit["segments"] > 0
    assert (step["calls"], step["compiled_calls"]) == (6, 4), step
    assert (penalty["calls"], penalty["compiled_calls"]) == (6, 4), penalty  # as part of the step's trace


def test_the_first_call_of_each_further_version_runs_both_ways():
    compiled = torch.compile(lambda x: x * int(x.shape[0]))
    for n in (2, 2, 3, 3, 4, 4):
        assert compiled(torch.ones(n)).tolist() == [n] * n
    assert (row()["calls"], row()["traced"], row()["compiled_calls"]) == (6, 3, 2)


def test_the_first_calls_of_two_sizes_of_a_trace_run_both_ways():
    compiled = torch.compile(lambda x: x * x.shape[0])
    for n in (2, 2, 3, 3, 4, 4, 5, 6, 7):
        assert compiled(torch.ones(n)).tolist() == [n] * n
    assert (row()["calls"], row()["traced"], row()["compiled_calls"]) == (9, 2, 5)


def test_wrappers_of_a_compiled_function_carry_what_the_program_put_on_it_and_no_more():
    def f(x):
        return x * 2

    compiled = torch.compile(f)
    compiled.mine = 3
    wrapped = func.vmap(compiled)
    assert wrapped.mine == 3
    assert not any(key.startswith("_versions") for key in wrapped.__dict__)
    around = torch.compile(lambda x: wrapped(x) + 1)
    for _ in range(4):
        assert around(torch.ones(2)).tolist() == [3, 3]
    assert row()["compiled_calls"] == 2


def test_results_show_the_operation_that_made_them():
    def f(x, w):
        u = x.clone()
        u[1:] = x[1:] * w
        return u, (x * w).sum(), torch.tanh(w)

    compiled, w = torch.compile(f), torch.ones(1, requires_grad=True)
    for _ in range(4):
        assert [repr(y) for y in compiled(torch.ones(3), w)] == [repr(y) for y in f(torch.ones(3), w)]
    assert row()["compiled_calls"] == 2


def test_hooks_on_what_is_computed_inside_are_called_at_every_pass():
    seen = []

    @torch.compile
    def f(x):
        h = x * 2
        h.register_hook(lambda g: seen.append(g.sum().item()) or g * 3)
        return (h * h).sum()

    results = [f(torch.full((2,), float(k), requires_grad=True)) for k in range(4)]
    for k, y in enumerate(results):
        y.backward()
        assert seen[-1] == 8 * k
    assert len(seen) == 4
    assert "hooks" in row()["reasons"][0]


def test_a_call_with_tensors_alone_is_looked_up_at_once_and_sees_what_has_changed():
    w = torch.ones(3)
    rate = {"of": 2.0}

    def f(x, y):
        return (x * y * w).sum() * rate["of"]

    compiled = torch.compile(f)
    x, y = tensor((3,), 1), tensor((3,), 2)

    def agree(x, y):
        for _ in range(4):
            same(results(compiled(x, y)), results(f(x, y)))
        wanting = [t.detach().requires_grad_() for t in (x, y)]
        for _ in range(4):
            found = [torch.autograd.grad(g(*wanting), wanting) for g in (compiled, f)]
            same(results(found[0]), results(found[1]))

    agree(x, y)
    counted = row()["compiled_calls"]
    assert counted >= 4
    agree(y, x)
    assert row()["compiled_calls"] > counted
    same(results(compiled(x, x)), results(f(x, x)))  # one tensor twice
    rate["of"] = 3.0
    agree(x, y)
    w.mul_(2.0)
    agree(x, y)
    with torch.no_grad():
        assert not compiled(x.detach().requires_grad_(), y).requires_grad
    torch.set_default_dtype(torch.float64)
    try:
        agree(x.double(), y)
    finally:
        torch.set_default_dtype(torch.float32)
    compiled = torch.compile(f)
    other = tensor((3, 2), 1)[:, 0]  # another layout
    agree(other, y)
    x.requires_grad_()
    compiled(x, y).backward()
    compiled(x, y).backward()  # there is a gradient already
    same([x.grad._a], [2 * (y * w * 3.0)._a])


def test_under_saved_tensor_hooks_a_function_is_deferred_and_they_are_given_what_they_are_without():
    def block(x, w):
        h = torch.tanh(0.1 * (x @ w))
        return (h * h.exp()).sum()

    def run(f):
        kept = []

        def pack(x):
            kept.append(x)
            return x.detach().numpy().copy() if len(kept) % 2 else (x,)  # elements, or the tensor for later

        def unpack(content):
            return content[0] if isinstance(content, tuple) else torch.tensor(content)

        x, w = tensor((4, 3), 1), tensor((3, 3), 2).requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            out = f(x, w)
        arrays = [t._a for t in kept]
        assert all(type(a) is np.ndarray for a in arrays)
        return [*results(torch.autograd.grad(out, w)), out._a, *arrays]

    compiled = torch.compile(block)
    for _ in range(4):  # there is a trace by then, which saves something else
        compiled(tensor((4, 3), 1), tensor((3, 3), 2).requires_grad_()).backward()
    assert row()["compiled_calls"] == 2
    got, wanted = run(compiled), run(block)
    assert len(got) == len(wanted)
    same(got, wanted)
    assert row()["segments"] >= 1
    assert row()["compiled_calls"] == 2
    same(run(torch.compile(block, fullgraph=True)), wanted)
    assert row()["segments"] == 0
    assert "fullgraph" in row()["reasons"][0]


def test_a_checkpointed_block_is_deferred_each_time_that_it_is_computed():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(4, 4) for _ in range(3)]
    blocks = [torch.nn.Sequential(layer, torch.nn.Dropout(0.3), torch.nn.Tanh()) for layer in layers]

    def gradients(blocks):
        torch.manual_seed(1)
        x = tensor((5, 4), 3)
        for block in blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
        return results(torch.autograd.grad(x.sum(), [p for layer in layers for p in layer.parameters()]))

    wanted = gradients(blocks)
    compiled = [torch.compile(lambda x, block=block: block(x)) for block in blocks]
    for _ in range(2):
        same(gradients(compiled), wanted)
    counts = compile_report().to_dict()["functions"][-1]
    assert counts["calls"] == 4
    assert counts["segments"] >= 2
    assert counts["reasons"] == []
