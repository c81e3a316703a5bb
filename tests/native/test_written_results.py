"""Results that are written after their operation saved them: the derivative is that of what was computed with."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograde as rg

V = np.array([0.3, 0.5, 0.7])


def guarded(w: Any) -> Any:
    """What scikit-learn's scalers do."""
    s = rg.sqrt(w)
    s[s < 0.6] = 1.0
    return rg.sum(w / s)


def in_parts(w: Any) -> Any:
    s = rg.exp(w)
    s[0] = 1.0
    t = s[1:]
    np.exp(t, out=t)
    s[2] = 5.0 * w[0]
    s *= s
    return rg.sum(w * s * s)


def through_views(w: Any) -> Any:
    s = rg.tanh(w)
    v = s.reshape((3, 1))
    v[0, 0] = w[1]
    s += s
    u = s[1:]
    u *= u
    return (s * w).sum()


def augmented(w: Any) -> Any:
    s = rg.exp(w)
    s *= w
    s += 1
    s /= s + w
    return s.sum()


def of_a_solver(w: Any) -> Any:  # whose result is a reshaped one
    s = rg.linalg.solve(rg.eye(3) * (w + 1), rg.ones(3))
    s[1] = 2.0
    return (s * w).sum()


def of_several_results(w: Any) -> Any:
    s, u = rg.linalg.eigh(rg.eye(3) * (w + rg.arange(3)))
    s[0] = 3.0
    u *= 2
    return (s * w).sum() + (u * u * w).sum()


def normalised(w: Any) -> Any:
    s = rg.softmax(w)
    s[s < 0.31] = 0.0
    s /= s.sum()
    return (s * w * w).sum()


FUNCTIONS = [guarded, in_parts, through_views, augmented, of_a_solver, of_several_results, normalised]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    h = 1e-6
    steps = h * np.eye(3)
    expected = np.array([(f(rg.asarray(V + e)) - f(rg.asarray(V - e))).item() / (2 * h) for e in steps])
    w = rg.asarray(V, requires_grad=True)
    f(w).backward(create_graph=True)
    np.testing.assert_allclose(w.grad.detach().numpy(), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(rg.grad(f)(V).numpy(), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(rg.jvp(f, (V,), (V,))[1].numpy(), expected @ V, rtol=1e-6)
    np.testing.assert_allclose(rg.hessian(f)(V).numpy(), rg.jacrev(rg.grad(f))(V).numpy(), rtol=1e-9, atol=1e-12)


def test_an_operand_that_is_written_after_its_use_is_refused_as_before() -> None:
    w = rg.asarray(V, requires_grad=True)
    s = rg.tanh(w)
    y = s * w
    s[0] = 1.0
    with pytest.raises(rg.MutationError):
        y.sum().backward()


def test_what_is_written_under_no_grad_is_refused_as_before() -> None:
    w = rg.asarray(V, requires_grad=True)
    s = rg.tanh(w)
    with rg.no_grad():
        s[0] = 1.0
    with pytest.raises(rg.MutationError):
        s.sum().backward()
    s[1] = 2.0  # comes too late to copy what was saved
    with pytest.raises(rg.MutationError):
        s.sum().backward()


def test_what_a_custom_rule_keeps_is_watched() -> None:
    @rg.custom_vjp
    def f(x: Any) -> Any:
        return rg.exp(x)

    def forward(x: Any) -> Any:
        y = rg.exp(x)
        return y, y

    f.defvjp(forward, lambda y, g: (g * y,))
    w = rg.asarray(V, requires_grad=True)
    s = f(w)
    s *= 2.0
    with pytest.raises(rg.MutationError):
        s.sum().backward()
    with pytest.raises(rg.MutationError):
        rg.grad(lambda x: f(x).__imul__(2.0).sum())(V)


def test_many_writes_cost_as_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograde.tape import inplace

    looked: list[Any] = []
    real = inplace._apart
    monkeypatch.setattr(inplace, "_apart", lambda *args: looked.append(1) or real(*args))
    w = rg.asarray(V, requires_grad=True)
    s = rg.exp(w)
    for k in range(200):
        s[k % 3] = -s[k % 3].copy()
    s.sum().backward()
    assert len(looked) < 1000
    np.testing.assert_allclose(w.grad.numpy(), np.exp(V) * np.where(np.array([67, 67, 66]) % 2, -1, 1))
