"""Numbers that vary from call to call (rates, counts of steps, what item() gave) are inputs of compiled code."""

import math

import numpy as np
import pytest
import test_trace as programs
from test_trace import numbers, same, tensor

import retrograde as rg
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.compile import compile_report, jit
from retrograde.compile.versions import deferred

schedules = torch.optim.lr_scheduler


@pytest.fixture(autouse=True)
def _no_warning(recwarn):
    yield
    assert not [w for w in recwarn if "compiled for" in str(w.message)]


def row():
    return compile_report().to_dict()["functions"][-1]


def versions(compiled):
    return sum(map(len, compiled._versions.values()))


# ------------------------------------------------------------------------------------------ arguments


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_a_number_among_the_arguments_is_read_at_each_call_and_is_weak(dtype):
    def f(x, a, n):
        return x * a + n, a - x, (x + n) / 3, x ** (a + 0.05)

    x = rg.asarray(np.array([1, 2, 3], dtype))
    compiled = jit(f)
    for k in range(1, 12):
        for got, want in zip(compiled(x, 0.1 * k, k), f(x, 0.1 * k, k), strict=True):
            assert got.dtype == want.dtype
            same([got._a], [want._a], 1e-6)
    assert versions(compiled) == 2


def test_numbers_under_torch_are_rounded_as_they_are_without():
    def f(x, y, a, n):
        z = x * a + n - y / a
        z = z.add(y, alpha=a).clamp(max=a * 3)
        z.sub_(y, alpha=a)
        z.mul_(a).add_(n)
        return z.lerp(x, a / 4), (y * n) // 2, torch.where(x > a, x, a), x.pow(a + 0.05), n * y + a

    compiled = torch.compile(f)
    x, y = tensor(5), torch.arange(5)
    for k in range(1, 12):
        for got, want in zip(compiled(x.abs(), y, 0.1 * k, k), f(x.abs(), y, 0.1 * k, k), strict=True):
            assert got.dtype is want.dtype
            same([got._a], [want._a], 1e-6)
    assert row()["traced"] == 2, row()


def test_a_branch_on_a_number_is_taken_as_it_is_at_each_call():
    def f(x, a):
        if a > 3:
            return x + a
        return (x - a) if a != 2 else x * int(a)

    compiled = jit(f)
    for a in (1.0, 2.0, 1.5, 5.0, 7.0, 2.0, 0.25, 9.0, 3.0):
        assert compiled(rg.asarray([1.0]), a).tolist() == f(rg.asarray([1.0]), a).tolist()
    assert versions(compiled) <= 4


def test_where_the_value_is_wanted_each_is_a_version_of_its_own():
    def f(x, n):
        return rg.reshape(x, (n, -1)) * n, f"{n}", {n: 1}

    compiled, x = jit(f), rg.asarray(np.arange(12.0))
    for n in (1, 2, 3, 4, 2, 6, 1):
        got, want = compiled(x, n), f(x, n)
        assert got[0].tolist() == want[0].tolist()
        assert got[1:] == want[1:]


def test_what_c_code_makes_of_a_number_is_of_its_value():
    def f(x, a):
        return x * np.float32(a), x * float(f"{a:.3f}"), x * np.array([a, 1.0]), math.sqrt(a) * x, math.fsum([a, 1]) * x

    compiled, x = jit(f), rg.asarray([1.0, 2.0])
    for a in (1.0, 2.0, 0.5):
        for got, want in zip(compiled(x, a), f(x, a), strict=True):
            assert got.dtype == want.dtype
            same([got._a], [want._a], 1e-15)


def test_zeros_of_either_sign_and_nan_are_told_apart():
    compiled = jit(lambda x, a: a / x if a == 0 else x * a)
    x = rg.asarray([2.0])
    for a in (0.0, -0.0, math.nan, 1.0, math.inf, -0.0, math.nan):
        np.testing.assert_equal(compiled(x, a)._a, a / x._a if a == 0 else x._a * a)
        assert np.signbit(compiled(x, a)._a) == np.signbit(a / x._a)


