"""torch.utils.checkpoint and saved-tensor hooks: gradients inside, random and autocast state, in-place changes."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.utils import checkpoint as ckpt
from retrograde.dialects.torch.utils.checkpoint import checkpoint

X = [0.3, -0.7, 1.1]


def leaf():
    return torch.tensor(X, requires_grad=True)


INSIDE = {
    "hessian": lambda v: torch.func.hessian(lambda u: u.tanh().sum())(v) @ v,
    "vmap of grad": lambda v: torch.func.vmap(torch.func.grad(lambda u: u.tanh()))(v),
    "grad of grad": lambda v: torch.func.grad(lambda s: torch.func.grad(lambda q: q**3)(s) * s)(v[0]),
    "autograd.grad": lambda v: torch.autograd.grad((v**3).sum(), v, create_graph=True)[0],
    "jacrev": lambda v: torch.func.jacrev(lambda u: u.tanh())(v) @ v,
}


@pytest.mark.parametrize("name", INSIDE)
def test_gradients_inside(name):
    x = leaf()
    (wanted,) = torch.autograd.grad(INSIDE[name](x).sum(), x)
    (found,) = torch.autograd.grad(checkpoint(INSIDE[name], x, use_reentrant=False).sum(), x)
    assert torch.allclose(found, wanted)
    checkpoint(INSIDE[name], x, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, wanted)


def test_a_reentrant_checkpoint_is_one_node_whose_backward_begins_a_pass():
    x, w, calls = leaf(), torch.tensor(2.0, requires_grad=True), []

    def f(v, k):
        calls.append(torch.is_grad_enabled())
        return torch.nn.functional.dropout(v.sin() * w), k, None

    torch.manual_seed(0)
    with pytest.warns(UserWarning, match="use_reentrant"):
        y, k, nothing = checkpoint(f, x, 3)
    assert (type(y.grad_fn).__name__, k, nothing) == ("CheckpointFunctionBackward", 3, None)
    y.sum().backward(retain_graph=True)
    assert calls == [False, True]
    kept = y.detach() / (2 * x.detach().sin())
    assert torch.allclose(x.grad, 2 * x.detach().cos() * kept), "the numbers drawn are those of the first call"
    assert torch.allclose(w.grad, (x.detach().sin() * kept).sum())
    for other in (lambda: torch.autograd.grad(y.sum(), x), lambda: y.sum().backward(inputs=[x])):
        with pytest.raises(RuntimeError, match="use_reentrant=False"):
            other()
    with pytest.warns(UserWarning, match="no input requires grad"):
        z = checkpoint(lambda v: v * w, torch.ones(1), use_reentrant=True)
    assert not z.requires_grad


def test_a_region_and_a_stream_that_have_ended():
    net, x = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(), torch.nn.Linear(3, 1)), torch.ones(4, 3)
    found = []
    for call in (net, lambda x: checkpoint(net, x, use_reentrant=False)):
        torch.manual_seed(0)
        net.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = call(x)
        torch.rand(3)
        y.float().sum().backward()
        found.append([p.grad for p in net.parameters()] + [torch.rand(2)])
    assert all(map(torch.equal, *found))


def test_a_custom_function_inside():
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.sin()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()

    x = leaf()
    checkpoint(lambda v: torch.func.grad(lambda u: (Sine.apply(u) * u).sum())(v) * v, x, use_reentrant=False).sum().backward()
    with torch.no_grad():
        assert torch.allclose(x.grad, x.sin() + 3 * x * x.cos() - x * x * x.sin())


WRITTEN = {
    "mul_": lambda y, w: y.mul_(w),
    "sin_": lambda y, w: y.sin_(),
    "exp_": lambda y, w: y.exp_(),
    "relu_": lambda y, w: y.relu_(),
    "*=": lambda y, w: y.__imul__(w),
    "y[0] =": lambda y, w: y.__setitem__(0, w[0] * w[1]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_saved_values_of_what_is_overwritten(name):
    """Hooks are given what the derivative needs, not the memory that is about to be written."""

    def f(x, w):
        y = x.sin()
        WRITTEN[name](y, w)
        return (y * y).sum()

    ways = {
        "plain": f,
        "hooks": lambda x, w: hooked(f, x, w),
        "checkpoint": lambda x, w: checkpoint(f, x, w, use_reentrant=False),
    }

    def hooked(f, x, w):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return f(x, w)

    found = {}
    for way, call in ways.items():
        x, w = leaf(), torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
        found[way] = torch.autograd.grad(call(x, w), (x, w), allow_unused=True)
    for way in ("hooks", "checkpoint"):
        for have, wanted in zip(found[way], found["plain"]):
            assert (have is None) == (wanted is None)
            assert wanted is None or torch.equal(have, wanted)


def test_its_own_other_operand_overwritten():
    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.sin()
        y.mul_(y)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.sum().backward()


@pytest.mark.parametrize("reentrant", [False, True])
def test_an_argument_that_was_written_since(reentrant: bool):
    x = leaf()
    y = x * 2
    z = checkpoint(lambda y: x * y, y, use_reentrant=reentrant)
    y[0] = 5.0
    with pytest.raises(RuntimeError, match="changed in place"):
        z.sum().backward()
    assert x.grad is None


def test_a_function_inside_a_checkpoint_is_given_the_tensors_that_it_saved():
    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            found.append(ctx.saved_tensors[0])
            return g, None

    found, other = [], torch.ones(1)
    checkpoint(First.apply, leaf(), other, use_reentrant=False).sum().backward()
    First.apply(leaf(), other).sum().backward()
    assert found[0] is found[1] is other


def selective(chosen, function, *tensors, **options):
    """Result and gradients of a selective checkpoint, and how often each kernel ran in the backward pass."""
    inputs = [t.clone().requires_grad_() for t in tensors]
    out = ckpt.checkpoint(
        function, *inputs, use_reentrant=False,
        context_fn=lambda: ckpt.create_selective_checkpoint_contexts(chosen, **options),
    )  # fmt: skip
    with torch.profiler.profile() as found:
        out.sum().backward()
    names = [e.name for e in found.events()]
    return out, [x.grad for x in inputs], names


ATEN = torch.ops.aten
A, W = torch.arange(4.0).reshape(2, 2) / 3, torch.full((2, 2), 0.5)


def products(x, w):
    return torch.sigmoid(x.sin() @ w).cos() @ w


def test_chosen_results_are_kept_and_the_others_computed_again():
    wanted = [t.clone().requires_grad_() for t in (A, W)]
    products(*wanted).sum().backward()
    keep, again = ckpt.CheckpointPolicy.MUST_SAVE, ckpt.CheckpointPolicy.PREFER_RECOMPUTE
    told = []

    def policy(ctx, op, *args):
        told.append((ctx.is_recompute, str(op)))
        return keep if op is ATEN.mm.default else again

    counts = {}
    for name, chosen in {"list": [ATEN.mm.default], "policy": policy, "truths": lambda ctx, op, *args: op is ATEN.mm.default,
                         "nothing": [], "all": lambda *args: keep}.items():  # fmt: skip
        _, grads, names = selective(chosen, products, A, W)
        assert all(torch.equal(g, x.grad) for g, x in zip(grads, wanted)), name
        counts[name] = names.count("aten::sin"), names.count("aten::matmul")
    assert told == [(False, f"aten.{op}.default") for op in ("sin", "mm", "sigmoid", "cos", "mm")]
    assert counts["list"] == counts["policy"] == counts["truths"]
    sines, found = zip(*(counts[name] for name in ("nothing", "list", "all")))
    assert sines[0] == sines[1] > sines[2]
    assert found[0] > found[1] == found[2]
    assert ATEN.mm.default is torch.ops.aten.mm.default
    add = ATEN.add.Tensor
    assert (str(add), add.name(), ATEN.mm.default.name()) == ("aten.add.Tensor", "aten::add.Tensor", "aten::mm")


def test_a_kept_result_that_is_written_and_a_second_pass_are_refused():
    def writes(x, w):
        y = x @ w
        z = y.sin()
        y.mul_(2)
        return z

    with pytest.raises(RuntimeError, match="changed in place"):
        selective([ATEN.mm.default], writes, A, W)
    selective([ATEN.mm.default], writes, A, W, allow_cache_entry_mutation=True)
    x = A.clone().requires_grad_()
    keep = lambda: ckpt.create_selective_checkpoint_contexts([ATEN.mm.default])  # noqa: E731
    out = ckpt.checkpoint(lambda x: (x @ W).exp(), x, use_reentrant=False, context_fn=keep).sum()
    out.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once only"):
        out.backward()
    for bad, error in (([ATEN.mm], ValueError), ([torch.mm], ValueError), (3, TypeError)):
        with pytest.raises(error, match="create_selective_checkpoint_contexts"):
            ckpt.create_selective_checkpoint_contexts(bad)
    with pytest.raises(ValueError, match="context_fn"):
        ckpt.checkpoint(products, A, W, use_reentrant=True, context_fn=keep)


def test_sequences_in_parts():
    net, x = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)), A.clone().requires_grad_()
    for parts in (1, 2, 3):
        with pytest.warns(UserWarning, match="checkpoint_sequential") as seen:
            ckpt.checkpoint_sequential(net, parts, x)
        assert len(seen) == 1
        assert torch.equal(ckpt.checkpoint_sequential(net, parts, x, use_reentrant=False), net(x))
    bad = ({"segments": 4}, ValueError), ({"segments": 0}, ZeroDivisionError), ({"segments": 2, "k": 1}, ValueError)
    for options, error in bad:
        with pytest.raises(error):
            ckpt.checkpoint_sequential(net, input=x, use_reentrant=False, **options)
