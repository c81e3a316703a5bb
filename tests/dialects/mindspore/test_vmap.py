"""`vmap` with gradients inside it, with a CellList as an ensemble, and the axes that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects.mindspore import (
    GRAPH_MODE,
    Parameter,
    Tensor,
    grad,
    jacrev,
    jvp,
    nn,
    ops,
    set_context,
    vmap,
)

X, W, T = Tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), Tensor([1.0, 2.0, 3.0]), Tensor([1.0, 2.0])
BY_WEIGHT = [[0.0, 14.0, 28.0], [144.0, 192.0, 240.0]]


def error(w: Any, x: Any, t: Any) -> Any:
    return ((w * x).sum() - t) ** 2


class Line(nn.Cell):
    def __init__(self, w: list[float]) -> None:
        super().__init__()
        self.w = Parameter(Tensor(w), name="w")

    def construct(self, x: Any, t: Any) -> Any:
        return error(self.w, x, t)


def test_gradients_of_each_example_by_what_they_share() -> None:
    assert vmap(grad(error), (None, 0, 0))(W, X, T).asnumpy().tolist() == BY_WEIGHT
    net = Line([1.0, 2.0, 3.0])
    for by_weights in (grad(net, None, net.trainable_params()), ops.GradOperation(get_by_list=True)(net)):
        assert vmap(by_weights)(X, T)[0].asnumpy().tolist() == BY_WEIGHT
    assert net.w._level == 0
    assert net.w._node is None


def test_gradients_inside_of_transforms_and_around_them() -> None:
    hessian = 2 * np.outer(X.asnumpy()[0], X.asnumpy()[0])  # of one example, by w
    np.testing.assert_allclose(jacrev(lambda w: grad(error)(w, X[0], T[0]))(W).asnumpy(), hessian)
    net = Line([1.0, 2.0, 3.0])
    _, along = jvp(lambda x: grad(net, None, net.w)(x, T[0]), X[0], W)
    w, x, t = W.asnumpy(), X.asnumpy()[0], 1.0
    np.testing.assert_allclose(along.asnumpy(), 2 * ((w @ x - t) * w + (w @ w) * x), rtol=1e-6)
    both = grad(lambda w: vmap(grad(error), (None, 0, 0))(w, X, T).sum())(W)
    np.testing.assert_allclose(both.asnumpy(), sum(2 * x * x.sum() for x in X.asnumpy()), rtol=1e-6)
    outer = grad(lambda: vmap(grad(net, None, net.w))(X, T).sum(), None, net.trainable_params())()
    np.testing.assert_allclose(outer[0].asnumpy(), both.asnumpy(), rtol=1e-6)


def test_an_ensemble_is_a_list_of_cells() -> None:
    cells = nn.CellList([Line([1.0, 2.0, 3.0]), Line([0.0, 1.0, 0.0])])
    assert vmap(cells)(X, T).asnumpy().tolist() == [49.0, 4.0]
    assert vmap(cells, (None, None))(X[0], T[0]).asnumpy().tolist() == [49.0, 0.0]
    weights = cells.trainable_params()
    gradients = grad(lambda: vmap(cells)(X, T).sum(), None, weights)()
    assert [g.asnumpy().tolist() for g in gradients] == [[0.0, 14.0, 28.0], [12.0, 16.0, 20.0]]
    assert cells[0].w is weights[0]
    with pytest.raises(RuntimeError, match="CellList"):
        vmap([cells[0], cells[1]])(X, T)
    with pytest.raises(RuntimeError, match="alike"):
        vmap(nn.CellList([cells[0], Line([1.0])]))


@pytest.mark.parametrize("mapped", [
    lambda: vmap(3), lambda: vmap(error, "0"), lambda: vmap(error, 1.0), lambda: vmap(error, True), lambda: vmap(error, 0, "0"),
    lambda: vmap(lambda x, w, t: x * w, 0), lambda: vmap(lambda w, x: x, 5),
])  # fmt: skip
def test_what_cannot_be_mapped_is_refused_by_the_call(mapped: Any) -> None:
    f = mapped()
    with pytest.raises(RuntimeError, match="vmap"):
        f(2.0, X, T)


def test_numbers() -> None:
    assert vmap(lambda k, x: x * k, (None, 0))(2.0, T).asnumpy().tolist() == [2.0, 4.0]
    assert str(vmap(lambda x: 5)(X)) == "[5 5]"
    with pytest.raises(RuntimeError, match="keyword"):
        vmap(lambda x, y: x * y)(T, y=T)


def test_axes_of_results() -> None:
    assert vmap(lambda x: x * 2, 0, (1,))(X).shape == vmap(lambda x: x * 2, 0, [1])(X).shape == (3, 2)
    for wrong in (3, -3, (0, 0)):
        with pytest.raises(RuntimeError, match="vmap"):
            vmap(lambda x: x * 2, 0, wrong)(X)


def test_graph_mode_changes_nothing() -> None:
    set_context(mode=GRAPH_MODE)
    try:
        assert vmap(grad(error), (None, 0, 0))(W, X, T).asnumpy().tolist() == BY_WEIGHT
    finally:
        set_context(mode=1)
