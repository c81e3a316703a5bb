"""The layers of `mindspore.mint.nn`; figures of those that MindSpore has on a CPU are recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects.mindspore import Tensor, grad, mint, nn, ops
from retrograde.dialects.mindspore.mint.nn import functional as F

X = Tensor(np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]], np.float32))
IMAGE = Tensor(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4) / 10)


@pytest.mark.parametrize("make, text, names", [
    (lambda: mint.nn.Linear(3, 2), "Linear(input_features=3, output_features=2, has_bias=True)", ["weight", "bias"]),
    (lambda: mint.nn.Linear(3, 2, bias=False), "Linear(input_features=3, output_features=2)", ["weight"]),
    (lambda: mint.nn.LayerNorm(3), "LayerNormExt(normalized_shape=(3,), eps=1e-05, elementwise_affine=True)",
     ["weight", "bias"]),
    (lambda: mint.nn.GroupNorm(1, 2), "GroupNorm(num_groups=1, num_channels=2, eps=1e-05, affine=True)",
     ["weight", "bias"]),
    (lambda: mint.nn.BatchNorm2d(2),
     "BatchNorm2d(num_features=2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
     ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]),
    (lambda: mint.nn.Conv2d(2, 3, 3, padding=1),
     ("Conv2d(input_channels=2, output_channels=3, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(1, 1), "
     "groups=1, bias=True)"), ["weight", "bias"]),
    (lambda: mint.nn.Embedding(5, 3),
     ("EmbeddingExt(num_embeddings=5, embedding_dim=3, padding_idx=None, max_norm=None, norm_type=2.0, "
     "scale_grad_by_freq=False, dtype=Float32)"), ["weight"]),
    (lambda: mint.nn.AdaptiveAvgPool2d(2), "AdaptiveAvgPool2d(output_size=2)", []),
    (lambda: mint.nn.Dropout(0.3), "DropoutExt()", []), (lambda: mint.nn.Hardswish(), "HSwish()", []),
    (lambda: mint.nn.PReLU(), "PReLUExt()", ["weight"]), (lambda: mint.nn.MSELoss(), "MSELoss()", []),
])  # fmt: skip
def test_text_and_parameters(make: Any, text: str, names: list[str]) -> None:
    layer = make()
    assert repr(layer) == text
    assert [p.name for p in layer.get_parameters()] == names


@pytest.mark.parametrize("layer, function, inputs", [
    (mint.nn.GELU(), F.gelu, (X,)), (mint.nn.GLU(0), lambda x: F.glu(x, 0), (X,)),
    (mint.nn.Softmax(1), lambda x: F.softmax(x, 1), (X,)), (mint.nn.LogSoftmax(1), lambda x: F.log_softmax(x, 1), (X,)),
    (mint.nn.Threshold(0.1, 2.0), lambda x: F.threshold(x, 0.1, 2.0), (X,)),
    (mint.nn.MaxPool2d(2), lambda x: F.max_pool2d(x, 2), (IMAGE,)),
    (mint.nn.AvgPool2d(2, ceil_mode=True), lambda x: F.avg_pool2d(x, 2), (IMAGE,)),
    (mint.nn.Unfold(2), lambda x: F.unfold(x, 2), (IMAGE,)),
    (mint.nn.UpsamplingBilinear2d(scale_factor=2.0),
     lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True), (IMAGE,)),
    (mint.nn.SmoothL1Loss(beta=0.5), lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), (X, X * 0.5)),
    (mint.nn.CrossEntropyLoss(), F.cross_entropy, (X, Tensor([0, 2]))),
])  # fmt: skip
def test_layers_over_functions(layer: Any, function: Any, inputs: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(layer(*inputs).asnumpy(), function(*inputs).asnumpy())
    assert np.isfinite(grad(lambda x: layer(x, *inputs[1:]).sum())(inputs[0]).asnumpy()).all()


def test_batch_normalisation_counts_and_follows_its_batches() -> None:
    layer = mint.nn.BatchNorm2d(2).set_train()
    out = layer(IMAGE).asnumpy()
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-6)
    values = IMAGE.asnumpy()
    np.testing.assert_allclose(layer.running_mean.asnumpy(), 0.1 * values.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.asnumpy(), 0.9 + 0.1 * values.var((0, 2, 3), ddof=1), rtol=1e-5)
    assert int(layer.num_batches_tracked) == 1
    plain = mint.nn.BatchNorm2d(2, affine=False, track_running_stats=False).set_train(False)
    np.testing.assert_allclose(plain(IMAGE).asnumpy(), out, rtol=1e-4, atol=1e-6)


def test_convolutions_pad_as_asked() -> None:
    layer = mint.nn.Conv2d(2, 1, 3, padding=1, padding_mode="reflect", bias=False)
    layer.weight.set_data(ops.ones_like(layer.weight))
    padded = np.pad(IMAGE.asnumpy(), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect")
    np.testing.assert_allclose(layer(IMAGE).asnumpy()[0, 0, 0, 0], padded[0, :, :3, :3].sum(), rtol=1e-5)
    assert mint.nn.ConvTranspose2d(2, 3, 3, stride=2)(IMAGE).shape == (1, 3, 9, 9)
    with pytest.raises(ValueError, match="padding_mode"):
        mint.nn.Conv2d(2, 1, 3, padding_mode="zero")


def test_in_place_forms_write() -> None:
    for write in (lambda x: mint.nn.SiLU(inplace=True)(x), lambda x: F.elu_(x), lambda x: F.relu_(x)):
        x = Tensor([-1.0, 2.0])
        assert write(x) is x
        assert x.asnumpy()[0] != -1.0


def test_names() -> None:
    assert "Conv2d" in dir(mint.nn)
    assert not hasattr(mint.nn, "Softplus")
    assert mint.nn.ReLU is nn.ReLU
