"""Functions that decide on elements, keep tensors, and find others outside from call to call run from traces, and do at every
call what they do without."""

import copy

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import compile_report

F = torch.nn.functional


def row(k=1):
    return compile_report().to_dict()["functions"][-k]


def numbers(n, seed):
    return torch.tensor(np.random.default_rng(seed).standard_normal(n).astype(np.float32))


# ------------------------------------------------------------------------------------------ decisions


def signs(x):
    if x.sum() > 0:
        return x * 2 if x.max() > 1 else x + 1
    return -x


def halved(x):
    n = 0
    while x.norm() > 4:
        x, n = x * 0.5, n + 1
    return x, n


def rows_of(x):
    return x[torch.tensor([True, False, True])], x.abs().sum().item() > 0 and x * 1


@pytest.mark.parametrize("f", [signs, halved, rows_of])
def test_a_function_goes_the_way_that_it_goes_without(f):
    compiled = torch.compile(f)
    for seed in (1, 1, 1, *range(12)):
        got, want = (g(numbers(3, seed) * (1 + seed % 3)) for g in (compiled, f))
        for x, y in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True):
            assert x.tolist() == pytest.approx(y.tolist(), rel=1e-6) if isinstance(y, torch.Tensor) else x == y
    assert row()["compiled_calls"] > 3, row()


def test_a_call_that_goes_another_way_leaves_what_the_function_leaves():
    w = torch.zeros(2)

    @torch.compile
    def f(x):
        w.add_(x)
        if w.sum().item() > 20:
            raise ValueError("too much")
        return w * 1

    for k in range(5):
        assert f(torch.ones(2)).tolist() == [k + 1] * 2
    for k in range(4):
        with pytest.raises(ValueError, match="too much"):
            f(torch.full((2,), 20.0))
        assert w.tolist() == [25 + 20 * k] * 2
    w.zero_()
    assert f(torch.ones(2)).tolist() == [1, 1]
    assert (row()["traced"], row()["segments"]) == (1, 0), row()


def test_a_mask_from_outside_is_read_at_each_call():
    mask = torch.tensor([True, False, True])
    f = torch.compile(lambda x: x[mask].sum())
    for k in range(8):
        assert f(torch.arange(3.0)).item() == (2 if k < 5 else 3)
        if k == 4:
            mask[1] = True
    assert row()["compiled_calls"] >= 4, row()


def test_arguments_of_distributions_are_checked():
    exponential = torch.distributions.Exponential

    def f(x, rate):
        return exponential(rate).log_prob(x).sum()

    compiled = torch.compile(f)
    for seed in range(5):
        x, rate = numbers(3, seed).abs(), torch.tensor(0.5 + seed)
        assert compiled(x, rate).item() == pytest.approx(f(x, rate).item(), rel=1e-5)
    assert row()["compiled_calls"] == 3
    with pytest.raises(ValueError, match="rate"):
        compiled(x, torch.tensor(-1.0))
    with pytest.raises(ValueError, match="support"):
        compiled(-x, torch.tensor(1.0))
    assert compiled(x, rate).item() == pytest.approx(f(x, rate).item(), rel=1e-5)
    assert row()["compiled_calls"] == 4


def test_what_is_decided_in_ever_other_ways_is_deferred():
    f = torch.compile(lambda x: x * int(x.long().sum()))
    for k in range(24):
        assert f(torch.full((2,), float(k))).tolist() == [2.0 * k * k] * 2
    assert row()["traced"] <= 5
    assert "decides" in row()["reasons"][0]


def test_a_whole_graph_decides_on_nothing():
    with pytest.raises(NotImplementedError, match="test_once.py"):
        torch.compile(signs, fullgraph=True)(torch.ones(3))


def mean_of(x):
    return float(x.mean()), float("1.5"), x * 2


def named(x):
    return float(x.mean()), float(isinstance(2.0, float))


def test_a_float_of_a_tensor_waits_for_its_value():
    for f, once in ((mean_of, True), (named, False)):
        compiled = torch.compile(f)
        for seed in range(5):
            got, want = (g(numbers(3, seed))[:2] for g in (compiled, f))
            assert type(got[0]) is float
            assert got == pytest.approx(want)
        assert row()["compiled_calls"] == (3 if once else 0), row()
    assert "float" not in globals()


