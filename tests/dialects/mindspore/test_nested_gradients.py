"""Gradient functions inside each other and inside transforms, against numerical derivatives in float64.

MindSpore's own second derivatives through sum, mean, matmul and cat are zero in PyNative mode, and its jacrev and jacfwd
fail; here all hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects.mindspore import Parameter, Tensor, grad, jacfwd, jacrev, jvp, nn, ops, recompute, vjp, vmap

Function = Callable[[Any], Any]


def tensor(x: Any) -> Tensor:
    return Tensor(np.array(x, np.float64))


X, A, ALONG = tensor([0.3, 0.7]), tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, -2.0])


def numerical(f: Function, x: Tensor, step: float = 1e-5) -> np.ndarray:
    """The derivative of `f` by each element of a vector, along the last axis."""
    def along(d: np.ndarray) -> np.ndarray:
        found: np.ndarray = f(Tensor(x.asnumpy() + d)).asnumpy() - f(Tensor(x.asnumpy() - d)).asnumpy()
        return found / (2 * step)

    return np.stack([along(d) for d in np.eye(x.size) * step], -1)


class Exp(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * out,)


FUNCTIONS: dict[str, Function] = {
    "sum": lambda x: (x * x * x).sum(),
    "mean": lambda x: (x * x * x).mean() ** 2,
    "matmul": lambda x: ops.matmul(ops.matmul(x, A), x * x),
    "cat": lambda x: (ops.cat((x * x, x)) ** 3).sum(),
    "sin": lambda x: ops.sin(x).sum() ** 2,
    "power": lambda x: (x**2.5 / (1 + x)).sum(),
    "index": lambda x: x[0] ** 3 * x[1] ** 2,
    "bprop": lambda x: Exp()(x * x).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_up_to_the_third_derivative(name: str) -> None:
    first = grad(FUNCTIONS[name])

    def second(x: Any) -> Any:
        return grad(lambda y: (first(y) * ALONG).sum())(x)

    def third(x: Any) -> Any:
        return grad(lambda y: (second(y) * ALONG).sum())(x)

    along = ALONG.asnumpy()
    np.testing.assert_allclose(first(X).asnumpy(), numerical(FUNCTIONS[name], X), rtol=1e-6)
    np.testing.assert_allclose(second(X).asnumpy(), along @ numerical(first, X), rtol=1e-6)
    np.testing.assert_allclose(third(X).asnumpy(), along @ numerical(second, X), rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "bprop"])
def test_transforms_agree(name: str) -> None:
    f = FUNCTIONS[name]
    first = grad(f)
    hessian = numerical(first, X)
    for transformed in (jacrev(first), jacfwd(first), jacfwd(jacrev(f)), jacrev(jacfwd(f))):
        np.testing.assert_allclose(transformed(X).asnumpy(), hessian, rtol=1e-6, atol=1e-9)
    expected = hessian @ ALONG.asnumpy()
    for product in (
        jvp(first, X, ALONG)[1],
        grad(lambda x: jvp(f, x, ALONG)[1])(X),
        grad(lambda x: (vjp(f, x)[1](tensor(1.0))[0] * ALONG).sum())(X),
    ):
        np.testing.assert_allclose(product.asnumpy(), expected, rtol=1e-6)
    batch = tensor([[0.3, 0.7], [0.1, 0.2]])
    np.testing.assert_allclose(vmap(first)(batch).asnumpy(), [first(x).asnumpy() for x in batch], rtol=1e-12)


def test_gradient_penalty() -> None:
    w = Parameter(tensor([2.0, 3.0]), name="w")

    def loss(x: Any) -> Any:
        return (w * w * x * x).sum()

    def penalty(x: Any) -> Any:
        by_w, by_x = grad(loss, None, [w])(x)[0], grad(loss)(x)
        return (by_w * by_w).sum() + (by_x * by_x).sum()

    a, x = w.asnumpy(), X.asnumpy()
    np.testing.assert_allclose(grad(penalty, None, [w])(X)[0].asnumpy(), 8 * a * x**4 + 16 * a**3 * x**2)
    np.testing.assert_allclose(grad(penalty)(X).asnumpy(), 16 * a**2 * x**3 + 8 * a**4 * x)


def test_stop_gradient_at_every_level() -> None:
    def f(x: Any) -> Any:
        return (ops.stop_gradient(x) * x * x).sum()

    np.testing.assert_allclose(grad(lambda x: grad(f)(x).sum())(X).asnumpy(), 2 * X.asnumpy())
    tangent = jvp(lambda x: ops.stop_gradient(x) * x, X, tensor([1.0, 1.0]))[1]
    np.testing.assert_allclose(tangent.asnumpy(), X.asnumpy())
    assert ops.stop_gradient(3) == 3
    assert ops.stop_gradient((X, [X]))[1][0].shape == (2,)


def test_jacobians() -> None:
    y = tensor([5.0, 6.0])
    for jacobian in (jacrev, jacfwd):
        by_x, by_y = jacobian(lambda x, y: x * y, (0, 1))(X, y)
        np.testing.assert_allclose(by_x.asnumpy(), np.diag(y.asnumpy()))
        np.testing.assert_allclose(by_y.asnumpy(), np.diag(X.asnumpy()))
        found, aux = jacobian(lambda x: (x * x, x + 1), has_aux=True)(X)
        np.testing.assert_allclose(found.asnumpy(), np.diag(2 * X.asnumpy()))
        np.testing.assert_allclose(aux.asnumpy(), X.asnumpy() + 1)
        with pytest.raises(ValueError, match="grad_position"):
            jacobian(lambda x: x, 1)(X)
        with pytest.raises(TypeError, match="Tensor"):
            jacobian(lambda x: x)(3.0)


def test_vjp_and_jvp_forms() -> None:
    out, pullback = vjp(lambda x, y: (x * y, x), X, X)
    assert [o.shape for o in out] == [(2,), (2,)]
    assert [g.tolist() for g in pullback(X, X)] == [g.tolist() for g in pullback((X, X))]
    w = Parameter(tensor([2.0, 3.0]), name="w")
    inputs, weights = vjp(lambda x: x * w, X, weights=[w])[1](X)
    np.testing.assert_allclose(weights[0].asnumpy(), X.asnumpy() ** 2)
    np.testing.assert_allclose(inputs[0].asnumpy(), X.asnumpy() * w.asnumpy())
    _, _, aux = vjp(lambda x: (x * x, x), X, has_aux=True)
    assert aux.tolist() == X.tolist()
    _, tangent = jvp(lambda x, y: x * y, (X, X), (X, X))
    np.testing.assert_allclose(tangent.asnumpy(), 2 * X.asnumpy() ** 2)
    three = tensor([1.0, 2.0, 3.0])
    for wrong, error in (((X, X), ValueError), (three, ValueError), (Tensor([1.0, 2.0]), TypeError), (3.0, TypeError)):
        with pytest.raises(error, match="jvp"):
            jvp(lambda x: x, X, wrong)
    with pytest.raises(ValueError, match="shape"):
        vjp(lambda x: x, X)[1](X[:1])
    with pytest.raises(TypeError, match="Tensor"):
        vjp(lambda x: x, 1.0)


def test_taylor() -> None:
    value, second = ops.derivative(lambda x: x * x * x, X, 2)
    np.testing.assert_allclose(second.asnumpy(), 6 * X.asnumpy(), rtol=1e-6)
    _, series = ops.jet(lambda x: x * x * x, X, tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(series.asnumpy(), [3 * X.asnumpy() ** 2, 6 * X.asnumpy(), [6.0, 6.0]], rtol=1e-6)
    np.testing.assert_allclose(value.asnumpy(), X.asnumpy() ** 3)


def test_recompute() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(tensor([2.0, 3.0]), name="w")

        def construct(self, x: Any) -> Any:
            return ops.sin(self.w * x) * x

    net = Net()
    wanted = grad(net, 0, [net.w])(X)
    for again in (grad(lambda x: recompute(net, x), 0, [net.w])(X), (net.recompute(), grad(net, 0, [net.w])(X))[1]):
        np.testing.assert_allclose(again[0].asnumpy(), wanted[0].asnumpy())
        np.testing.assert_allclose(again[1][0].asnumpy(), wanted[1][0].asnumpy())
    assert net.w._node is None


def test_product_cells() -> None:
    cube = nn.Jvp(lambda x, y: x**3 + y)
    out, tangent = cube(X, ALONG, (X, X))
    np.testing.assert_allclose(out.asnumpy(), X.asnumpy() ** 3 + ALONG.asnumpy())
    np.testing.assert_allclose(tangent.asnumpy(), 3 * X.asnumpy() ** 3 + X.asnumpy())
    _, gradient = nn.Vjp(lambda x: x * x)(X, ALONG)
    np.testing.assert_allclose(gradient.asnumpy(), 2 * X.asnumpy() * ALONG.asnumpy())
    with pytest.raises(TypeError, match="inputs"):
        cube(X)


def test_products_refuse_what_does_not_go_with_the_function() -> None:
    x, y = Tensor([1.0]), Tensor([2.0])
    product = nn.Jvp(lambda x, y: x * x + y)
    assert [t.tolist() for t in product(x, y, (x, x, x))] == [[3.0], [3.0]]
    for kind, v in ((IndexError, (x,)), (TypeError, x)):
        with pytest.raises(kind, match="Jvp"):
            product(x, y, v)
    with pytest.raises(TypeError, match="Vjp"):
        nn.Vjp(lambda x: x * x)(x, (x, x))
    with pytest.raises(TypeError, match="Vjp"):
        nn.Vjp(lambda x, y: (x * y, x))(x, y, x)
