"""Functional transforms: nested in any order, over containers, with values of outer levels in closures."""

import functools
import itertools
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrograde as rg

Pair = namedtuple("Pair", "x y")


def close(x: Any, y: Any, rtol: float = 1e-9) -> None:
    x = x.numpy() if isinstance(x, rg.Tensor) else x
    y = y.numpy() if isinstance(y, rg.Tensor) else y
    np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-12)


# ------------------------------------------------------------------------------------------ derivatives of one variable


def derivative_reverse(f: Callable[..., Any]) -> Callable[..., Any]:
    return rg.grad(f)


def derivative_forward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: rg.jvp(f, (x,), (rg.ones_like(rg.asarray(x)),))[1]


def derivative_jacrev(f: Callable[..., Any]) -> Callable[..., Any]:
    return rg.jacrev(f)


def derivative_jacfwd(f: Callable[..., Any]) -> Callable[..., Any]:
    return rg.jacfwd(f)


def derivative_linearized(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: rg.linearize(f, x)[1](rg.ones_like(rg.asarray(x)))


def derivative_pullback(f: Callable[..., Any]) -> Callable[..., Any]:
    def derivative(x: Any) -> Any:
        y, pullback = rg.vjp(f, x)
        return pullback(rg.ones_like(y))[0]

    return derivative


def derivative_value_and_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: rg.value_and_grad(f)(x)[1]


def derivative_checkpointed(f: Callable[..., Any]) -> Callable[..., Any]:
    return rg.grad(rg.checkpoint(f))


def derivative_mapped(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: rg.vmap(rg.grad(f))(rg.expand_dims(rg.asarray(x), 0))[0]


WAYS = [
    derivative_reverse, derivative_forward, derivative_jacrev, derivative_jacfwd, derivative_linearized,
    derivative_pullback, derivative_value_and_grad, derivative_mapped,
]  # fmt: skip


@pytest.mark.parametrize(
    "ways", list(itertools.product(WAYS, WAYS)), ids=lambda w: "-".join(f.__name__[11:] for f in w)
)
def test_second_derivatives_by_any_two(ways: Any) -> None:
    f = functools.reduce(lambda g, way: way(g), ways, lambda x: rg.sin(x) * x * x)
    x = 0.7
    close(f(rg.asarray(x)), 2 * math.sin(x) + 4 * x * math.cos(x) - x * x * math.sin(x))


@pytest.mark.parametrize("ways", [(a, b, c) for a, b, c in itertools.product(WAYS[:4], repeat=3)],
                         ids=lambda w: "-".join(f.__name__[11:] for f in w))  # fmt: skip
def test_third_derivatives(ways: Any) -> None:
    f = functools.reduce(lambda g, way: way(g), ways, lambda x: x**4 / (1 + x))
    x = 0.5
    # x^4/(1+x) = x^3 - x^2 + x - 1 + 1/(1+x)
    close(f(rg.asarray(x)), 6 - 6 / (1 + x) ** 4)


@pytest.mark.parametrize("way", [*WAYS, derivative_checkpointed])
def test_mapped_derivatives(way: Any) -> None:
    x = np.linspace(-1, 1, 5)
    close(rg.vmap(way(lambda t: rg.exp(t) * t))(x), np.exp(x) * (1 + x))
    close(rg.vmap(way(way(lambda t: rg.exp(t) * t)))(x), np.exp(x) * (2 + x))


def test_checkpoint_under_grad_of_grad() -> None:
    f = rg.grad(rg.grad(rg.checkpoint(lambda x: rg.sin(x) * x)))
    close(f(0.3), 2 * math.cos(0.3) - 0.3 * math.sin(0.3))


# ------------------------------------------------------------------------------------------ nesting with closures


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_perturbation_confusion(outer: Any, inner: Any) -> None:
    """d/dx (x * d/dy (x + y)) = 1, where a confused derivative gives 2 (Siskind and Pearlmutter 2005)."""
    close(outer(lambda x: x * inner(lambda y: x + y)(rg.asarray(1.0)))(rg.asarray(1.0)), 1.0)
    # d/dx [ x * (d/dy (x * y))|y=2 ] = d/dx x^2
    close(outer(lambda x: x * inner(lambda y: x * y)(rg.asarray(2.0)))(rg.asarray(3.0)), 6.0)


@pytest.mark.parametrize("outer", WAYS)
def test_outer_value_in_an_inner_map(outer: Any) -> None:
    ys = rg.asarray([1.0, 2.0, 3.0])
    close(outer(lambda x: rg.vmap(lambda y: x * x * y)(ys).sum())(rg.asarray(2.0)), 24.0)
    close(outer(lambda x: rg.sum(rg.vmap(rg.grad(lambda y: x * y * y))(ys)))(rg.asarray(2.0)), 12.0)


def test_map_of_map() -> None:
    x, y = np.arange(3.0), np.arange(4.0)
    f = rg.vmap(rg.vmap(lambda a, b: a * 10 + b, in_axes=(None, 0)), in_axes=(0, None))
    close(f(x, y), x[:, None] * 10 + y)
    g = rg.vmap(rg.vmap(rg.grad(lambda a, b: a * a * b), in_axes=(None, 0)), in_axes=(0, None))
    close(g(x, y), 2 * x[:, None] * y)


def test_hessian_of_a_map_and_map_of_a_hessian() -> None:
    x = np.array([[0.1, 0.5], [1.0, -1.0]])

    def f(v: Any) -> Any:
        return rg.sin(v[0]) * v[1] ** 2

    expected = np.stack([
        [[-math.sin(a) * b * b, 2 * math.cos(a) * b], [2 * math.cos(a) * b, 2 * math.sin(a)]]
        for a, b in x])  # fmt: skip
    close(rg.vmap(rg.hessian(f))(x), expected)
    whole = rg.hessian(lambda m: rg.vmap(f)(m).sum())(x)
    close(rg.stack([whole[i, :, i] for i in range(2)]), expected)
    for a, b in itertools.product((rg.jacrev, rg.jacfwd), repeat=2):
        close(rg.vmap(a(b(f)))(x), expected)
    close(rg.vmap(lambda v, t: rg.hvp(f, (v,), (t,)))(x, np.ones((2, 2))), expected.sum(-1))


def test_the_tape_around_a_transform() -> None:
    w = rg.asarray(2.0, requires_grad=True)
    inner = rg.grad(lambda x: w * x * x)(3.0)
    inner.backward()
    close(w.grad, 6.0)
    v = rg.asarray(1.5, requires_grad=True)
    _, pushed = rg.jvp(lambda x: rg.sin(x * v), (rg.asarray(1.0),), (rg.asarray(1.0),))
    pushed.backward()
    close(v.grad, math.cos(1.5) - 1.5 * math.sin(1.5))
    u = rg.asarray([1.0, 2.0], requires_grad=True)
    rg.vmap(lambda x: (x * u).sum())(np.ones((3, 2))).sum().backward()
    close(u.grad, [3.0, 3.0])


def test_the_tape_inside_a_transform() -> None:
    def f(x: Any) -> Any:
        y = rg.asarray(3.0, requires_grad=True)
        (g,) = rg.autograd.grad(x * y * y, y, create_graph=True)
        return g * x  # 2 x y x

    close(rg.grad(f)(2.0), 24.0)


def test_levels_of_no_grad() -> None:
    def f(x: Any) -> Any:
        with rg.no_grad():
            c = x * x
        return c * x

    close(rg.grad(f)(3.0), 9.0)
    x = rg.asarray(3.0, requires_grad=True)
    with rg.no_grad():
        g = rg.grad(lambda y: y * y)(x)
    assert not g.requires_grad
    close(g, 6.0)


# ------------------------------------------------------------------------------------------ values that leak


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: rg.grad(f)(1.0), lambda f: rg.jvp(f, (rg.asarray(1.0),), (rg.asarray(1.0),)),
        lambda f: rg.vmap(f)(rg.ones(3)), lambda f: rg.jacrev(f)(rg.asarray(1.0)),
        lambda f: rg.hessian(f)(rg.asarray(1.0)),
    ],
)  # fmt: skip
def test_leaked_values_say_where_they_come_from(transform: Any) -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x)
        return x * x

    transform(f)
    with pytest.raises(rg.LevelError, match="was created inside|created inside") as found:
        kept[-1] * 2
    assert "return" in str(found.value)
    with pytest.raises(rg.LevelError):
        rg.asarray(1.0) + kept[-1]