def test_what_is_called_in_a_deferred_function_decides_on_elements():
    inner = torch.compile(lambda x: x * 2 if x.sum() > 0 else x)

    @torch.compile
    def outer(x):
        y = inner(x + 1)
        assert x.sum().tolist() < 100  # no trace has that
        return inner(y * 1) + 1

    for k in range(6):
        assert outer(torch.full((2,), float(k))).tolist() == [4.0 * k + 5] * 2
    assert (row()["segments"] > 0, row(2)["compiled_calls"] >= 6) == (True, True), (row(), row(2))


# ------------------------------------------------------------------------------------------ what is kept


class Keeping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.calls, self.last, self.seen = torch.nn.Linear(2, 2), 0, None, {}

    def forward(self, x):
        self.calls += 1
        y = self.layer(x)
        same = self.last is not None and self.last.shape == y.shape
        self.last, self.pair = y, (x, y)
        self.seen["y"] = y.detach()
        return y + 1 if same else y

    def never(self):
        print("not called, so it has no effect")


def test_tensors_that_are_kept_are_those_that_go_out():
    net = Keeping()
    compiled = torch.compile(net.forward)
    with torch.no_grad():
        for k in range(6):
            x = numbers((3, 2), k)
            out = compiled(x)
            assert net.calls == k + 1
            assert (out is net.last) is (k == 0)
            assert net.pair[0] is x
            assert net.pair[1] is net.last
            net.seen["y"].zero_()
            assert net.last.tolist() == [[0, 0]] * 3
    assert row()["compiled_calls"] >= 3, row()


def test_a_dict_that_is_an_argument_is_changed():
    @torch.compile
    def f(d, x):
        d["n"] = d.get("n", 0) + 1
        return x * d["n"]

    d = {}
    assert [f(d, torch.ones(1)).item() for _ in range(5)] == [1, 2, 3, 4, 5] == [*range(1, d["n"] + 1)]


count, best, weights = 0, None, torch.ones(2)


def test_globals_and_variables_are_stored():
    total = torch.zeros(())

    @torch.compile
    def f(x):
        global count, best, weights
        nonlocal total
        count += 1
        total = total + x.sum()
        if best is None or x.sum() > best:
            best = x.sum()
        weights = weights * 0.5
        return total / count + weights.sum()

    sums = []
    for k in (1.0, 2.0, 3.0, 2.0, 5.0, 6.0, 7.0, 8.0):
        sums.append(2 * k)
        got = f(torch.full((2,), k))
        assert got.item() == pytest.approx(sum(sums) / len(sums) + 2 * 0.5 ** len(sums), rel=1e-6)
        assert (count, best.item(), total.item()) == (len(sums), max(sums), sum(sums))
    assert row()["compiled_calls"] >= 2, row()


def test_one_tensor_in_two_places_is_one_tensor():
    f = torch.compile(lambda x: [y := x * 2, y, y.view(-1), y.detach()])
    for _ in range(4):
        a, b, c, d = f(torch.ones(2, 1))
        a[0] = 7
        assert a is b
        assert c.tolist() == [7, 2]
        assert d.tolist() == [[7], [2]]


def test_a_view_of_an_argument_is_one():
    f = torch.compile(lambda x: (x.view(-1), x.t(), x[0], x.detach()))
    for view in (False, True):
        for _ in range(4):
            x = torch.zeros(2, 3) if not view else torch.zeros(6).view(2, 3)
            for y in f(x):
                y.add_(1)
            assert x.tolist() == [[4, 4, 4], [3, 3, 3]]
        w = torch.zeros(2, 3, requires_grad=True)
        f(w)[0].sum().backward()
        assert w.grad.tolist() == [[1] * 3] * 2


def test_a_list_from_outside_that_is_returned_is_that_list():
    kept = [1, 2]
    f = torch.compile(lambda x: (kept, x + 1))
    for _ in range(4):
        assert f(torch.ones(1))[0] is kept


def test_whether_a_tensor_from_outside_wants_a_gradient_is_changed_at_each_call():
    w = torch.ones(2)

    @torch.compile
    def f(x, flag):
        w.requires_grad = flag
        return (w * x).sum()

    for k in range(8):
        assert f(torch.ones(2), k % 2 == 0).requires_grad is w.requires_grad is (k % 2 == 0)


def test_a_history_that_begins_inside_goes_out():
    def f(x):
        w = torch.full((2,), 3.0, requires_grad=True)
        return (w * x).sum(), w

    compiled = torch.compile(f)
    for k in range(5):
        loss, w = compiled(torch.full((2,), float(k)))
        loss.backward()
        assert w.grad.tolist() == [k, k]


