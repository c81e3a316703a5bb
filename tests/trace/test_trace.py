"""Whatever a program does, a trace follows: replayed on other inputs it gives what the program gives on them, state included."""

import numpy as np
import pytest
from traced import trace

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.dialects.paddle import random
from retrograde.dialects.torch.func import grad, hessian, jvp, vmap
from retrograde.dialects.torch.utils.checkpoint import checkpoint

F = torch.nn.functional


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32) + 2


def tensor(shape, seed=0):
    return torch.tensor(numbers(shape, seed))


def bits(x):
    return np.asarray(x).tobytes()


def same(got, want, rtol=2e-6):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


# ------------------------------------------------------------------------------------------ functions of their inputs


def inner_backward(x):
    y = x.detach().requires_grad_()
    (y**3).sum().backward()
    return y.grad


def checkpointed(x):
    y = x.detach().requires_grad_()
    checkpoint(lambda a: torch.sin(a) * a, y, use_reentrant=False).sum().backward()
    return y.grad


def written_views(x):
    y = x * 1
    y[0] = 5
    y[1:].mul_(2)
    y.view(-1)[2] = x[0]
    return y


def created_inside(x):
    z = torch.zeros(3)
    z[1] = x[0]
    z += x
    return z


def recorded_views(x):
    y = x.detach().requires_grad_()
    z = y * 2
    z[1:].mul_(y[:2])
    z[0] = y[2] ** 2
    z.sum().backward()
    return z.detach(), y.grad


