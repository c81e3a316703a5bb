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