def test_an_argument_that_becomes_a_leaf_is_one():
    def f(x):
        x.requires_grad_()
        (x.exp() * x).sum().backward()
        return x.grad * 2

    compiled = torch.compile(f)
    for seed in range(5):
        x, y = numbers(3, seed), numbers(3, seed)
        torch.testing.assert_close(compiled(x), f(y))
        assert x.requires_grad
        torch.testing.assert_close(x.grad, y.grad)
        torch.testing.assert_close(compiled(x), f(y))  # added to
    assert row()["compiled_calls"] >= 6, row()
    linked = torch.compile(lambda x: (x.requires_grad_() * 2).sum())
    for _ in range(4):
        x = torch.ones(2)
        linked(x).backward()
        assert x.grad.tolist() == [2, 2]


# ------------------------------------------------------------------------------------------ what is found outside


class Settings:
    rate, weight, names = 0.1, torch.ones(2), ["a"]


def test_what_a_class_holds_is_read_at_each_call():
    f = torch.compile(lambda x: x * Settings.rate + Settings.weight * len(Settings.names))
    for k in range(8):
        want = [(k + 1) // 2 / 10 + (2 if k > 4 else 1) * (3 if k > 5 else 1)] * 2
        Settings.rate = (k + 1) // 2 / 10
        Settings.weight = torch.full((2,), 2.0 if k > 4 else 1.0)
        Settings.names[:] = ["a"] * (3 if k > 5 else 1)
        assert f(torch.ones(2)).tolist() == pytest.approx(want)


def test_a_tensor_that_is_another_one_at_each_call_is_an_input():
    space = {"w": numbers(3, 0), "both": (numbers(3, 1), numbers(3, 2)), "named": {"a": numbers(3, 3)}}
    w = space["w"]

    def f(x):
        return (x * w * space["w"] + space["both"][0] + space["both"][1] * space["named"]["a"]).sum()

    compiled = torch.compile(f)
    for k in range(8):
        x = numbers(3, k)
        assert compiled(x).item() == pytest.approx(f(x).item(), rel=1e-5)
        w, space["w"] = w * 0.9, space["w"] - 0.1
        space["both"] = tuple(y + 1 for y in space["both"])
        space["named"] = {"a": space["named"]["a"] * 2}
    assert row()["traced"] <= 3, row()
    assert row()["compiled_calls"] >= 4, row()


def test_gradients_reach_what_is_found_outside():
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: (x * w).sum())
    for k in range(6):
        x = numbers(3, k)
        (got,) = torch.autograd.grad(compiled(x), w)
        assert got.tolist() == x.tolist()
        w = (w - 0.1 * got).detach().requires_grad_()
    assert row()["compiled_calls"] >= 2, row()


def test_what_is_done_to_other_objects_is_done_by_the_same_code():
    torch.manual_seed(0)
    net, x = torch.nn.Linear(3, 2), numbers((4, 3), 0)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.9)

    @torch.compile
    def step():
        optimiser.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimiser.step()
        schedule.step()
        return loss.item()

    for _ in range(4):
        step()
    parts = (net, optimiser, schedule)
    kept = [copy.deepcopy(part.state_dict()) for part in parts]
    first = [step() for _ in range(3)]
    for part, state in zip(parts, kept):
        part.load_state_dict(state)
    assert [step() for _ in range(3)] == first  # bit for bit: the first of them as well
    assert (row()["calls"], row()["compiled_calls"]) == (10, 8)


class Recorder:
    def __init__(self):
        self.values, self.kept, self.read = [], [], []

    def add(self, value, kept):
        self.values.append(value)
        self.kept.append(kept)

    def mean(self, value):
        self.read.append(value)
        return sum(self.read) / len(self.read)


def test_what_is_only_appended_to_lists_is_appended_by_each_call():
    recorder, numbers_of, history = Recorder(), [], {"sum": []}

    @torch.compile
    def f(x):
        y = x * 2
        numbers_of.append(y.sum().item())
        history["sum"].append((x.shape[0], y))
        recorder.add(y.sum().item(), y)
        return y

    for k in range(8):
        y = f(torch.full((2,), float(k)))
        assert recorder.kept[-1] is y is history["sum"][-1][1]
        assert recorder.values == numbers_of
        assert numbers_of[-1] == 4 * k
        assert len(numbers_of) == len(history["sum"]) == (k + 1 if k < 4 else k - 3)
        if k == 3:
            numbers_of.clear()
            history["sum"] = []
            recorder.values, recorder.kept = [], []
    assert row()["compiled_calls"] >= 4, row()