PROGRAMS = {
    "product": (lambda x: x * x + 1, (3,)),
    "grad": (grad(lambda x: (x**3).sum()), (3,)),
    "grad of grad": (grad(lambda x: grad(lambda y: (y**3).sum())(x).sum()), (3,)),
    "hessian": (hessian(lambda x: (torch.sin(x) * x).sum()), (3,)),
    "vmap of grad": (vmap(grad(lambda x: (x**3).sum())), (4, 3)),
    "jvp": (lambda x, v: jvp(lambda y: torch.exp(y) * y, (x,), (v,)), (3,), (3,)),
    "inner backward": (inner_backward, (3,)),
    "views written": (written_views, (3,)),
    "views written, recorded": (recorded_views, (3,)),
    "created inside": (created_inside, (3,)),
    "checkpoint": (checkpointed, (3,)),
    "einsum": (lambda x, y: torch.einsum("ij,jk->ik", x, y), (2, 3), (3, 4)),
    "inv": (torch.linalg.inv, (3, 3)),
    "convolution": (F.conv2d, (1, 2, 5, 5), (3, 2, 3, 3)),
    "cross entropy": (lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2, 0])), (4, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_replay_gives_what_the_program_gives(name):
    program, *shapes = PROGRAMS[name]
    replay = trace(program, *map(tensor, shapes))
    others = [numbers(shape, seed) for seed, shape in enumerate(shapes, 1)]
    want = program(*map(torch.tensor, others))
    same(replay(*others), [w._a for w in (want if isinstance(want, tuple) else (want,))])


NATIVE = {
    "grad of grad": rg.grad(lambda x: rg.sum(rg.grad(lambda y: rg.sum(y**3))(x))),
    "hessian": rg.hessian(lambda x: rg.sum(rg.sin(x) * x)),
    "vmap of grad": rg.vmap(rg.grad(lambda x: x**3)),
    "jvp": lambda x: rg.jvp(lambda y: rg.exp(y) * y, (x,), (x,))[1],
    "numpy functions": lambda x: np.sum(np.sin(x) * x),
}


@pytest.mark.parametrize("name", NATIVE)
def test_a_replay_gives_what_the_native_program_gives(name):
    replay = trace(NATIVE[name], rg.asarray(numbers(3)))
    same(replay(numbers(3, 1)), [NATIVE[name](rg.asarray(numbers(3, 1)))._a])


# ------------------------------------------------------------------------------------------ writes to what is outside


def test_a_write_into_a_tensor_from_outside_is_its_new_state():
    outside = torch.zeros(3)

    def program(x):
        outside[1:] += x[1:]
        outside.mul_(2)
        return outside.sum()

    replay = trace(program, tensor(3), state=[outside])
    assert outside.tolist() == [0, 0, 0]
    replay(np.ones(3, np.float32))
    assert outside.tolist() == [0, 2, 2]
    assert replay(np.ones(3, np.float32))[0] == 12
    program(torch.ones(3))
    assert outside.tolist() == [0, 14, 14]


def test_an_error_while_tracing_leaves_the_state_as_it_was():
    outside = torch.zeros(3)

    def program(x):
        outside[1:] += x[1:]
        raise KeyError("halfway")

    with pytest.raises(KeyError):
        trace(program, tensor(3), state=[outside])
    assert outside.tolist() == [0, 0, 0]


def test_running_statistics_are_moved_by_every_replay():
    def layer():
        return torch.nn.BatchNorm1d(3)

    ours, theirs = layer(), layer()
    replay = trace(ours, tensor((4, 3)), state=list(ours.buffers()))
    for seed in range(3):
        x = numbers((4, 3), seed)
        assert bits(replay(x)[0]) == bits(theirs(torch.tensor(x)).detach()._a)
    for a, b in zip(ours.buffers(), theirs.buffers(), strict=True):
        assert bits(a._a) == bits(b._a)
    assert ours.num_batches_tracked == 3


def scrambled(x):
    y = torch.empty(4, 2).t().normal_(1, 2)  # in memory's order, not in that of the axes
    z = torch.empty(17).uniform_(-1, 1)
    return y, z, torch.randperm(5), torch.randint(9, (3,)), torch.bernoulli(x - x + 0.5), torch.normal(x, 2.0)


def rarely_drawn(x):
    rates = x * x + 1
    p = torch.full((3,), 0.25)
    slopes = F.rrelu(-x, training=True)
    return torch.poisson(rates), torch.multinomial(rates, 2), torch.empty(3).bernoulli_(p), slopes, torch._standard_gamma(rates)


def per_entry(x):
    return vmap(lambda row: row + torch.randn(3), randomness="different")(torch.stack([x, x]))


def kept_for_backward(x):
    y = x.detach().requires_grad_()
    checkpoint(lambda a: F.dropout(a, 0.5) * a, y, use_reentrant=False).sum().backward()
    return y.grad


@pytest.mark.parametrize("program", [lambda x: F.dropout(x, 0.5), scrambled, rarely_drawn, per_entry, kept_for_backward])
def test_a_replay_draws_what_the_program_draws_and_goes_on_from_there(program):
    generator, x = torch.default_generator, torch.tensor(numbers(3, 1))
    torch.manual_seed(7)
    before = generator.get_state()
    replay = trace(program, tensor(3), state=[generator])
    assert bits(generator.get_state()._a) == bits(before._a)
    drawn = [replay(x._a) for _ in range(2)]
    after = generator.get_state()
    assert any(bits(a) != bits(b) for a, b in zip(*drawn, strict=True))
    generator.set_state(before)
    for got in drawn:
        want = program(x)
        assert [bits(a) for a in got] == [bits(w._a) for w in (want if isinstance(want, tuple) else (want,))]
    assert bits(generator.get_state()._a) == bits(after._a)


def test_paddles_draws_are_replayed():
    paddle.seed(7)
    generator = random.default_generator

    def program(x):
        y = paddle.nn.functional.dropout(x, 0.5)
        return y, paddle.randn([3]), paddle.empty([3]).uniform_(1, 2), paddle.randint(9, shape=[4]), paddle.randperm(5)

    replay = trace(program, paddle.to_tensor(numbers(6)), state=[generator])
    drawn = [replay(numbers(6, 1)) for _ in range(2)]
    after = bits(generator._a)
    paddle.seed(7)
    for got in drawn:
        assert [bits(a) for a in got] == [bits(w._a) for w in program(paddle.to_tensor(numbers(6, 1)))]
    assert bits(generator._a) == after


def test_mindspores_draws_are_replayed():
    mindspore.set_seed(7)
    generator = mindspore.Generator.default

    def program(x):
        generator.set_state(generator.get_state())
        kept = mindspore.ops.dropout(x, 0.5)
        low, high = mindspore.Tensor(1.0), mindspore.Tensor(2.0)
        return kept, mindspore.ops.randn(3), mindspore.ops.uniform((3,), low, high), mindspore.ops.randint(0, 9, (4,))

    replay = trace(program, mindspore.Tensor(numbers(6)), state=[generator])
    drawn = [replay(numbers(6, 1)) for _ in range(2)]
    after = bits(generator._a)
    mindspore.set_seed(7)
    for got in drawn:
        assert [bits(a) for a in got] == [bits(w._a) for w in program(mindspore.Tensor(numbers(6, 1)))]
    assert bits(generator._a) == after


def test_a_seed_given_inside_is_part_of_the_program():
    def program(x):
        torch.manual_seed(3)
        return x * torch.rand(3)

    replay = trace(program, tensor(3), state=[torch.default_generator])
    x = numbers(3, 1)
    assert bits(replay(x)[0]) == bits(replay(x)[0]) == bits(program(torch.tensor(x))._a)


O = torch.optim
OPTIMISERS = {
    "SGD": lambda p: O.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: O.Adam(p, lr=0.1, amsgrad=True),
    "Adam, rate in a tensor": lambda p: O.Adam(p, lr=torch.tensor(0.1)),
    "AdamW": lambda p: O.AdamW(p, lr=0.1, maximize=True),
    "NAdam": lambda p: O.NAdam(p, lr=0.1),
    "RAdam": lambda p: O.RAdam(p, lr=0.1),
    "Adamax": lambda p: O.Adamax(p, lr=0.1),
    "Adagrad": lambda p: O.Adagrad(p, lr=0.1, lr_decay=0.1),
    "Adadelta": lambda p: O.Adadelta(p, lr=0.1),
    "RMSprop": lambda p: O.RMSprop(p, lr=0.1, momentum=0.9, centered=True),
    "Rprop": lambda p: O.Rprop(p, lr=0.1),
    "Adafactor": lambda p: O.Adafactor(p, lr=0.1),
    "ASGD": lambda p: O.ASGD(p, lr=0.1, t0=2),
}


def training(optimiser):
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(3, 5, bias=False), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 2))
    optimizer = OPTIMISERS[optimiser](net.parameters())

    def step(x):
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    step(torch.tensor(numbers((4, 3))))
    kept = [x for slot in optimizer.state.values() for x in slot.values() if isinstance(x, torch.Tensor)]
    rates = [group["lr"] for group in optimizer.param_groups if isinstance(group["lr"], torch.Tensor)]
    return step, [*net.parameters(), *net.buffers(), *kept, *rates, torch.default_generator]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_step_of_training_is_replayed_with_its_state(optimiser):
    step, state = training(optimiser)
    replay = trace(step, tensor((4, 3)), state=state)
    losses = [replay(numbers((4, 3), seed))[0] for seed in range(3)]
    eager, wanted = training(optimiser)
    for seed, loss in enumerate(losses):
        same([loss], [eager(torch.tensor(numbers((4, 3), seed)))._a], 1e-4)
    same([x._a for x in state], [x._a for x in wanted], 1e-4)
    after = []
    for program in (step, eager):  # and the program goes on from where the replays have ended
        torch.manual_seed(1)
        after.append(program(torch.tensor(numbers((4, 3), 3)))._a)
    same(after[:1], after[1:], 1e-4)


