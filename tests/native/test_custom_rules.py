"""`custom_vjp` and `custom_jvp`: arguments without a derivative, containers, mapped functions, bad rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import retrograde as rg


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)


def scaled() -> Any:
    """sum(k * f(x) * y) with a rule that gives ten times the derivative; f and k have none."""

    def f(f: Any, x: Any, k: Any, y: Any) -> Any:
        return k * f(x) * y

    def forward(f: Any, x: Any, k: Any, y: Any) -> Any:
        return k * f(x) * y, (x, y)

    def backward(f: Any, k: Any, residuals: Any, g: Any) -> Any:
        x, y = residuals
        return 10 * g * k * rg.cos(x) * y, 10 * g * k * f(x)

    made = rg.custom_vjp(f, nondiff_argnums=(0, -2))
    made.defvjp(forward, backward)
    return made


X, Y = np.array([0.3, 0.7]), np.array([2.0, 5.0])


def test_arguments_without_a_derivative() -> None:
    f = scaled()
    for transform in (rg.grad, lambda h, **o: lambda *xs: rg.vmap(rg.grad(h, **o))(*(x[None] for x in xs))):
        dx, dy = transform(lambda x, y: f(rg.sin, x, 3.0, y), argnums=(0, 1))(X[0], Y[0])
        close(dx, np.reshape(60 * math.cos(0.3), dx.shape))
        close(dy, np.reshape(30 * math.sin(0.3), dy.shape))


def test_mapped_with_arguments_without_a_derivative() -> None:
    f = scaled()
    mapped = rg.vmap(lambda x, y: f(rg.sin, x, 3.0, y))
    dx, dy = rg.grad(lambda x, y: mapped(x, y).sum(), argnums=(0, 1))(X, Y)
    close(dx, 30 * np.cos(X) * Y)
    close(dy, 30 * np.sin(X))
    k = np.array([3.0, 4.0])  # mapped itself, and without a derivative
    each = rg.vmap(lambda x, k: f(rg.sin, x, k, 5.0))
    close(rg.grad(lambda x: each(x, k).sum())(X), 50 * k * np.cos(X))
    close(rg.grad(lambda k: each(X, k).sum())(k), [0.0, 0.0])
    shared = rg.vmap(lambda x, y: f(rg.sin, x, 3.0, y), in_axes=(0, None))
    close(rg.grad(lambda y: shared(X, y).sum())(2.0), 30 * np.sin(X).sum())
    twice = rg.vmap(rg.vmap(lambda x: f(rg.sin, x, 3.0, 1.0)), in_axes=1)
    square = np.arange(6.0).reshape(2, 3)
    close(rg.grad(lambda x: twice(x).sum())(square), 30 * np.cos(square))
    # What the rule computes is differentiated by the plain rules again.
    second = rg.grad(lambda x: rg.grad(lambda x: rg.vmap(lambda t: f(rg.sin, t, 1.0, 2.0))(x).sum())(x).sum())
    close(second(X), -20 * np.sin(X))


def test_zero_cotangents_of_a_mapped_rule() -> None:
    @rg.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y, None))
    dx, dy = rg.grad(lambda x, y: rg.vmap(f)(x, y).sum(), argnums=(0, 1))(X, Y)
    close(dx, Y)
    close(dy, [0.0, 0.0])


def test_containers_in_a_mapped_rule() -> None:
    @rg.custom_vjp
    def f(p: Any, x: Any) -> Any:
        return {"y": p["a"] * x + p["b"][0]}

    def backward(residuals: Any, g: Any) -> Any:
        p, x = residuals
        return {"a": g["y"] * x, "b": (g["y"] * 7,)}, g["y"] * p["a"]

    f.defvjp(lambda p, x: (f(p, x), (p, x)), backward)

    def total(p: Any, x: Any) -> Any:
        return rg.vmap(f, in_axes=({"a": 0, "b": (None,)}, 0))(p, x)["y"].sum()

    dp, dx = rg.grad(total, argnums=(0, 1))({"a": Y, "b": (np.array(1.0),)}, X)
    close(dp["a"], X)
    close(dp["b"][0], 14.0)
    close(dx, Y)


def test_a_forward_rule_without_some_arguments() -> None:
    def f(n: Any, x: Any) -> Any:
        return x**n

    cube = rg.custom_jvp(f, nondiff_argnums=(0,))

    @cube.defjvp
    def rule(n: Any, primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return x**n, 10 * n * x ** (n - 1) * t

    close(rg.jvp(lambda x: cube(3, x), (rg.asarray(2.0),), (rg.asarray(1.0),))[1], 120.0)
    close(rg.grad(lambda x: cube(3, x))(2.0), 120.0)
    close(rg.vmap(rg.grad(lambda x: cube(3, x)))(X), 30 * X**2)
    close(rg.grad(lambda x: rg.vmap(lambda t: cube(3, t))(x).sum())(X), 30 * X**2)


@pytest.mark.parametrize(
    "found, text",
    [(1.0, "returns a tuple"), ((1.0, 2.0), "2 gradients, wanted 1"), (((1.0, 2.0),), "holds 1 values")],
)
def test_what_a_bad_rule_says(found: Any, text: str) -> None:
    def cube(x: Any) -> Any:
        return x**3

    f = rg.custom_vjp(cube)
    f.defvjp(lambda x: (x**3, None), lambda residuals, g: found)
    for call in (lambda: rg.grad(f)(2.0), lambda: rg.grad(lambda x: rg.vmap(f)(x).sum())(X)):
        with pytest.raises(rg.GradError, match=f"cube.*{text}"):
            call()
    beyond = rg.custom_vjp(cube, nondiff_argnums=(2,))
    beyond.defvjp(lambda x: (x**3, None), lambda residuals, g: found)
    with pytest.raises(ValueError, match="argnums 2"):
        rg.grad(beyond)(2.0)


def test_what_the_forward_rule_computes_is_differentiated_in_both_modes() -> None:
    f = rg.custom_jvp(rg.tanh)
    f.defjvp(lambda primals, tangents: (rg.tanh(primals[0]), 3 * primals[0] * tangents[0]))
    value, slope = math.tanh(0.7), 3 * 0.7
    wanted = -math.sin(value) * (1 - value**2) * slope + math.cos(value) * 3  # the slope of the value is tanh's
    for outer in (rg.grad, rg.jacfwd, rg.jacrev):
        for inner in (rg.grad, rg.jacfwd, rg.jacrev):
            close(outer(inner(lambda x: rg.sin(f(x))))(0.7), wanted)
    other = rg.custom_jvp(rg.tanh)
    other.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0]))
    close(rg.value_and_grad(other)(0.7)[0], rg.jvp(other, (0.7,), (1.0,))[0])
    x = rg.asarray(0.7, requires_grad=True)
    y = other(x)
    y.backward()
    close(y.detach(), 1.4)
    close(x.grad, 1.0)