def test_what_is_read_of_a_list_is_read_at_each_call():
    recorder, seen = Recorder(), []
    mean = torch.compile(lambda x: recorder.mean(x.sum().item()))
    assert [mean(torch.full((2,), float(k))) for k in range(5)] == [0, 1, 2, 3, 4]

    @torch.compile
    def first(x):
        factor = 10 if len(seen) == 0 else 1
        seen.append(1)
        return x * factor

    assert [first(torch.ones(1)).item() for _ in range(5)] == [10, 1, 1, 1, 1]
    places = [seen]

    @torch.compile
    def counted(x):
        places[0].append(1)
        return x * len(seen)

    assert [counted(torch.ones(1)).item() for _ in range(5)] == [6, 7, 8, 9, 10]


def test_the_state_that_an_optimiser_makes_in_its_first_step_is_made_by_a_trace():
    def losses(wrap):
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 2)
        optimiser = torch.optim.Adam(net.parameters(), lr=0.1)

        @wrap
        def step(x):
            optimiser.zero_grad()
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimiser.step()
            return loss

        return [step(numbers((4, 3), seed)).item() for seed in range(5)], optimiser.state_dict()

    (got, state), (want, expected) = losses(rg.jit), losses(lambda f: f)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert state["state"].keys() == expected["state"].keys()
    torch.testing.assert_close(state["state"][0], expected["state"][0])


# ------------------------------------------------------------------------------------------ functions of the user's


class Scaled(torch.autograd.Function):
    @staticmethod
    @torch.compile
    def forward(ctx, x, k, by):
        ctx.save_for_backward(x, y := x.exp())
        ctx.k, ctx.shape, ctx.by = k, x.shape, by
        return y * k

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        assert ctx.shape == x.shape
        return ctx.by(g * y * ctx.k), None, None


def test_the_forward_of_a_function_of_the_users_fills_its_context():
    layer = torch.nn.Identity()
    for seed in range(6):
        x = numbers(3, seed).requires_grad_()
        Scaled.apply(x, seed + 1.0, layer).sum().backward()
        assert x.grad.tolist() == pytest.approx((x.detach().exp() * (seed + 1)).tolist(), rel=1e-5)
    found = [r for r in compile_report().to_dict()["functions"] if r["name"] == "Scaled.forward"][-1]
    assert found["compiled_calls"] >= 3, found


# ------------------------------------------------------------------------------------------ how results lie in memory


@pytest.mark.parametrize("how", ["compiled", "deferred"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.dropout(x.transpose(0, 1)),
        lambda x: F.dropout((x * 2).permute(2, 0, 1) + 1, 0.3),
        lambda x: torch.randn_like((x @ x.mT).transpose(0, 2)) * 1,
        lambda x: torch.empty_like(x).permute(1, 0, 2).uniform_(),
        lambda x: x.transpose(0, 1).unsqueeze(2).clone().bernoulli_(0.5),
    ],
)
def test_numbers_are_drawn_in_the_order_in_which_a_tensor_lies_in_memory(f, how):
    def effect(x):
        if how == "deferred":
            x.sum().tolist()  # no trace has that
        return f(x)

    compiled, x = torch.compile(effect), numbers((2, 3, 4), 0)
    for seed in range(4):
        torch.manual_seed(seed)
        want = (f(x).tolist(), torch.rand(2).tolist())
        torch.manual_seed(seed)
        assert (compiled(x).tolist(), torch.rand(2).tolist()) == want
    assert (row()["compiled_calls"], row()["segments"] > 0) == ((2, False) if how == "compiled" else (0, True))


@pytest.mark.parametrize("how", ["compiled", "deferred"])
def test_results_lie_in_memory_as_they_do_without(how):
    def f(x):
        if how == "deferred":
            x.sum().tolist()  # no trace has that
        y = (x * 2).transpose(0, 1)
        return y + 1, y.unsqueeze(0), y.reshape(-1, 2), torch.tanh(y).mT

    compiled = torch.compile(f)
    for seed in range(4):
        x = numbers((2, 3, 4), seed)
        for got, want in zip(compiled(x), f(x), strict=True):
            long = [i for i, n in enumerate(want.shape) if n > 1]
            assert [got.stride()[i] for i in long] == [want.stride()[i] for i in long]
            torch.testing.assert_close(got, want)


# ------------------------------------------------------------------------------------------ hooks and histories of the user's