@pytest.mark.parametrize("optimiser", ["SGD", "Adagrad"])
def test_rows_of_a_sparse_gradient_are_changed_by_a_replay(optimiser):
    """A trace, which knows no indices, holds the whole gradient; the step is the same."""
    def training():
        torch.manual_seed(0)
        table = torch.nn.Embedding(5, 3, sparse=True)
        optimizer = getattr(O, optimiser)(table.parameters(), lr=0.1)

        def step(rows):
            (table(rows) ** 2).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            return table.weight.detach()

        step(torch.tensor([0, 2]))
        kept = [x for slot in optimizer.state.values() for x in slot.values() if isinstance(x, torch.Tensor)]
        return step, [table.weight, *kept]

    step, state = training()
    replay = trace(step, torch.tensor([0, 2]), state=state)
    eager, _ = training()
    for rows in ([1, 2], [3, 3]):
        same(replay(np.array(rows)), [eager(torch.tensor(rows))._a])


P = paddle.optimizer
PADDLES = {
    **{name: lambda p, name=name: getattr(P, name)(0.1, parameters=p)
       for name in P.__all__ if name not in ("LBFGS", "Optimizer", "lr")},
    "Adam, AMSGrad and decay": lambda p: P.Adam(0.1, parameters=p, amsgrad=True, weight_decay=0.1),
    "Adam, clipped": lambda p: P.Adam(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)),
    "ASGD of three batches": lambda p: P.ASGD(0.1, 3, parameters=p),
}  # fmt: skip