def test_powers_of_numbers_change_their_type_as_pythons_do():
    def f(x, n, a):
        return x * 2**n, x * (2**n), n**2 * x, a**0.5

    compiled, x = jit(f), rg.asarray(np.array([3], np.int64))
    for n, a in ((1, 4.0), (2, 9.0), (-1, 1.0), (3, 2.0), (-2, 4.0), (2, -1.0)):
        for got, want in zip(compiled(x, n, a), f(x, n, a), strict=True):
            assert (got.tolist(), got.dtype) == (want.tolist(), want.dtype) if isinstance(want, rg.Tensor) else got == want


def test_derivatives_of_functions_of_numbers():
    def f(x, a):
        return rg.sum(rg.sin(x * a) ** 2 / a)

    step, eager = jit(rg.value_and_grad(f)), rg.value_and_grad(f)
    compiled = jit(f)
    for k in range(1, 5):
        x = rg.asarray([0.3, 0.7], requires_grad=True)
        for got, want in zip(step(x, 0.5 * k), eager(x, 0.5 * k), strict=True):
            same([got._a], [want._a], 1e-14)
        same([rg.grad(compiled)(x, 0.5 * k)._a], [eager(x, 0.5 * k)[1]._a], 1e-14)
        batch = rg.vmap(lambda x, k=k: compiled(x, 0.5 * k))(rg.asarray([[0.3, 0.7], [0.1, 0.2]]))
        same([batch._a], [np.stack([f(rg.asarray(r), 0.5 * k)._a for r in ([0.3, 0.7], [0.1, 0.2])])], 1e-14)
        compiled(x, 0.5 * k).backward()
        same([x.grad._a], [eager(x, 0.5 * k)[1]._a], 1e-14)


# ------------------------------------------------------------------------------------------ numbers that are read and stored

rate = 0.5