def test_hooks_that_come_and_go_are_called():
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)

    @torch.compile
    def step():
        w.grad = None
        (w * x).sum().backward()
        return w.grad.clone()

    def hooked(factor):
        found = []
        for k in range(6):
            handle = w.register_hook(lambda g: g * factor) if k == 3 else None
            found.append(step().tolist()[0])
            if handle is not None:
                found.append(step().tolist()[0])
                handle.remove()
        return found

    assert hooked(10) == [1, 1, 1, 10, 10, 1, 1]
    assert hooked(20) == [1, 1, 1, 20, 20, 1, 1]
    given = torch.compile(lambda y: (y * y).sum().backward())
    for k in range(6):
        y = torch.ones(2, requires_grad=True)
        if k > 3:
            y.register_hook(lambda g: g * 10)
        given(y)
        assert y.grad.tolist() == [20 if k > 3 else 2] * 2


def test_hooks_of_parameters_are_part_of_a_trace():
    nets = [torch.nn.Linear(3, 2) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())

    def trained(net, compile):
        for p in net.parameters():
            p.register_hook(lambda g: g.clamp(-0.01, 0.01))
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)

        @compile
        def step(x):
            optimiser.zero_grad()
            (net(x) ** 2).mean().backward()
            optimiser.step()

        for seed in range(5):
            step(numbers((4, 3), seed))
        return [p.tolist() for p in net.parameters()]

    got, want = trained(nets[0], torch.compile), trained(nets[1], lambda f: f)
    assert row()["compiled_calls"] == 3, row()
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.save_for_backward(x)
        ctx.strength = strength
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -ctx.strength * g * x.exp(), None


passes = []


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        passes.append(1)
        return g


def test_a_history_with_functions_of_the_users_is_compiled_where_they_only_compute():
    def f(x, strength):
        return (Reversed.apply(x * 2, strength) * x).sum()

    def derivatives(f, x, strength):
        (g,) = torch.autograd.grad(f(x, strength), x, create_graph=True)
        return [g, *torch.autograd.grad(g.sum() ** 2, x)]

    compiled = torch.compile(f)
    for seed in range(8):
        x, strength = numbers(3, seed).requires_grad_(), 0.5 if seed < 4 else 1.0 + seed
        for got, want in zip(derivatives(compiled, x, strength), derivatives(f, x, strength), strict=True):
            torch.testing.assert_close(got, want)
    assert row()["compiled_calls"] >= 2, row()
    counted = torch.compile(lambda x: Counted.apply(x).sum())
    for k in range(5):
        counted(torch.ones(2, requires_grad=True)).backward()
        assert len(passes) == k + 1


def test_hooks_on_what_a_function_computes_are_called_by_each_pass():
    seen = []

    def halved(x):
        y = x * 3
        y.register_hook(lambda g: g / 2)
        return (y * y).sum()

    def noted(x):
        y = x * 3
        y.register_hook(lambda g: seen.append(g.sum().item()))
        return (y * y).sum()

    for f, once in ((halved, True), (noted, False)):
        compiled = torch.compile(f)
        for seed in range(5):
            (x, y), before = (numbers(3, seed).requires_grad_() for _ in range(2)), len(seen)
            compiled(x).backward()
            f(y).backward()
            torch.testing.assert_close(x.grad, y.grad)
            assert len(seen) - before == (0 if once else 2)
        assert (row()["compiled_calls"] > 0) is once, row()


# ------------------------------------------------------------------------------------------ the other dialects


@pytest.mark.parametrize("dialect", ["paddle", "mindspore"])
def test_the_other_dialects_do_so_too(dialect):
    if dialect == "paddle":
        import retrograde.dialects.paddle as paddle

        wrap, tensor = paddle.jit.to_static, paddle.to_tensor
    else:
        import retrograde.dialects.mindspore as ms

        wrap, tensor = ms.jit, ms.Tensor
    kept = {"count": 0, "last": None}

    @wrap
    def f(x):
        kept["count"] += 1
        kept["last"] = x * kept["count"]
        if x.sum() > 4:
            return kept["last"] + 1
        return kept["last"]

    for k, value in enumerate((1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 1.0)):
        out = f(tensor(np.full(2, value, np.float32)))
        assert [float(y) for y in out] == [value * (k + 1) + (value > 2)] * 2
        assert kept["count"] == k + 1
        assert (out is kept["last"]) is (value < 2)
    assert row()["compiled_calls"] >= 3, row()