def test_writing_into_what_is_outside_is_refused() -> None:
    outside = rg.zeros(3)

    def f(x: Any) -> Any:
        outside[0] = x
        return x

    for transform in (rg.grad(f), lambda x: rg.jvp(f, (x,), (rg.asarray(1.0),)), lambda x: rg.vmap(f)(x[None])):
        with pytest.raises(rg.LevelError, match="outside"):
            transform(rg.asarray(1.0))
    close(outside, np.zeros(3))


def test_writing_into_what_was_created_inside() -> None:
    def f(x: Any) -> Any:
        out = rg.zeros(3)
        out[1] = x * x
        out[2:] = x
        out *= 2
        return out.sum()

    close(rg.grad(f)(3.0), 14.0)
    close(rg.jvp(f, (rg.asarray(3.0),), (rg.asarray(1.0),))[1], 14.0)
    close(rg.vmap(f)(np.array([1.0, 3.0])), [4.0, 24.0])
    close(rg.vmap(rg.grad(f))(np.array([1.0, 3.0])), [6.0, 14.0])
    close(rg.grad(rg.grad(f))(3.0), 4.0)


# ------------------------------------------------------------------------------------------ arguments and containers


def test_argnums() -> None:
    def f(x: Any, y: Any, z: Any = 1.0) -> Any:
        return x * y * y * z

    close(rg.grad(f)(2.0, 3.0), 9.0)
    close(rg.grad(f, argnums=1)(2.0, 3.0), 12.0)
    close(rg.grad(f, argnums=-1)(2.0, 3.0, 5.0), 18.0)
    both = rg.grad(f, argnums=(1, 0))(2.0, 3.0, z=2.0)
    assert isinstance(both, tuple)
    close(both[0], 24.0)
    close(both[1], 18.0)
    for transform in (rg.grad, rg.value_and_grad, rg.jacrev, rg.jacfwd):
        with pytest.raises(ValueError, match="argnums"):
            transform(f, argnums=3)(1.0, 2.0)
        with pytest.raises(ValueError, match="twice"):
            transform(f, argnums=(0, 0))(1.0, 2.0)