class Annealed:
    """Something that counts its calls and cools down."""

    def __init__(self):
        self.calls, self.temperature, self.seen, self.range = 0, 1.0, [0, 0.0], (0.0, 1.0)

    def __call__(self, x):
        self.calls += 1
        self.temperature = max(0.05, self.temperature * 0.9) if self.calls % 4 else self.temperature
        self.seen[0] = self.calls
        self.range = (self.range[1], math.exp(-self.calls / 10))
        return x * self.temperature + self.range[0] * rate, self.calls, {"t": [self.temperature, self.seen[0] // 2]}


@pytest.mark.parametrize("wrap", [jit, torch.compile])
def test_what_a_function_counts_is_counted_at_every_call(wrap):
    global rate
    mine, its = Annealed(), Annealed()
    compiled = wrap(mine.__call__)
    for k in range(40):
        rate = 0.5 if k < 20 else 0.1 * k
        x = torch.full((2,), float(k))
        got, want = compiled(x), its(x)
        same([got[0]._a], [want[0]._a], 1e-6)
        assert got[1:] == want[1:]
        assert vars(mine) == vars(its)
        assert [type(v) for v in vars(mine).values()] == [type(v) for v in vars(its).values()]
    if wrap is jit:
        assert versions(compiled) <= 6  # with each outcome of two comparisons, before `rate` has been seen to vary and after
    else:
        assert row()["compiled_calls"] >= 26, row()
    rate = 0.5


class Slotted:
    __slots__ = ("count", "name", "scale")

    def __init__(self):
        self.count, self.scale, self.name = 0, 1.0, "a"

    def __call__(self, x):
        self.count += 1
        return x * self.scale + self.count


def test_numbers_in_slots_are_read_and_stored():
    mine, its = Slotted(), Slotted()
    compiled = torch.compile(mine.__call__)
    for k in range(12):
        mine.scale = its.scale = 0.5 * k
        assert compiled(torch.ones(2)).tolist() == its(torch.ones(2)).tolist()
        assert (mine.count, mine.scale) == (its.count, its.scale)
    assert row()["compiled_calls"] >= 7, row()


def test_a_variable_that_counts_is_counted():
    count, scale = 0, 1.0

    @torch.compile
    def f(x):
        nonlocal count, scale
        count, scale = count + 1, scale * 0.5
        return x * scale

    for k in range(1, 10):
        assert f(torch.ones(2)).tolist() == [0.5**k] * 2
        assert (count, scale) == (k, 0.5**k)
    assert row()["compiled_calls"] == 7, row()


def test_an_error_changes_no_number():
    state = {"step": 0}

    def f(x):
        state["step"] += 1
        if x.shape[0] == 3:
            raise KeyError("no")
        return x * state["step"]

    for compiled in (jit(f), torch.compile(f)):
        state["step"] = 0
        for k in range(1, 4):
            assert compiled(torch.ones(2)).tolist() == [k, k]
        before = state["step"]
        with pytest.raises(KeyError):
            jit(f)(torch.ones(3))
        assert state["step"] == before
        assert compiled(torch.ones(2)).tolist() == [4, 4]


def test_numbers_are_plain_ones_after_a_trace():
    kept = []

    def f(x, a):
        kept.append(a * 2)
        return x * a

    compiled = jit(f)
    for a in (1.0, 2.0):
        compiled(rg.asarray([1.0]), a)
    assert kept[1] == 4.0
    assert kept[1] + 1 == 5.0
    assert math.sqrt(kept[1]) == 2.0


# ------------------------------------------------------------------------------------------ what item() gave


@pytest.mark.parametrize("wrap", [jit, torch.compile])
def test_arithmetic_with_a_number_that_item_gave(wrap):
    class Epoch:
        total, correct, n = 0.0, 0, 0

    mine, its = Epoch(), Epoch()
    for e in (mine, its):
        e.total, e.correct, e.n = 0.0, 0, 0

    def step(e):
        def f(x):
            loss = (x**2).mean()
            e.total += loss.item() * len(x)
            e.correct += (x > 0).sum().item()
            e.n += 1
            return {"loss": loss.item(), "mean": e.total / e.n, "rest": [-loss.item() + 1, (x * (loss.item() / 2)).sum()]}

        return f

    compiled, eager = wrap(step(mine)), step(its)
    for seed in range(12):
        x = tensor(4, seed)
        got, want = compiled(x), eager(x)
        np.testing.assert_allclose(got["loss"], want["loss"], rtol=1e-6)
        np.testing.assert_allclose(got["mean"], want["mean"], rtol=1e-6)
        np.testing.assert_allclose(got["rest"][0], want["rest"][0], rtol=1e-6)
        same([got["rest"][1]._a], [want["rest"][1]._a], 1e-5)
        np.testing.assert_allclose([mine.total, mine.correct, mine.n], [its.total, its.correct, its.n], rtol=1e-6)
        assert type(mine.total) is float
        assert type(mine.correct) is int
    if wrap is jit:
        assert versions(compiled) <= 2
    else:
        assert row()["compiled_calls"] >= 8, row()


def test_a_branch_on_what_item_gave_is_refused():
    for f in (lambda x: x if x.item() > 0 else -x, lambda x: x * math.floor(math.sqrt(x.item())), lambda x: f"{x.item():.2f}"):
        with pytest.raises(rg.UnsupportedError, match=r"test_numbers\.py"):
            jit(f)(rg.asarray(4.0))


# ------------------------------------------------------------------------------------------ schedules and optimisers

SCHEDULES = {
    "StepLR": lambda o: schedules.StepLR(o, 8),
    "CosineAnnealingLR": lambda o: schedules.CosineAnnealingLR(o, 40),
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=30),
    "LambdaLR": lambda o: schedules.LambdaLR(o, lambda e: 0.5 * (1 + math.cos(math.pi * e / 50))),
    "LambdaLR of NumPy": lambda o: schedules.LambdaLR(o, lambda e: min(1.0, (e + 1) / 10) * np.cos(e / 50)),
    "MultiStepLR": lambda o: schedules.MultiStepLR(o, [10, 20]),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 20),
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=5, cycle_momentum=False),
    "SequentialLR": lambda o: schedules.SequentialLR(
        o, [schedules.LinearLR(o, 0.1, total_iters=10), schedules.ExponentialLR(o, 0.9)], [10]
    ),
}


def trained(optimiser, schedule, steps, wrap, inside):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    optimizer = optimiser(net.parameters())
    scheduler = schedule(optimizer)

    @wrap
    def step(x):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if inside:
            scheduler.step()
        return loss.detach()

    losses = []
    for seed in range(steps):
        losses.append(step(torch.tensor(numbers((5, 3), seed))).item())
        if not inside:
            scheduler.step()
    return losses, optimizer, scheduler


