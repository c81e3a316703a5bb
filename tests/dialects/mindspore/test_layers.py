"""Layers and losses against figures recorded from MindSpore 2.10 (layer_cases.py)."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from dialects.mindspore import layer_cases

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, nn

RECORD = json.loads(layer_cases.RECORD.read_text())
CASES = layer_cases.cases()
# MindSpore's tanh, exp and log are approximations in single precision.
ROUGH = ("RNN", "GRU", "LSTM", "Multihead", "Transformer")


def agree(want: Any, got: Any, tolerance: float) -> bool:
    """Whether two summaries agree."""
    return want[:2] == got[:2] and all(
        math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance * max(1.0, math.prod(want[1]) ** 0.5))
        for a, b in zip(want[2:], got[2:])
    )


@pytest.mark.parametrize("i", range(len(CASES)), ids=[f"{make}-{training}" for make, _, training in CASES])
def test_figures(i: int) -> None:
    got, want = layer_cases.measured(ms, *CASES[i]), RECORD["figures"][i]
    tolerance = 4e-4 if any(name in CASES[i][0] for name in ROUGH) else 3e-5
    assert got.keys() == want.keys()
    for part, figures in want.items():
        assert len(figures) == len(got[part]), part
        for a, b in zip(figures, got[part]):
            assert agree(a, b, tolerance), (part, a, b)


@pytest.mark.parametrize("i", range(len(layer_cases.ERRORS)), ids=[make for make, _ in layer_cases.ERRORS])
def test_errors(i: int) -> None:
    assert layer_cases.error(ms, *layer_cases.ERRORS[i]) == RECORD["errors"][i]


@pytest.mark.parametrize("make, text", [
    (lambda: nn.Dense(3, 2, activation="relu"),
     "Dense(\n  input_channels=3, output_channels=2, has_bias=True, activation=ReLU()\n  (activation): ReLU()\n)"),
    (lambda: nn.MaxPool1d(2), "MaxPool1d(kernel_size=(1, 2), stride=(1, 1), pad_mode=VALID)"),
    (lambda: nn.Dropout(p=0.3), "Dropout(p=0.3)"),
    (lambda: nn.GroupNorm(1, 3), "GroupNorm(num_groups=1, num_channels=3)"),
    (lambda: nn.WithLossCell(nn.Dense(2, 2), nn.MSELoss()),
     "WithLossCell(\n  (_backbone): Dense(input_channels=2, output_channels=2, has_bias=True)\n  (_loss_fn): MSELoss()\n)"),
])  # fmt: skip
def test_texts(make: Any, text: str) -> None:
    assert repr(make()) == text


def test_parameter_names() -> None:
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3, has_bias=True), nn.BatchNorm2d(2), nn.LSTM(2, 2))
    assert [p.name for p in net.get_parameters()] == [
        "0.weight", "0.bias", "1.moving_mean", "1.moving_variance", "1.gamma", "1.beta",
        "2.weight_ih_l0", "2.weight_hh_l0", "2.bias_ih_l0", "2.bias_hh_l0",
    ]  # fmt: skip
    assert [p.name for p in nn.PReLU().get_parameters()] == ["a"]


def test_default_initial_values_lie_within_their_bounds() -> None:
    ms.set_seed(3)
    dense, conv = nn.Dense(100, 50), nn.Conv2d(4, 8, 5, has_bias=True)
    assert np.abs(dense.weight.asnumpy()).max() == pytest.approx(0.1, rel=0.01)
    assert np.abs(dense.bias.asnumpy()).max() <= 0.1
    assert np.abs(conv.weight.asnumpy()).max() == pytest.approx(0.1, rel=0.02)
    assert np.abs(conv.bias.asnumpy()).max() <= 0.1


def test_dropout_in_training_keeps_the_mean() -> None:
    ms.set_seed(0)
    layer = nn.Dropout(p=0.25).set_train()
    out = layer(Tensor(np.ones((100, 100), np.float32))).asnumpy()
    assert set(np.unique(out)) == {0.0, np.float32(1 / 0.75)}
    assert out.mean() == pytest.approx(1, abs=0.02)


def test_where_mindspore_is_wrong() -> None:
    # The transposed convolution of MindSpore leaves the padding of the output zero; SeLU's gradient below 0 is wrong.
    layer = nn.Conv2dTranspose(1, 1, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, weight_init="ones")
    assert layer(Tensor(np.ones((1, 1, 2, 2), np.float32))).asnumpy()[0, 0].tolist() == [
        [1, 2, 1, 1], [2, 4, 2, 2], [1, 2, 1, 1], [1, 2, 1, 1],
    ]  # fmt: skip
    slope = ms.grad(nn.SeLU())(Tensor([-3.0])).asnumpy()
    np.testing.assert_allclose(slope, 1.0507009873 * 1.6732632423 * np.exp(-3.0), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.Softmax("a"), TypeError),
        (lambda: nn.Softmax(1.5), TypeError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), ValueError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=1), TypeError),
        (lambda: nn.CrossEntropyLoss(ignore_index="a"), TypeError),
        (lambda: nn.CrossEntropyLoss(weight=3), TypeError),
        (lambda: nn.NLLLoss(ignore_index=1.5), TypeError),
    ],
)
def test_wrong_arguments_are_refused_at_once(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_norm_says_what_it_is() -> None:
    assert repr(nn.Norm()) == "Norm(axis=(), keep_dims=False)"


def test_layer_norm_prints_its_shape_as_given() -> None:
    assert "normalized_shape=[3]," in repr(nn.LayerNorm([3]))
    assert "normalized_shape=(3,)," in repr(nn.LayerNorm((3,)))


def test_weights_of_one_axis_are_given_with_three() -> None:
    weight = Tensor(np.arange(6, dtype=np.float32).reshape(2, 1, 3))
    x = Tensor(np.ones((1, 1, 4), np.float32))
    layer = nn.Conv1d(1, 2, 3, weight_init=weight, pad_mode="valid")
    assert layer.weight.shape == (2, 1, 1, 3)
    assert layer(x).asnumpy().tolist() == [[[3.0, 3.0], [12.0, 12.0]]]
    assert nn.Conv1dTranspose(1, 2, 3, weight_init=weight.reshape(1, 2, 3))(x).shape == (1, 2, 4)
    with pytest.raises(ValueError, match="weight_init"):
        nn.Conv1d(1, 2, 3, weight_init=weight.reshape(2, 1, 1, 3))


def test_attention_without_weights_is_a_tuple_of_one() -> None:
    x = Tensor(np.ones((1, 2, 4), np.float32))
    assert len(nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, need_weights=False)) == 1


def test_instance_norm_prints_its_momentum_as_given() -> None:
    assert "momentum=0.3," in repr(nn.InstanceNorm2d(2, momentum=0.3))


@pytest.mark.parametrize("loss", [nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.KLDivLoss(), nn.SoftmaxCrossEntropyWithLogits()])
def test_losses_that_do_not_promote(loss: Any) -> None:
    x = Tensor([[0.25, 0.75]])
    for labels in (Tensor([[0, 1]]), Tensor(np.array([[0.0, 1.0]]))):
        with pytest.raises(TypeError, match="one dtype"):
            loss(x, labels)


def test_flatten_without_axes() -> None:
    assert nn.Flatten(0)(Tensor(1.0)).shape == (1,)
    for start in (1, 3):
        with pytest.raises(ValueError, match="Flatten"):
            nn.Flatten(start)(Tensor(1.0))


def test_ctc_loss_takes_labels_behind_their_length_for_padding() -> None:
    x = Tensor(np.arange(24, dtype=np.float32).reshape(3, 2, 4))
    labels, lengths = Tensor([[1, 2, 9], [1, 1, 7]], ms.int32), Tensor([2, 1], ms.int32)
    found = nn.CTCLoss(blank=0, reduction="none")(x, labels, Tensor([3, 3], ms.int32), lengths)
    np.testing.assert_allclose(found.asnumpy(), [-29.573174, -39.76163], rtol=1e-5)


def test_means_of_pools_count_padding_as_told() -> None:
    x = Tensor(np.arange(27, dtype=np.float32).reshape(1, 1, 3, 3, 3))
    of = [ms.ops.AvgPool3D(2, 2, "same", count_include_pad=counted)(x).asnumpy().ravel()[:3] for counted in (True, False)]
    np.testing.assert_allclose(of, [[6.5, 4.0, 5.5], [6.5, 8.0, 11.0]])
