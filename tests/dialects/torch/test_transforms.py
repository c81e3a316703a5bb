"""`torch.func`: changes in place inside transforms, what they accept, and what is refused in them; as PyTorch 2.13 has it."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = torch.tensor([1.0, 2.0, 3.0])


def test_a_change_of_an_argument_is_seen_outside():
    a = torch.zeros(2, 3)
    assert vmap(lambda x: x.mul_(2).add_(1))(a).tolist() == a.tolist() == [[1, 1, 1]] * 2
    b = torch.zeros(3, 4)
    vmap(lambda x: x[0].add_(1), in_dims=1, chunk_size=3)(b)
    assert b.tolist() == [[1] * 4, [0] * 4, [0] * 4]
    c = torch.ones(3)
    assert jvp(lambda x: x.mul_(2), (c,), (torch.ones(3),))[1].tolist() == c.tolist() == [2, 2, 2]
    d = torch.ones(2)
    assert jacfwd(lambda x: x.mul_(2))(d).tolist() == [[2, 0], [0, 2]]
    assert d.tolist() == [2, 2]
    e, f = torch.ones(2), torch.ones(2)
    jacfwd(lambda x, y: x.mul_(2) + y.add_(1), (0, 1))(e, f)
    assert (e.tolist(), f.tolist()) == ([2, 2], [2, 2])


def test_a_change_of_an_argument_of_two_transforms_is_seen_outside():
    x, xt, y, yt = (torch.randn(3, 2) for _ in range(4))
    _, t = vmap(lambda x, xt, y, yt: jvp(lambda x, y: x.copy_(y), (x, y), (xt, yt)), in_dims=1)(x, xt, y, yt)
    assert torch.equal(t, yt.mT)
    assert torch.equal(x, y)


def test_the_change_is_part_of_the_argument_s_history():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    vmap(lambda row: row.mul_(5))(y)
    y.sum().backward()
    assert x.grad.tolist() == [[5] * 3] * 2


@pytest.mark.parametrize("transform", [grad, jacrev, lambda f: lambda x: vjp(f, x)])
def test_reverse_mode_refuses_to_change_its_argument(transform):
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="in place"):
        transform(lambda x: x.mul_(2).sum())(x)
    assert x.tolist() == [1, 1, 1]


def test_derivatives_are_taken_by_tensors():
    for f in (lambda x: grad(torch.sin)(x), lambda x: vjp(torch.sin, x), lambda x: jacrev(torch.sin)(x),
              lambda x: hessian(torch.sin)(x)):  # fmt: skip
        with pytest.raises(ValueError, match="by tensors"):
            f(3.0)
    with pytest.raises(RuntimeError, match="by tensors"):
        jvp(torch.sin, (3.0,), (X,))
    for transform in (grad, jacrev):
        with pytest.raises(RuntimeError, match="floating"):
            transform(torch.sum)(torch.tensor([1, 2]))


BAD = {
    "an argument twice": lambda: grad(torch.mul, argnums=(0, 0))(X[0], X[0]),
    "a list in place of a pair": lambda: grad(lambda t: [t, t], has_aux=True)(X[0]),
    "beside the output a number": lambda: grad(lambda t: (t.sum(), 1), has_aux=True)(X),
    "no result of vjp": lambda: vjp(lambda _: None, X),
    "cotangents of another structure": lambda: vjp(lambda x: (x, (x, x)), X)[1](((X, (X, X)),)),
    "an empty result": lambda: jacrev(lambda x: ())(X),
    "a number as result": lambda: jacrev(lambda x: 1)(X),
    "no primals": lambda: jvp(torch.sin, (), ()),
    "no result of jvp": lambda: jvp(lambda x: None, (X,), (X,)),
    "a constant with strict": lambda: jvp(lambda x: (x, torch.ones(1)), (X,), (X,), strict=True),
    "requires_grad_ inside": lambda: grad(lambda x: x.requires_grad_().sin().sum())(X),
    "backward inside": lambda: grad(lambda x: [(x * x).sum().backward(), x.sum()][1])(X),
    "retain_grad inside": lambda: grad(lambda x: [y := x.sin(), y.retain_grad()][0].sum())(X),
    "the tape's jacobian inside": lambda: grad(lambda x: torch.autograd.functional.jacobian(torch.sin, x).sum())(X),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_is_a_runtime_error(name):
    with pytest.raises(RuntimeError):
        BAD[name]()


def test_the_tape_s_jacobian_goes_on_where_it_is_asked_to():
    f = lambda x: torch.autograd.functional.jacobian(torch.sin, x, create_graph=True).sum()  # noqa: E731
    assert torch.allclose(grad(f)(X), -torch.sin(X))


def test_strict_products_depend_on_their_inputs():
    from retrograde.dialects.torch.autograd import functional

    for product in (functional.vjp, functional.jvp):
        with pytest.raises(RuntimeError, match="strict"):
            product(lambda x: x.clone(), X, X, create_graph=True, strict=True)
        assert product(lambda x: x**2, X, X, create_graph=True, strict=True)[1].requires_grad


def test_a_value_outlives_its_transform_as_a_constant():
    kept = []
    grad(lambda x: (kept.append(x.sin()), x.sin())[1])(X[0])
    y = torch.ones(1, requires_grad=True)
    assert torch.allclose(kept[0] * 2 + y, 2 * X[0].sin() + 1)
    (kept[0] * y).sum().backward()
    assert torch.allclose(y.grad, X[0].sin())


def test_modules_that_want_gradients_for_other_parameters_are_not_stacked():
    models = [torch.nn.Linear(1, 1) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match="weight"):
        torch.func.stack_module_state(models)


def test_what_vmap_maps_and_gets_are_tensors():
    with pytest.raises(ValueError, match="argument 1"):
        vmap(torch.mul)(X, 3.0)
    assert vmap(torch.mul, in_dims=(0, None))(X, 3.0).tolist() == [3, 6, 9]
    with pytest.raises(ValueError, match="NoneType"):
        vmap(lambda x: None)(X)


@pytest.mark.parametrize(
    ("dims", "args"),
    [([0], (X,)), ("0", (X,)), (None, (X,)), ((0,), (X, X)), (((0,), 0), ([X], X)), (((0, 0), None), ((X, 3), 1)),
     (({"a": 0},), ({"b": X},)), ((0, 0), (X, 1))],
)  # fmt: skip
def test_in_dims_say_one_dimension_for_each_tensor(dims, args):
    with pytest.raises(ValueError, match="in_dims"):
        vmap(lambda *given: X, in_dims=dims)(*args)
    assert vmap(lambda pair, k: pair[0] * k, in_dims=((0, None), None))((X, 3), 2).tolist() == [2, 4, 6]


def test_the_chunks_of_a_batch_share_the_random_numbers_that_all_entries_share():
    drawn = vmap(lambda x: x * torch.rand(()), randomness="same", chunk_size=2)(torch.ones(5))
    assert torch.equal(drawn, drawn[:1].expand(5))
    with pytest.raises(TypeError, match="chunk_size"):
        vmap(torch.sin, chunk_size=1.5)


def test_randomness_holds_for_permutations_and_for_what_is_drawn_in_place():
    for f in (lambda x: torch.randperm(3), lambda x: x.clone().uniform_(), lambda x: x.new_ones(2).normal_(),
              lambda x: x.clone().bernoulli_()):  # fmt: skip
        with pytest.raises(RuntimeError, match="randomness"):
            vmap(f)(X)
    torch.manual_seed(1)
    expected = torch.stack([torch.randperm(4) for _ in range(3)])
    torch.manual_seed(1)
    assert torch.equal(vmap(lambda x: torch.randperm(4), randomness="different")(X), expected)
    filled = vmap(lambda x: x.clone().uniform_(), randomness="different")(X)
    assert len(set(filled.tolist())) == 3
    shared = torch.zeros(2)
    with pytest.raises(RuntimeError, match="share"):
        vmap(lambda x: shared.normal_() * x, randomness="different")(X)


def test_strides_are_those_of_the_memory_also_inside_transforms():
    seen = []

    def look(x):
        seen.append((x.stride(), x.storage_offset(), x.is_contiguous()))
        return x

    vmap(look, in_dims=1)(torch.ones(2, 3, 4))
    vmap(look)(torch.ones(2, 3, 4)[1:])
    grad(lambda x: look(x).sum())(torch.ones(2, 3).T)
    assert seen == [((12, 1), 0, False), ((4, 1), 12, True), ((1, 3), 0, False)]
    with pytest.raises(RuntimeError, match="format"):
        vmap(lambda x: x.is_contiguous(memory_format=torch.channels_last))(torch.ones(2, 1, 1, 1, 1))
    assert vmap(lambda x: x.view(torch.int32))(torch.zeros(2, 3)).tolist() == [[0] * 3] * 2


def test_values_of_transforms_say_where_they_are():
    shown = []
    vmap(lambda x: shown.append(repr(x)) or x, in_dims=1)(torch.ones(1, 2))
    grad(lambda x: grad(lambda y: shown.append(str(y)) or x * y)(x))(torch.tensor(2.0))
    jvp(lambda x: shown.append(repr(x)) or x, (X,), (X,))
    assert shown == [
        "BatchedTensor(lvl=1, bdim=1, value=\n    tensor([[1., 1.]])\n)",
        "GradTrackingTensor(lvl=2, value=\n    GradTrackingTensor(lvl=1, value=\n        tensor(2.)\n    )\n)",
        "GradTrackingTensor(lvl=1, value=\n    tensor([1., 2., 3.])\n)",
    ]


def test_what_is_returned_beside_the_output_has_no_holes():
    for f in (grad, jacrev, jacfwd):
        with pytest.raises(RuntimeError, match="beside"):
            f(lambda x: (x.sum(), None), has_aux=True)(X)
    with pytest.raises(RuntimeError, match="integers"):
        jacrev(lambda x: (x.long(), x))(X)
    with pytest.raises(RuntimeError, match="complex"):
        jacrev(torch.abs)(torch.ones(2, dtype=torch.complex64))
    assert vmap(lambda x: ())(X) == ()


def test_the_derivative_that_linearize_gives_checks_its_tangents():
    _, derivative = torch.func.linearize(torch.sin, X)
    assert torch.allclose(derivative(2 * X), 2 * X * torch.cos(X))
    for wrong in ((X[:2],), (X.double(),), (), (X, X), ({"a": X},)):
        with pytest.raises(RuntimeError, match="tangent"):
            derivative(*wrong)
    with pytest.raises(RuntimeError, match="tensors"):
        torch.func.linearize(lambda x: 1.0, X)
    with pytest.raises(RuntimeError, match="remove"):
        torch.func.functionalize(torch.sin, remove="views")


def test_hooks_on_saved_tensors_are_refused_where_a_transform_saves():
    def hooked(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return x.sin().sum()

    for transform in (grad, jacrev, hessian):
        with pytest.raises(RuntimeError, match="saved_tensors_hooks"):
            transform(hooked)(X)
    assert torch.equal(jvp(hooked, (X,), (X,))[1], (X * X.cos()).sum())


def test_a_module_is_called_with_tied_and_with_computed_parameters():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = torch.nn.Parameter(torch.ones(1))
            self.scale = 2.0

        def forward(self, x):
            return self.a * x + self.b

    call, net, one = torch.func.functional_call, Tied(), torch.ones(1)
    assert call(net, {"a": 3 * one}, one, strict=True).item() == 6
    with pytest.raises(ValueError, match="'b'"):
        call(net, {"a": one, "b": 2 * one}, one)
    with pytest.raises(TypeError, match="float"):
        call(net, {"scale": one}, one)
    with pytest.raises(KeyError):
        call(net, {"": one}, one)
    normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="computed"):
        call(normed, {"weight": torch.ones(1, 1)}, one)


def test_what_a_call_puts_into_a_buffer_s_place_is_in_the_dict():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count = self.count + x
            return self.count

    net, given = Counter(), {"count": torch.tensor([5.0])}
    torch.func.functional_call(net, given, torch.ones(1))
    assert (given["count"].item(), net.count.item()) == (6, 0)


@pytest.mark.parametrize(
    "draw",
    [lambda x: torch.rand(2), lambda x: torch.randperm(5), lambda x: torch.normal(x, 1.0), lambda x: torch.poisson(x),
     lambda x: torch.multinomial(x, 2), lambda x: x.clone().normal_(), lambda x: torch.bernoulli(x / 4),
     lambda x: torch.distributions.Normal(x, 1.0).sample(), lambda x: x.clone().bernoulli_(x / 4)],
)  # fmt: skip
def test_the_entries_of_nested_batches_all_draw_numbers_of_their_own(draw):
    x = X.expand(4, 5, 3)
    once = vmap(draw, randomness="different")(x[0])
    torch.manual_seed(0)
    all_of = vmap(vmap(draw, randomness="different"), randomness="different")(x)
    assert all_of.shape == (4, *once.shape)
    assert len({tuple(row) for row in all_of.flatten(0, 1).tolist()}) > 5, "no row of the outer batch is like the others"
    torch.manual_seed(0)
    flat = vmap(draw, randomness="different")(x.reshape(20, 3))
    assert torch.equal(all_of.flatten(0, 1), flat)
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(vmap(draw, randomness="different"))(x)


def test_slopes_are_not_drawn_under_vmap():
    for randomness in ("error", "same", "different"):
        with pytest.raises(RuntimeError, match="vmap"):
            vmap(lambda x: torch.nn.functional.rrelu(X, training=True) * x, randomness=randomness)(X)


def test_what_is_under_a_value_of_a_transform():
    seen, x = [], torch.ones(2, 3)

    def look(t):
        seen.append((torch.func.debug_unwrap(t).shape, torch.func.debug_unwrap(t, recurse=False).shape))
        return t.sum()

    vmap(look)(x)
    vmap(vmap(look))(torch.ones(2, 3, 4))
    vmap(grad(look))(x)
    assert seen == [((2, 3), (2, 3)), ((2, 3, 4), (3, 4)), ((2, 3), (3,))]
    assert torch.func.debug_unwrap(x) is x
    with pytest.raises(TypeError):
        torch.func.debug_unwrap(1)
