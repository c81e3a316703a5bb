"""`checkpoint`: gradients taken inside the function, transforms around it, what it says of a function that differs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograde as rg

X = np.array([0.3, -0.7, 1.1])


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12, atol=1e-15)


def inner_tape(v: Any) -> Any:
    w = rg.asarray(X, requires_grad=True)
    rg.sum(w**3).backward()
    return v * w.grad


def recorded_again(v: Any) -> Any:
    u = v * 1.0
    (g,) = rg.autograd.grad(rg.sum(u**3), u, create_graph=True)
    return g * v


INSIDE: dict[str, Callable[[Any], Any]] = {
    "hessian": lambda v: rg.hessian(lambda u: rg.sum(rg.tanh(u)))(v) @ v,
    "hessian of a constant": lambda v: rg.hessian(lambda u: rg.sum(rg.tanh(u)))(rg.asarray(X)) @ v,
    "grad": lambda v: rg.grad(lambda u: rg.tanh(u[0]) * u[1])(v),
    "jvp": lambda v: rg.jvp(lambda u: rg.tanh(u) * u, (v,), (v,))[1],
    "linearize": lambda v: rg.linearize(lambda u: rg.tanh(u) * u, v)[1](v),
    "vmap of grad": lambda v: rg.vmap(rg.grad(rg.tanh))(v),
    "jacrev": lambda v: rg.jacrev(lambda u: rg.tanh(u) * u[0])(v) @ v,
    "nested grad": lambda v: v * rg.grad(lambda s: rg.grad(lambda q: q**3)(s) * s)(v[0]),
    "nested grad of a constant": lambda v: v * rg.grad(lambda s: rg.grad(lambda q: q * v[2])(s) * s)(rg.asarray(2.0)),
    "autograd.grad": recorded_again,
    "backward": inner_tape,
    "checkpoint": lambda v: rg.checkpoint(lambda u: rg.grad(lambda t: rg.sum(rg.sin(t) * u))(u))(v),
}


@pytest.mark.parametrize("name", INSIDE)
def test_gradients_inside(name: str) -> None:
    f = INSIDE[name]
    g = rg.checkpoint(f)
    x = rg.asarray(X, requires_grad=True)
    close(g(x).detach(), f(x).detach())
    weights = np.array([1.0, 2.0, 3.0])
    for loss in (f, g):
        w = rg.asarray(X, requires_grad=True)
        rg.sum(loss(w) * weights).backward()
        if loss is f:
            plain = w.grad
    close(w.grad, plain)
    if name not in ("backward", "autograd.grad"):  # which belong to the everyday tape alone
        close(rg.grad(lambda w: rg.sum(g(w) * weights))(X), plain)
        close(rg.jacfwd(g)(rg.asarray(X)), rg.jacfwd(f)(rg.asarray(X)))
        close(rg.jacrev(g)(rg.asarray(X)), rg.jacfwd(f)(rg.asarray(X)))
        close(rg.hessian(lambda w: rg.sum(g(w) * weights))(rg.asarray(X)),
              rg.hessian(lambda w: rg.sum(f(w) * weights))(rg.asarray(X)))  # fmt: skip


def test_a_checkpoint_inside_a_transform_that_has_returned() -> None:
    w = rg.asarray(np.stack([X, X]), requires_grad=True)
    rg.sum(rg.vmap(rg.checkpoint(lambda v: rg.sin(v) * v))(w)).backward()
    close(w.grad, [np.cos(X) * X + np.sin(X)] * 2)
    w.grad = None
    with rg.no_grad():  # the passes inside another grad mode, and inside another level
        rg.grad(rg.checkpoint(lambda v: rg.sum(rg.sin(v) * v)))(X)
    _, pullback = rg.vjp(rg.checkpoint(lambda v: rg.sin(v) * v * w[0]), rg.asarray(X))
    with rg.no_grad():
        close(rg.vmap(lambda g: pullback(g)[0])(np.eye(3)), np.diag((np.cos(X) * X + np.sin(X)) * X))


def test_what_is_saved_is_dropped() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        y = rg.sin(x)
        kept.append(weakref.ref(y))
        return rg.sum(rg.exp(y) * y)

    x = rg.asarray(X, requires_grad=True)
    out = rg.checkpoint(f)(x)
    gc.collect()
    assert kept[-1]() is None
    out.backward(retain_graph=True)
    first = x.grad
    out.backward()
    close(x.grad, 2 * rg.grad(f)(X))
    assert len(kept) == 4  # once per pass
    assert first is not None


def test_what_differs_is_refused() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return rg.sum(rg.sin(x) if len(calls) == 1 else rg.sin(x) * x)

    x = rg.asarray(X, requires_grad=True)
    with pytest.raises(rg.GradError, match="1 values the first time and 3"):
        rg.checkpoint(f)(x).backward()
    calls.clear()
    with pytest.raises(rg.GradError, match="shape"):
        rg.checkpoint(lambda v: rg.sum(rg.sin(v[: len(calls) + (calls.append(1) or 1)])))(x).backward()


def test_a_saved_value_that_is_written() -> None:
    def f(x: Any) -> Any:
        y = rg.sin(x)
        z = y * y
        y += 1.0
        return rg.sum(z)

    x = rg.asarray(X, requires_grad=True)
    with pytest.raises(rg.MutationError, match="clone"):
        rg.checkpoint(f)(x).backward()

    def g(x: Any) -> Any:
        y = rg.sin(x)
        y *= x
        return rg.sum(y * y)

    rg.checkpoint(g)(x).backward()
    close(x.grad, rg.grad(g)(X))