def paddles_training(name):
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))
    optimizer = PADDLES[name](net.parameters())

    def step(x):
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss.detach()

    step(paddle.to_tensor(numbers((4, 3))))
    kept = [x for slot in optimizer._states.values() for x in slot.values() if isinstance(x, paddle.Tensor)]
    return step, list({id(x): x for x in (*net.parameters(), *kept)}.values()), paddle.to_tensor


M = mindspore.nn
X = mindspore.experimental.optim
MINDSPORES = {
    **{name: lambda p, name=name: getattr(M, name)(p, learning_rate=0.1)
       for name in ("AdaMax", "Adadelta", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay", "ASGD", "FTRL", "Lamb", "LazyAdam",
                    "ProximalAdagrad", "RMSProp", "Rprop", "SGD")},
    **{f"experimental {name}": lambda p, name=name: getattr(X, name)(p, lr=0.1)
       for name in ("ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD")},
    "Adam, AMSGrad": lambda p: M.Adam(p, 0.1, use_amsgrad=True),
    "Momentum": lambda p: M.Momentum(p, 0.1, 0.9),
    "SGD with momentum and decay": lambda p: M.SGD(p, 0.1, 0.9, weight_decay=0.1),
}  # fmt: skip


def tensors_of(cell):
    """The tensors that a cell keeps, also in lists and dictionaries."""
    found = []
    for x in vars(cell).values():
        for y in x if isinstance(x, (list, tuple)) else x.values() if isinstance(x, dict) else [x]:
            found += [z for z in (y.values() if isinstance(y, dict) else [y]) if isinstance(z, mindspore.Tensor)]
    return found


def mindspores_training(name):
    mindspore.set_seed(0)
    np.random.seed(0)
    net = M.SequentialCell(M.Dense(3, 4), M.Tanh(), M.Dense(4, 2))
    optimizer = MINDSPORES[name](net.trainable_params())
    pull = mindspore.value_and_grad(lambda x: (net(x) ** 2).sum(), None, optimizer.parameters)

    def step(x):
        loss, gradients = pull(x)
        optimizer(gradients)
        return loss

    step(mindspore.Tensor(numbers((4, 3))))
    kept = [*net.trainable_params(), *optimizer.get_parameters(), *tensors_of(optimizer)]
    return step, list({id(x): x for x in kept}.values()), mindspore.Tensor


@pytest.mark.parametrize(
    ("training", "name"), [*((paddles_training, n) for n in PADDLES), *((mindspores_training, n) for n in MINDSPORES)]
)
def test_a_step_of_the_other_dialects_optimisers_is_replayed_with_its_state(training, name):
    step, state, as_tensor = training(name)
    replay = trace(step, as_tensor(numbers((4, 3))), state=state)
    losses = [replay(numbers((4, 3), seed))[0] for seed in range(3)]
    eager, wanted, _ = training(name)
    same(losses, [eager(as_tensor(numbers((4, 3), seed)))._a for seed in range(3)], 1e-4)
    same([x._a for x in state], [x._a for x in wanted], 1e-4)
    after = [program(as_tensor(numbers((4, 3), 3)))._a for program in (step, eager)]
    same(after[:1], after[1:], 1e-4)


# ------------------------------------------------------------------------------------------ what cannot be followed


def by_value(x):
    if x.sum() > 0:  # asks for a value
        return x
    return -x


@pytest.mark.parametrize(
    ("program", "line"),
    [(by_value, "if x.sum() > 0"), (lambda x: x.nonzero(), "x.nonzero()"), (lambda x: x[x > 0], "x[x > 0]"),
     (lambda x: x * x.sum().item(), "x.sum().item()"), (lambda x: x * x.tolist()[0], "x.tolist()[0]"),
     (lambda x: torch.unique(x), "torch.unique(x)")],
)  # fmt: skip
def test_what_depends_on_a_value_is_refused_with_the_users_line(program, line):
    with pytest.raises(rg.UnsupportedError) as refused:
        trace(program, tensor(3))
    assert __file__ in str(refused.value)
    assert line in str(refused.value)
