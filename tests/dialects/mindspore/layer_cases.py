"""Layers and losses as expressions, and what is measured of them: run with MindSpore it records data/layers.json.

    python tests/dialects/mindspore/layer_cases.py      (in an environment with MindSpore)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parent / "data" / "layers.json"

IMAGE, SPACE, ROW, PLANE = "X(2, 4, 6, 7)", "X(1, 2, 3, 4, 5)", "X(2, 3, 5)", "X(2, 3)"

LAYERS: dict[str, list[str]] = {
    PLANE: [
        "nn.Dense(3, 2)", "nn.Dense(3, 2, has_bias=False, activation='relu')", "nn.BatchNorm1d(3)", "nn.Flatten()",
        "nn.Identity()", "nn.Pad(((0, 1), (2, 0)))",
    ],
    ROW: [
        "nn.Conv1d(3, 4, 3, stride=2, has_bias=True)", "nn.Conv1d(3, 4, 3, pad_mode='pad', padding=2)",
        "nn.Conv1dTranspose(3, 4, 3, stride=2)", "nn.MaxPool1d(2, 2)", "nn.AvgPool1d(3, 2, 'pad', 1)", "nn.BatchNorm1d(3)",
        "nn.LayerNorm((5,))", "nn.LayerNorm((3, 5), begin_norm_axis=1, begin_params_axis=1)", "nn.LayerNorm([5], epsilon=1e-2)",
        "nn.ConstantPad1d((1, 2), 0.5)", "nn.ReflectionPad1d(2)", "nn.ReplicationPad1d(2)",
        "nn.Upsample(size=8, mode='linear')", "nn.AdaptiveAvgPool1d(5)",
    ],
    IMAGE: [
        "nn.Conv2d(4, 6, (3, 2), stride=2, group=2, has_bias=True)", "nn.Conv2d(4, 6, 3, dilation=2)",
        "nn.Conv2d(4, 6, (3, 2), stride=(2, 3), pad_mode='pad', padding=(1, 2, 0, 1))", "nn.Conv2d(4, 6, 3, pad_mode='valid')",
        "nn.Conv2dTranspose(4, 6, (3, 2), stride=2, has_bias=True, group=2)", "nn.Conv2dTranspose(4, 3, 3, stride=2, dilation=2)",
        "nn.Conv2dTranspose(4, 3, 2, stride=3, pad_mode='valid')",
        "nn.Conv2dTranspose(4, 3, 3, stride=2, pad_mode='pad', padding=(1, 2, 0, 1))",
        "nn.MaxPool2d(3, 2, 'same')", "nn.MaxPool2d(2, 2)", "nn.MaxPool2d(3, 2, 'pad', 1, return_indices=True)",
        "nn.MaxPool2d(3, 2, 'pad', 0, ceil_mode=True)", "nn.AvgPool2d(3, 2, 'same')", "nn.AvgPool2d(2, 2)",
        "nn.AvgPool2d(3, 2, 'pad', 1, count_include_pad=False)", "nn.AvgPool2d(3, 2, 'pad', 1, divisor_override=5)",
        "nn.AdaptiveAvgPool2d((3, 2))", "nn.AdaptiveMaxPool2d((3, 2))", "nn.LPPool2d(2, 2)",
        "nn.BatchNorm2d(4, momentum=0.7, eps=1e-3)", "nn.BatchNorm2d(4, use_batch_statistics=True)", "nn.GroupNorm(2, 4)",
        "nn.LRN(2)", "nn.Flatten(2, 3)", "nn.ConstantPad2d((1, 2, 0, 1), 0.5)", "nn.ZeroPad2d((1, -1, 0, 2))",
        "nn.ReflectionPad2d((1, 2, 0, 1))", "nn.ReplicationPad2d((1, 2, 0, 1))", "nn.PixelShuffle(2)", "nn.ChannelShuffle(2)",
        "nn.Upsample(size=(9, 4), mode='bilinear', align_corners=True)", "nn.Upsample(size=(9, 4))", "nn.Softmax2d()",
    ],
    SPACE: [
        "nn.Conv3d(2, 3, (2, 3, 2), stride=(1, 2, 1), has_bias=True)", "nn.Conv3dTranspose(2, 3, 3, stride=2)",
        "nn.MaxPool3d(2, 1)", "nn.AvgPool3d(2, 1, 'same')", "nn.BatchNorm3d(2)", "nn.ReplicationPad3d(1)",
        "nn.Upsample(size=(4, 5, 6), mode='trilinear')",
    ],
    "Tensor(np.array([[-3., -1., -0.5, 0.], [0.5, 1., 3., 7.]], np.float32))": [
        f"nn.{name}()" for name in (
            "ReLU", "ReLU6", "Sigmoid", "SiLU", "Mish", "HSwish", "HSigmoid", "LogSigmoid", "Softsign", "FastGelu",
            "Softmax", "Softmin", "LogSoftmax", "GELU", "ELU", "CELU", "LeakyReLU", "HShrink", "SoftShrink", "Hardtanh",
            "PReLU", "GLU",
        )
    ] + ["nn.GELU(False)", "nn.LeakyReLU(0.1)", "nn.CELU(2.0)", "nn.Threshold(0.1, 20)", "nn.PReLU(4)", "nn.Softmax(0)"],
    "I(1, 4, 1)": ["nn.Embedding(5, 3)", "nn.Embedding(5, 3, padding_idx=1)"],
    "X(4, 2, 3)": [
        f"nn.{name}(3, 2{options})" for name in ("RNN", "LSTM", "GRU")
        for options in ("", ", num_layers=2, bidirectional=True", ", has_bias=False", ", batch_first=True")
    ],
    "X(2, 3), X(2, 2, k=1.0)": ["nn.RNNCell(3, 2)", "nn.GRUCell(3, 2)", "nn.RNNCell(3, 2, nonlinearity='relu')"],
    "X(3, 2, 4), X(5, 2, 4, k=1.0), X(5, 2, 4, k=2.0)": [
        "nn.MultiheadAttention(4, 2)", "nn.MultiheadAttention(4, 2, has_bias=False)",
        "nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)",
    ],
    "X(3, 2, 4)": [
        "nn.TransformerEncoderLayer(4, 2, 8, 0.0)",
        "nn.TransformerEncoderLayer(4, 2, 8, 0.0, activation='gelu', norm_first=True, batch_first=True)",
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, nn.LayerNorm((4,)))",
    ],
    "X(3, 2, 4), X(5, 2, 4, k=1.0)": ["nn.TransformerDecoderLayer(4, 2, 8, 0.0)", "nn.Transformer(4, 2, 1, 1, 8, 0.0)"],
}  # fmt: skip

_SIGNS = "Tensor(np.sign(A(2, 3, k=2.0)))"
_WEIGHT = "Tensor(np.array([1., 2., 3.], np.float32))"
_PROBABILITIES = "Tensor(np.array([[.3, .3, .4], [.2, .0, .8]], np.float32))"

LOSSES: dict[str, list[str]] = {
    "X(2, 3), X(2, 3, k=1.0)": [
        "nn.MSELoss(R)", "nn.L1Loss(R)", "nn.SmoothL1Loss(0.5, R)", "nn.HuberLoss(R, 0.7)",
    ],
    "X(2, 3), I(1, 2)": [
        "nn.CrossEntropyLoss(reduction=R)", "nn.CrossEntropyLoss(reduction=R, label_smoothing=0.1)",
        f"nn.CrossEntropyLoss({_WEIGHT}, reduction=R, label_smoothing=0.2, ignore_index=2)",
        f"nn.NLLLoss({_WEIGHT}, reduction=R)",
        "nn.SoftmaxCrossEntropyWithLogits(True, R)",
    ],
    f"X(2, 3), {_PROBABILITIES}": [
        "nn.SoftmaxCrossEntropyWithLogits(reduction=R)", f"nn.CrossEntropyLoss({_WEIGHT}, reduction=R, label_smoothing=0.1)",
    ],
    "Tensor(1 / (1 + np.exp(-A(2, 3)))), Tensor((A(2, 3, k=1.0) > 0).astype(np.float32))": [
        "nn.BCELoss(reduction=R)", "nn.BCELoss(Tensor(A(2, 3, k=3.0) ** 2), R)",
    ],
    "X(2, 3), Tensor((A(2, 3, k=1.0) > 0).astype(np.float32))": [
        "nn.BCEWithLogitsLoss(R)", f"nn.BCEWithLogitsLoss(R, Tensor(A(2, 3, k=3.0) ** 2), {_WEIGHT})",
        "nn.MultiLabelSoftMarginLoss(reduction=R)",
    ],
    "X(2, 3, 2, 2), Tensor(np.array([[[0, 1], [2, 1]], [[1, 1], [0, 2]]], np.int32))": [
        "nn.CrossEntropyLoss(reduction=R)", "nn.NLLLoss(reduction=R)",
    ],
    "X(2, 3), X(2, 3, k=1.0), I(1, -1)": ["nn.CosineEmbeddingLoss(0.2, R)"],
    "X(4), X(4, k=1.0), Tensor(np.array([1, -1, 1, -1], np.float32))": ["nn.MarginRankingLoss(0.3, R)"],
    f"X(2, 3), {_SIGNS}": ["nn.HingeEmbeddingLoss(0.9, R)"],
    "X(2, 3), X(2, 3, k=1.0), Tensor(A(2, 3, k=3.0) ** 2 + np.float32(0.1))": ["nn.GaussianNLLLoss(full=True, reduction=R)"],
    "X(2, 3), Tensor(np.array([[1., 2., 3.], [0., 4., 1.]], np.float32))": ["nn.PoissonNLLLoss(True, True, reduction=R)"],
    "X(2, 3), X(2, 3, k=1.0), X(2, 3, k=2.0)": ["nn.TripletMarginWithDistanceLoss(reduction=R)"],
}  # fmt: skip

ERRORS = [
    ("nn.Dense(4, 2)", PLANE), ("nn.Dense(3.0, 2)", PLANE), ("nn.Dense(0, 2)", PLANE),
    ("nn.Dense(3, 2, activation='foo')", PLANE),
    ("nn.Dense(3, 2, weight_init=Tensor(np.ones((3, 2), np.float32)))", PLANE), ("nn.Dense(3, 2, activation=3)", PLANE),
    ("nn.Conv2d(3, 6, 3)", IMAGE), ("nn.Conv2d(4, 6, 3, pad_mode='x')", IMAGE), ("nn.Conv2d(4, 6, 3, padding=1)", IMAGE),
    ("nn.Conv2d(4, 6, 3, group=3)", IMAGE), ("nn.Conv2d(4, 6, 0)", IMAGE), ("nn.Conv2d(4, 6, 3, stride=0)", IMAGE),
    ("nn.Conv2d(4, 6, 3, pad_mode='pad', padding=(1, 2))", IMAGE), ("nn.Conv1d(3, 4, (3,))", ROW), ("nn.MaxPool2d(0)", IMAGE),
    ("nn.MaxPool2d(2, 2, return_indices=True)", IMAGE), ("nn.LayerNorm(5)", ROW), ("nn.GroupNorm(3, 4)", IMAGE),
    ("nn.BatchNorm2d(3)", IMAGE), ("nn.BatchNorm2d(3)", PLANE), ("nn.BatchNorm2d(4, momentum=2.0)", IMAGE),
    ("nn.Dropout(p=1.5)", PLANE), ("nn.Flatten(5)", IMAGE), ("nn.Embedding(5, 3)", "X(2)"),
    ("nn.ConstantPad1d((1, 2, 3), 0.5)", ROW), ("nn.MSELoss('x')", "X(2, 3), X(2, 3)"), ("nn.MSELoss()", "X(2, 3), X(2, 4)"),
    ("nn.CrossEntropyLoss()", "X(2, 3), I(1, 2, 0)"), ("nn.CrossEntropyLoss()", "X(2, 3), Tensor(np.array([1, 2]))"),
    ("nn.SoftmaxCrossEntropyWithLogits(True)", "X(2, 3, 2), I(1, 2)"), ("nn.HuberLoss(delta=-1.0)", "X(2, 3), X(2, 3)"),
    ("nn.CosineEmbeddingLoss(2.0)", "X(2, 3), X(2, 3), I(1, -1)"), ("nn.get_activation('foo')", ""),
    ("nn.LSTM(3, 0)", "X(4, 2, 3)"), ("nn.MultiheadAttention(4, 3)", "X(3, 2, 4)"),
]  # fmt: skip


def cases() -> list[tuple[str, str, bool]]:
    """Expressions of a layer and its inputs, and whether it is in training."""
    found = [(make, inputs, False) for inputs, layers in LAYERS.items() for make in layers]
    found += [(make, inputs, True) for make, inputs, _ in found if "BatchNorm" in make]
    for inputs, losses in LOSSES.items():
        found += [(make.replace("R)", f"{r!r})").replace("=R", f"={r!r}").replace("(R,", f"({r!r},"), inputs, False)
                  for make in losses for r in ("none", "mean", "sum")]  # fmt: skip
    return found


def names(ms: Any) -> dict[str, Any]:
    """What the expressions are made of."""

    def array(*shape: int, k: float = 0.0) -> np.ndarray:
        return (np.sin(np.arange(int(np.prod(shape))) * 1.7 + k) * 1.5).astype(np.float32).reshape(shape)

    return {
        "nn": ms.nn, "np": np, "Tensor": ms.Tensor, "A": array,
        "X": lambda *shape, k=0.0: ms.Tensor(array(*shape, k=k)), "I": lambda *v: ms.Tensor(np.array(v, np.int32)),
    }  # fmt: skip


def filled(ms: Any, net: Any) -> Any:
    """A network whose parameters have values that depend on their names' order only."""
    for j, p in enumerate(sorted(net.get_parameters(), key=lambda p: p.name)):
        values = np.sin(np.arange(int(np.prod(p.shape))) * 1.7 + j * 0.37).reshape(p.shape)
        p.set_data(ms.Tensor((np.abs(values) + 0.3 if "variance" in p.name else values).astype(np.float32)))
    return net