def mostly_long(names, quick):
    return [name if name in quick else pytest.param(name, marks=pytest.mark.long) for name in names]


@pytest.mark.parametrize("name", mostly_long(SCHEDULES, {"StepLR", "CosineAnnealingLR", "OneCycleLR", "LambdaLR"}))
@pytest.mark.parametrize("inside", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_schedule_makes_few_versions(name, inside):
    def adam(p):
        return torch.optim.Adam(p, lr=0.01)

    got, optimizer, scheduler = trained(adam, SCHEDULES[name], 30, torch.compile, inside)
    counts = row()
    want, its_optimizer, its_scheduler = trained(adam, SCHEDULES[name], 30, lambda f: f, inside)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert optimizer.param_groups[0]["lr"] == its_optimizer.param_groups[0]["lr"]
    assert scheduler.last_epoch == its_scheduler.last_epoch
    assert scheduler.get_last_lr() == its_scheduler.get_last_lr()
    assert counts["traced"] <= 4, counts
    assert counts["compiled_calls"] >= 30 - 1 - 2 * counts["traced"], counts


OPTIMISERS = {name: made for name, made in programs.OPTIMISERS.items() if "tensor" not in name} | {
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
}


@pytest.mark.parametrize("name", mostly_long(OPTIMISERS, {"SGD", "AdamW", "RMSprop"}))
def test_every_optimiser_goes_on_with_another_rate(name):
    optimiser, schedule = OPTIMISERS[name], SCHEDULES["CosineAnnealingLR"]
    got, *_ = trained(optimiser, schedule, 12, torch.compile, True)
    counts = row()
    want, *_ = trained(optimiser, schedule, 12, lambda f: f, True)
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert counts["traced"] <= 3, counts
    assert counts["compiled_calls"] >= 5, counts


@pytest.mark.parametrize("name", mostly_long(OPTIMISERS, {"SGD", "Adam"}))
def test_a_deferred_step_with_another_rate_runs_the_segments_that_are_there(name):
    optimiser, schedule = OPTIMISERS[name], SCHEDULES["CosineAnnealingLR"]
    new = []

    def put_off(f):
        def call(x):
            out, deferral = deferred.run("step", [f], [x], lambda: f(x))
            new.append(deferral.new)
            return out

        return call

    got, *_ = trained(optimiser, schedule, 6, put_off, True)
    want, *_ = trained(optimiser, schedule, 6, lambda f: f, True)
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert new[4:] == [0, 0], new


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", ["CosineAnnealingDecay", "LinearWarmup"])
def test_paddles_schedules_make_few_versions(name, inside):
    rates = paddle.optimizer.lr
    schedule = {"CosineAnnealingDecay": (0.01, 50), "LinearWarmup": (0.01, 8, 0.001, 0.01)}[name]

    def losses(wrap):
        paddle.seed(0)
        net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))
        scheduler = getattr(rates, name)(*schedule)
        optimizer = paddle.optimizer.Momentum(scheduler, parameters=net.parameters())

        @wrap
        def step(x):
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            if inside:
                scheduler.step()
            return loss.detach()

        found = []
        for seed in range(16):
            found.append(step(paddle.to_tensor(numbers((5, 3), seed))).item())
            if not inside:
                scheduler.step()
        return found, scheduler.last_lr

    got, rate = losses(paddle.jit.to_static)
    assert row()["traced"] <= 3, row()
    assert row()["compiled_calls"] >= 8, row()
    want, its_rate = losses(lambda f: f)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert rate == its_rate


def test_scaled_gradients_make_no_segments_of_their_own_at_every_step():
    def losses(wrap):
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        schedule, scaler = schedules.ExponentialLR(optimizer, 0.9), torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)

        @wrap
        def step(x):
            optimizer.zero_grad()
            loss = (net(x) ** 2).mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            return loss.detach()

        found = []
        for seed in range(10):
            found.append(step(torch.tensor(numbers((5, 3), seed))).item())
            counts.append(len(deferred.SEGMENTS))
        return found

    counts = []
    np.testing.assert_allclose(losses(torch.compile), losses(lambda f: f), rtol=1e-5)
    assert counts[9] == counts[3]
