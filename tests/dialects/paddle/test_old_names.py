"""`paddle.fluid`'s old names compute what the functions and layers of today do, with the arguments of old programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

fluid, F, t = paddle.fluid, paddle.nn.functional, paddle.to_tensor
L, D = fluid.layers, fluid.dygraph
X = t([[3.0, 1.0, 2.0], [0.5, 4.0, 5.0]])
V, M, LABELS = t([1.0, -2.0, 3.0]), t([[4.0, 1.0], [1.0, 3.0]]), t([[2], [0]])
IMAGE = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
SOFT = F.softmax(X)

PAIRS: dict[str, tuple[Any, Any]] = {
    "matmul": (lambda: L.matmul(M, X, True, alpha=2.0), lambda: 2 * M.t() @ X),
    "mul": (lambda: L.mul(X.reshape([2, 3, 1]), X.t(), 1, 1), lambda: X @ X.t()),
    "mul of more axes": (lambda: L.mul(X.reshape([1, 2, 3]), X.t(), 2), lambda: (X @ X.t()).reshape([1, 2, 2])),
    "sums": (lambda: L.sums([V, V, V]), lambda: 3 * V),
    "cross_entropy": (lambda: L.cross_entropy(SOFT, LABELS), lambda: -paddle.log(t([[SOFT[0, 2]], [SOFT[1, 0]]]))),
    "softmax_with_cross_entropy": (
        lambda: L.softmax_with_cross_entropy(X, LABELS),
        lambda: F.cross_entropy(X, LABELS.flatten(), reduction="none").unsqueeze(1),
    ),
    "sigmoid_cross_entropy_with_logits": (
        lambda: L.sigmoid_cross_entropy_with_logits(V, t([1.0, 0.0, -100.0]), normalize=True),
        lambda: t([np.log1p(np.exp(-1.0)) / 2, np.log1p(np.exp(-2.0)) / 2, 0.0], dtype="float32"),
    ),
    "accuracy": (lambda: L.accuracy(X, t([[0], [1]])), lambda: t([0.5])),
    "accuracy of two": (lambda: L.accuracy(X, t([[0], [1]]), k=2), lambda: t([1.0])),
    "softmax": (lambda: L.softmax(X, axis=0), lambda: F.softmax(X, 0)),
    "dropout outside training": (lambda: L.dropout(V, 0.25, is_test=True), lambda: 0.75 * V),
    "dropout that scales in training": (
        lambda: L.dropout(V, 0.25, True, dropout_implementation="upscale_in_train"), lambda: V,
    ),
    "pool2d": (lambda: L.pool2d(IMAGE, 2, "max", 2), lambda: F.max_pool2d(IMAGE, 2)),
    "pool2d of means": (lambda: L.pool2d(IMAGE, 2, "avg", 1, 1), lambda: F.avg_pool2d(IMAGE, 2, 1, 1)),
    "pool2d of all": (lambda: L.pool2d(IMAGE, pool_type="avg", global_pooling=True), lambda: t([[[[7.5]]]])),
    "one_hot": (lambda: L.one_hot(LABELS, 3), lambda: t([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])),
    "reshape": (lambda: L.reshape(V, [3, 1], act="relu"), lambda: F.relu(V).reshape([3, 1])),
    "split": (lambda: L.split(X, 3)[1], lambda: X[:, 1:2]),
    "l2_normalize": (lambda: L.l2_normalize(X, 1), lambda: X / X.square().sum(1, keepdim=True).sqrt()),
    "clip": (lambda: L.clip(V, -1.0, 2.0), lambda: t([1.0, -1.0, 2.0])),
    "scale": (lambda: L.scale(V, 2.0, 1.0, False, "relu"), lambda: F.relu(2 * (V + 1))),
    "clip_by_norm": (lambda: L.clip_by_norm(V, 1.0), lambda: V / paddle.norm(V)),
    "clip_by_norm of a short one": (lambda: L.clip_by_norm(V, 9.0), lambda: V),
    "soft_relu": (lambda: L.soft_relu(V, 2.0), lambda: paddle.log1p(paddle.exp(V.clip(-2.0, 2.0)))),
    "expand_as": (lambda: L.expand_as(V.reshape([1, 3]), X), lambda: t([[1.0, -2.0, 3.0]] * 2)),
    "create_global_var": (lambda: L.create_global_var([2], 3.0, "float32"), lambda: t([3.0, 3.0])),
    "gaussian_random": (lambda: L.gaussian_random([2], 3.0, 0.0), lambda: t([3.0, 3.0])),
    "elementwise_add at an axis": (lambda: L.elementwise_add(X, t([1.0, 2.0]), axis=0), lambda: X + t([[1.0], [2.0]])),
    "Pool2D": (lambda: D.Pool2D(2, "avg", 2)(IMAGE), lambda: F.avg_pool2d(IMAGE, 2)),
    "LayerNorm": (lambda: D.LayerNorm([3], scale=False, shift=False)(X), lambda: F.layer_norm(X, 3)),
    "InstanceNorm": (lambda: D.InstanceNorm(1)(IMAGE), lambda: F.instance_norm(IMAGE)),
    "Dropout": (lambda: _evaluated(D.Dropout(0.25))(V), lambda: 0.75 * V),
}  # fmt: skip


def _evaluated(layer: Any) -> Any:
    layer.eval()
    return layer


@pytest.mark.parametrize("name", PAIRS)
def test_a_function(name: str) -> None:
    old, new = (f() for f in PAIRS[name])
    assert old.shape == new.shape
    assert old.dtype == new.dtype
    np.testing.assert_allclose(old.numpy(), new.numpy(), rtol=1e-6)


@pytest.mark.parametrize("call, kind", [
    (lambda: L.embedding(V, [2, 3]), NotImplementedError),
    (lambda: L.fc(V, 3), NotImplementedError),
    (lambda: L.pool2d(IMAGE, pool_type="sum"), ValueError),
    (lambda: L.reshape(V, [3, 1], act="no such"), ValueError),
])  # fmt: skip
def test_refused(call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize("layer, shape", [
    (lambda: D.Conv2D(1, 2, 3, padding=1, act="relu"), [1, 2, 4, 4]),
    (lambda: D.Conv2DTranspose(1, 2, 2, stride=2), [1, 2, 8, 8]),
])  # fmt: skip
def test_a_convolution(layer: Any, shape: list[int]) -> None:
    assert layer()(IMAGE).shape == shape


def test_layers_of_other_arguments() -> None:
    assert D.Conv3DTranspose(1, 2, 2, stride=2)(paddle.ones([1, 1, 2, 2, 2])).shape == [1, 2, 4, 4, 4]
    assert D.BilinearTensorProduct(2, 3, 4, act="relu")(M, X).shape == [2, 4]
    assert D.Embedding([4, 2], padding_idx=1)(t([1])).numpy().tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("made, low, high", [
    (fluid.initializer.Uniform(1.0, 2.0), 1.0, 2.0), (fluid.initializer.Normal(3.0, 0.0), 3.0, 3.0),
    (fluid.initializer.TruncatedNormal(3.0, 0.1), 2.8, 3.2), (fluid.initializer.MSRA(True, 6), -1.0, 1.0),
    (fluid.initializer.MSRA(False, 1e12), -1e-4, 1e-4),
])  # fmt: skip
def test_an_initialiser(made: Any, low: float, high: float) -> None:
    numbers = paddle.create_parameter([20], "float32", default_initializer=made).numpy()
    assert low <= numbers.min() <= numbers.max() <= high


def test_an_optimiser_takes_the_due_rate() -> None:
    p = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    rates = D.PiecewiseDecay([1], [0.5, 0.25], 0)
    o = fluid.optimizer.SGDOptimizer(rates, parameter_list=[p], regularization=fluid.regularizer.L1Decay(0.0))
    for _ in range(2):
        (p * 1).sum().backward()
        o.step()
        o.clear_gradients()
    assert p.numpy().tolist() == [0.25]
    assert p.grad is not None
    assert p.grad.numpy().tolist() == [0.0]


def test_programs_and_places() -> None:
    fluid.default_main_program().random_seed = 7
    assert fluid.default_main_program().random_seed == 7
    with pytest.raises(ValueError):
        fluid.default_main_program().random_seed = "7"
    assert len(fluid.cpu_places(2)) == 2
    with fluid.name_scope("a"):
        assert D.prepare_context() is not None