def summary(x: Any) -> list[Any]:
    """Dtype, shape, two weighted sums: enough to tell one array from another."""
    a = np.asarray(x.asnumpy(), np.float64).ravel()
    i = np.arange(a.size)
    return [str(x.dtype), list(x.shape), *(round(float((a * np.cos(i * w + 0.3)).sum()), 5) for w in (0.7, 2.1))]


def _flat(x: Any) -> list[Any]:
    return [z for y in x for z in _flat(y)] if isinstance(x, (tuple, list)) else [] if x is None else [x]


def measured(ms: Any, make: str, inputs: str, training: bool) -> dict[str, Any]:
    """What a case gives, the gradients of a weighted sum of it, and the running statistics after it."""
    env = names(ms)
    net = filled(ms, eval(make, env))
    net.set_train(training)
    xs = eval(f"({inputs},)", env)
    out = {"out": [summary(x) for x in _flat(net(*xs))]}
    if training:
        out["state"] = [summary(p) for p in net.get_parameters() if not p.requires_grad]
    net = filled(ms, eval(make, env))
    net.set_train(training)

    def total(*args: Any) -> Any:
        terms = [
            (y * ms.Tensor(np.cos(np.arange(int(np.prod(y.shape))) * 0.9 + j).astype(np.float32).reshape(y.shape))).sum()
            for j, y in enumerate(_flat(net(*args))) if str(y.dtype) == "Float32"
        ]  # fmt: skip
        return sum(terms[1:], terms[0])

    weights = list(net.trainable_params())
    first = 0 if str(xs[0].dtype) == "Float32" else None
    if first is not None or weights:
        grads = ms.grad(total, first, weights or None)(*xs)
        out["grad"] = [summary(g) for g in _flat(grads)]
    return out


def error(ms: Any, make: str, inputs: str) -> str:
    """The type of the exception that a case raises."""
    env = names(ms)
    try:
        filled(ms, eval(make, env))(*eval(f"({inputs},)" if inputs else "()", env))
    except Exception as found:
        return type(found).__name__
    return "nothing"


if __name__ == "__main__":
    import mindspore

    RECORD.parent.mkdir(exist_ok=True)
    figures = [measured(mindspore, *case) for case in cases()]
    kinds = [error(mindspore, *case) for case in ERRORS]
    lines = ",\n".join(json.dumps(f) for f in figures)
    RECORD.write_text(f'{{"mindspore": "{mindspore.__version__}", "errors": {json.dumps(kinds)}, "figures": [\n{lines}\n]}}\n')
    print(len(figures), "cases", kinds, file=sys.stderr)