def test_containers() -> None:
    params = {"w": np.array([1.0, 2.0]), "layers": [(np.array(3.0), None), Pair(np.array(4.0), {"k": np.array(5.0)})]}

    def f(p: Any) -> Any:
        return (p["w"] ** 2).sum() * p["layers"][0][0] * p["layers"][1].x * p["layers"][1].y["k"]

    g = rg.grad(f)(params)
    close(g["w"], 2 * params["w"] * 60)
    assert g["layers"][0][1] is None
    assert type(g["layers"][1]) is Pair
    close(g["layers"][1].y["k"], 5.0 * 12)
    _, pullback = rg.vjp(f, params)
    close(pullback(rg.ones(()))[0]["layers"][1].x, 5.0 * 15)
    ones = {"w": np.ones(2), "layers": [(np.array(0.0), None), Pair(np.array(0.0), {"k": np.array(0.0)})]}
    close(rg.jvp(f, (params,), (ones,))[1], 360.0)
    hessian = rg.hessian(lambda p: (p["a"] * p["b"]).sum())({"a": np.ones(2), "b": np.ones(2)})
    close(hessian["a"]["b"], np.eye(2))
    close(hessian["a"]["a"], np.zeros((2, 2)))


def test_containers_under_vmap() -> None:
    def f(p: Any, t: Any) -> Any:
        return {"sum": p["a"] + p["b"], "pair": (p["a"] * t, p["b"])}

    out = rg.vmap(f, in_axes=({"a": 0, "b": None}, None))({"a": np.arange(3.0), "b": np.array(1.0)}, 2.0)
    close(out["sum"], np.arange(3.0) + 1)
    close(out["pair"][1], np.ones(3))
    transposed = rg.vmap(lambda x: x * 2, in_axes=1, out_axes=-1)(np.arange(6.0).reshape(2, 3))
    close(transposed, np.arange(6.0).reshape(2, 3) * 2)
    close(rg.vmap(lambda x: x.sum(), chunk_size=2)(np.arange(10.0).reshape(5, 2)), np.arange(10.0).reshape(5, 2).sum(1))
    with pytest.raises(ValueError, match="lengths"):
        rg.vmap(lambda x, y: x + y)(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="no argument is mapped"):
        rg.vmap(lambda x: x, in_axes=None)(np.ones(2))
    with pytest.raises(ValueError, match="axis 1"):
        rg.vmap(lambda x: x, in_axes=1)(np.ones(2))


