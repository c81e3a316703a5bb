"""Convolutions and pooling of sparse tensors: results and gradients as PaddlePaddle 3 gives them, and the dense ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle
from retrograde.dialects.paddle.sparse import nn as layers
from retrograde.dialects.paddle.sparse.nn import functional as F


def image() -> Any:
    x = paddle.sparse.sparse_coo_tensor(
        [[0, 0, 0], [0, 1, 2], [1, 1, 0]], [[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]], [1, 3, 3, 2]
    )
    x.stop_gradient = False
    return x


CONVOLUTIONS: list[tuple[Any, tuple[int, ...], dict[str, Any], Any, Any, Any, Any, Any]] = [
    (F.conv2d, (2, 2, 2, 1), {}, [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]], [-2.1, -3.1, -3.0, -1.1],
     [-12.8, -10.2, -22.2, -2.4, -21.6, -17.8, -12.6, 4.2], [-18.6], [[9.56, 8.52], [12.4, 10.54], [3.6, 3.0]]),
    (F.conv2d, (2, 2, 2, 1), {"stride": 2, "padding": 1}, [[0, 0, 0], [0, 1, 1], [1, 0, 1]], [-0.6, -0.4, -1.1],
     [-6.6, 2.2, 0, 0, -1.2, -2.4, -0.4, -3.2], [-4.2], [[0.72, 0.6], [2.2, 1.98], [0.32, 0.24]]),
    (F.subm_conv2d, (3, 3, 2, 1), {"stride": 2}, [[0, 0, 0], [0, 1, 2], [1, 1, 0]], [1.3, -0.4, -0.8],
     [0, 0, -0.8, -1.6, -4.8, 1.6, 0, 0, -0.6, -0.4, 0, 0, -0.4, -3.2, 7.8, -2.6, 0, 0], [0.2],
     [[0.12, 0.3], [2.16, 2.18], [0.16, -0.08]]),
]  # fmt: skip


@pytest.mark.parametrize("f, shape, options, places, values, by_weight, by_bias, by_x", CONVOLUTIONS)
def test_convolutions(
    f: Callable[..., Any], shape: Any, options: Any, places: Any, values: Any, by_weight: Any, by_bias: Any, by_x: Any
) -> None:
    x, b = image(), paddle.to_tensor([1.0], stop_gradient=False)
    w = paddle.to_tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 10 - 1, stop_gradient=False)
    out = f(x, w, b, **options)
    paddle.sparse.square(out).to_dense().sum().backward()
    assert out.indices().tolist() == places
    for found, wanted in ((out.values(), values), (w.grad, by_weight), (b.grad, by_bias), (x.grad.values(), by_x)):
        assert np.allclose(found.numpy().ravel(), np.ravel(wanted), atol=2e-5)


@pytest.mark.parametrize("name, stride, padding, dilation", [("Conv2D", 2, 1, 1), ("Conv3D", 1, 2, 2), ("SubmConv3D", 1, 1, 1)])
def test_the_layers_compute_what_the_dense_ones_do(name: str, stride: int, padding: int, dilation: int) -> None:
    axes = int(name[-2])
    rng = np.random.default_rng(0)
    places = np.unravel_index(rng.choice(2 * 5**axes, 9, replace=False), (2, *[5] * axes))
    x = paddle.sparse.sparse_coo_tensor(
        np.stack(places), rng.standard_normal((9, 2)).astype("float32"), [2, *[5] * axes, 2], stop_gradient=False
    )
    layer = getattr(layers, name)(2, 3, 3, stride, padding, dilation, bias_attr=False)
    out = layer(x)
    dense = getattr(paddle.nn.functional, f"conv{axes}d")(
        x.to_dense(), paddle.transpose(layer.weight, [axes + 1, axes, *range(axes)]), None, stride, padding, dilation,
        data_format="NHWC" if axes == 2 else "NDHWC",
    )  # fmt: skip
    assert np.allclose(dense.numpy()[tuple(out.indices().numpy())], out.values().numpy(), atol=1e-5)
    if name.startswith("Conv"):
        assert np.allclose(out.to_dense().numpy(), dense.numpy(), atol=1e-5)
    else:
        assert sorted(zip(*out.indices().tolist())) == sorted(zip(*np.stack(places).tolist()))


def test_pooling_takes_the_largest_of_the_values_that_are_kept() -> None:
    x = paddle.sparse.sparse_coo_tensor(
        [[0, 0, 0], [0, 0, 1], [0, 1, 3], [0, 0, 2]], [[-1.0], [-1.0], [2.0]], [1, 2, 4, 4, 1], stop_gradient=False
    )
    out = layers.MaxPool3D(2)(x)
    assert out.shape == [1, 1, 2, 2, 1]
    assert out.values().flatten().tolist() == [-1.0, 2.0]
    out.to_dense().sum().backward()
    assert x.grad.values().flatten().tolist() == [1.0, 1.0, 1.0]  # of equal ones each gets all


@pytest.mark.parametrize("call, error", [
    (lambda: F.conv2d(paddle.ones([1, 3, 3, 2]), paddle.ones([1, 1, 2, 1])), ValueError),
    (lambda: F.conv2d(image(), paddle.ones([1, 1, 3, 1])), ValueError),
    (lambda: F.conv2d(image(), paddle.ones([5, 5, 2, 1])), ValueError),
    (lambda: F.conv3d(image(), paddle.ones([1, 1, 1, 2, 1])), ValueError),
    (lambda: F.conv2d(image(), paddle.ones([1, 1, 2, 1]), data_format="NCHW"), ValueError),
    (lambda: F.conv2d(image(), paddle.ones([1, 1, 2, 1]), groups=2), AssertionError),
    (lambda: F.conv2d(image(), paddle.ones([1, 1, 2, 1]), key="k"), TypeError),
    (lambda: layers.Conv2D(2, 2, 1, groups=2), AssertionError),
])  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