def test_has_aux() -> None:
    def f(x: Any) -> Any:
        return x * x, {"kept": x + 1, "text": "as it is"}

    g, aux = rg.grad(f, has_aux=True)(3.0)
    close(g, 6.0)
    close(aux["kept"], 4.0)
    close(aux["kept"] * 2, 8.0)  # no value of the level that has closed
    assert aux["text"] == "as it is"
    (y, _), g = rg.value_and_grad(f, has_aux=True)(3.0)
    close(y, 9.0)
    for jacobian in (rg.jacrev, rg.jacfwd):
        g, aux = jacobian(f, has_aux=True)(rg.asarray(3.0))
        close(g, 6.0)
        close(aux["kept"], 4.0)
    y, pullback, aux = rg.vjp(f, 3.0, has_aux=True)
    close(pullback(1.0)[0], 6.0)
    y, t, aux = rg.jvp(f, (3.0,), (1.0,), has_aux=True)
    close(t, 6.0)
    close(aux["kept"] + 1, 5.0)
    with pytest.raises(TypeError, match="pair"):
        rg.grad(lambda x: x, has_aux=True)(1.0)


def test_bad_functions_and_arguments() -> None:
    with pytest.raises(rg.GradError, match="0-d"):
        rg.grad(lambda x: x)(rg.ones(2))
    with pytest.raises(rg.GradError, match="complex"):
        rg.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(TypeError, match="int64"):
        rg.grad(lambda x: x * 1.0)(rg.asarray([1, 2]))
    with pytest.raises(TypeError, match="str"):
        rg.grad(lambda x: x)("a")
    with pytest.raises(rg.GradError, match="returned"):
        rg.grad(lambda x: 1.0)(2.0)
    with pytest.raises(ValueError, match="shape"):
        rg.jvp(lambda x: x, (rg.ones(2),), (rg.ones(3),))
    with pytest.raises(ValueError, match="structure"):
        rg.jvp(lambda x: x, (rg.ones(2),), ())
    _, pullback = rg.vjp(lambda x: (x, x), rg.ones(2))
    with pytest.raises(ValueError, match="structure"):
        pullback(rg.ones(2))
    _, pullback = rg.vjp(lambda x: x, rg.ones(2))
    with pytest.raises(ValueError, match="shape"):
        pullback(rg.ones(3))


def test_linear_functions_are_reusable_and_transformable() -> None:
    x = rg.asarray([1.0, 2.0])
    _, push = rg.linearize(lambda v: rg.sin(v), x)
    close(rg.vmap(push)(np.eye(2)), np.diag(np.cos([1.0, 2.0])))
    close(push(rg.ones(2)), np.cos([1.0, 2.0]))
    _, pullback = rg.vjp(lambda v: rg.sin(v), x)
    close(rg.vmap(pullback)(np.eye(2))[0], np.diag(np.cos([1.0, 2.0])))
    close(rg.grad(lambda t: pullback(t)[0].sum())(rg.ones(2)), np.cos([1.0, 2.0]))


def test_unused_arguments_have_zero_gradients() -> None:
    g = rg.grad(lambda x, y: x * 2, argnums=(0, 1))(1.0, rg.ones(3))
    close(g[1], np.zeros(3))
    close(rg.jacrev(lambda x: rg.ones(2))(rg.ones(3)), np.zeros((2, 3)))
    close(rg.jvp(lambda x: rg.ones(2), (rg.ones(3),), (rg.ones(3),))[1], np.zeros(2))


def test_complex_numbers() -> None:
    """The gradient of a real function is conjugate to the derivative by z, as in PyTorch."""
    z = np.array([1 + 2j, -0.5j])
    close(rg.grad(lambda w: (w * rg.conj(w)).real.sum())(z), 2 * z)
    close(rg.grad(lambda w: rg.abs(w).sum())(z), z / np.abs(z))
    close(rg.jvp(lambda w: w * w, (z,), (1j * np.ones(2),))[1], 2j * z)
    close(rg.vmap(rg.grad(lambda w: (w**3).real))(z), 3 * np.conj(z) ** 2)


# ------------------------------------------------------------------------------------------ rules of the user's own


def test_custom_vjp_at_every_level() -> None:
    calls = []

    @rg.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    def backward(residuals: Any, g: Any) -> Any:
        calls.append(1)
        x, y = residuals
        return g * y * 10, g * x * 10

    f.defvjp(lambda x, y: (x * y, (x, y)), backward)
    close(rg.grad(f, argnums=(0, 1))(2.0, 3.0)[0], 30.0)
    close(rg.vmap(rg.grad(f))(np.array([1.0, 2.0]), np.array([3.0, 4.0])), [30.0, 40.0])
    close(rg.grad(lambda x: rg.vmap(f, in_axes=(None, 0))(x, np.arange(3.0)).sum())(2.0), 30.0)
    close(rg.grad(rg.grad(lambda x: f(x, x)))(2.0), 20.0)  # the rule's own operations are differentiated
    assert calls


def test_custom_jvp_in_both_modes() -> None:
    @rg.custom_jvp
    def f(x: Any) -> Any:
        return rg.sin(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return rg.sin(x), rg.cos(x) * t * 10

    close(rg.jvp(f, (rg.asarray(0.3),), (rg.asarray(1.0),))[1], 10 * math.cos(0.3))
    close(rg.grad(f)(0.3), 10 * math.cos(0.3))
    close(rg.vmap(rg.grad(f))(np.array([0.3, 0.4])), 10 * np.cos([0.3, 0.4]))


# ------------------------------------------------------------------------------------------ properties

numbers = st.floats(-2, 2)
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda v: rg.sum(rg.sin(v) * v[::-1]), lambda v: rg.prod(v + 3), lambda v: rg.logsumexp(v * v),
    lambda v: rg.vecdot(rg.exp(v), rg.cumulative_sum(v)),
    lambda v: rg.linalg.det(rg.einsum("i,j->ij", v, v) + 2 * rg.eye(3)),
    lambda v: rg.sum(rg.where(v > 0, v**3, rg.tanh(v))), lambda v: rg.mean(rg.stack([v, v * v]) @ v),
    lambda v: (rg.softmax(v) * rg.roll(v, 1)).sum(),
]  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(x=st.lists(numbers, min_size=3, max_size=3), t=st.lists(numbers, min_size=3, max_size=3))
@pytest.mark.parametrize("f", FUNCTIONS)
def test_modes_agree(f: Any, x: list[float], t: list[float]) -> None:
    """Forward and reverse mode, Jacobians, Hessians and their products say the same."""
    v, d = np.asarray(x), np.asarray(t)
    gradient = rg.grad(f)(v)
    close(rg.jvp(f, (v,), (d,))[1], (gradient * d).sum(), rtol=1e-7)
    close(rg.jacfwd(f)(v), gradient, rtol=1e-7)
    close(rg.linearize(f, v)[1](d), (gradient * d).sum(), rtol=1e-7)
    hessian = rg.hessian(f)(v)
    close(hessian, hessian.T, rtol=1e-6)
    close(rg.jacrev(rg.grad(f))(v), hessian, rtol=1e-6)
    close(rg.hvp(f, (v,), (d,)), hessian @ d, rtol=1e-6)
    batch = np.stack([v, d])
    close(rg.vmap(f)(batch), [f(rg.asarray(v)).item(), f(rg.asarray(d)).item()], rtol=1e-7)
    close(rg.vmap(rg.grad(f))(batch)[0], gradient, rtol=1e-7)


def test_detach_is_constant_in_every_transform():
    def f(x):
        return x.detach() * x

    x = rg.asarray(np.array([2.0, 3.0]))
    assert np.array_equal(rg.jvp(f, (x,), (rg.ones_like(x),))[1], [2, 3])
    for jacobian in (rg.jacfwd, rg.jacrev):
        assert np.array_equal(jacobian(f)(x), np.diag([2, 3]))
    assert np.array_equal(rg.hessian(lambda x: (x.detach() * x**2).sum())(x), np.diag([4, 6]))
    assert np.array_equal(rg.vmap(f)(x), [4, 9])


def test_jacobians_refuse_complex_numbers_of_which_they_would_lose_a_half() -> None:
    real, complex_ = np.array([1.0, 2.0]), np.array([1 + 1j])
    for f, x in ((lambda x: x * (2 + 3j), real), (lambda x: x * x, complex_)):
        with pytest.raises(rg.GradError, match="jacrev: a result of the function is complex128"):
            rg.jacrev(f)(x)
    for f in (lambda x: x * x, lambda x: rg.real(x * (2 + 1j))):
        for transform in (rg.jacfwd, rg.hessian):
            with pytest.raises(rg.GradError, match="jacfwd: an argument is complex128"):
                transform(f)(complex_)
    np.testing.assert_array_equal(rg.jacfwd(lambda x: x * (2 + 3j))(real), (2 + 3j) * np.eye(2))
    np.testing.assert_array_equal(rg.jacrev(lambda x: rg.real(x * (2 + 1j)))(complex_), [[2 - 1j]])
