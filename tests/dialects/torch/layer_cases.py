"""Layers and functions that are run on PyTorch (record_layers.py) and on the dialect (test_layers.py) alike.

A case is an expression for a layer (or function), its inputs (shapes to draw from, or expressions) and options. Its
result holds, per tensor of the output, the gradients and the buffers: dtype, shape, and two sums over the elements.
"""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

PATH = Path(__file__).parent / "data" / "layers.json"

IMAGE = (2, 3, 7, 6)
SPACES = {1: (2, 3, 7), 2: (2, 3, 7, 6), 3: (2, 3, 7, 6, 5)}


def _convolutions():
    yield "nn.Linear(3, 4)", (5, 3)
    yield "nn.Linear(3, 4, bias=False)", (3,)
    yield "nn.Bilinear(2, 3, 4)", (5, 2), (5, 3)
    for mode in ("zeros", "reflect", "replicate", "circular"):
        yield f"nn.Conv1d(2, 3, 3, padding=1, padding_mode={mode!r})", (2, 2, 7)
        yield (f"nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 1), dilation=(1, 2), groups=2, "
               f"padding_mode={mode!r})"), (2, 2, 7, 6)  # fmt: skip
    for padding in ("same", "valid"):
        yield f"nn.Conv2d(2, 3, (4, 3), padding={padding!r}, dilation=(1, 2))", (2, 2, 7, 8)
    yield "nn.Conv2d(2, 3, 3)", (2, 5, 5)
    yield "nn.Conv2d(4, 3, 1, bias=False)", (2, 4, 5, 5)
    yield "nn.Conv2d(4, 8, 3, groups=4, padding=1)", (2, 4, 5, 5)
    yield "nn.Conv3d(1, 2, 2, padding=1)", (1, 1, 3, 4, 3)
    yield "nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)", (2, 4, 5)
    yield "nn.ConvTranspose2d(3, 2, 3, stride=2)", (2, 3, 4, 4)
    yield "nn.ConvTranspose2d(2, 3, 2, stride=2, dilation=3, output_padding=2)", (1, 2, 3, 3)
    yield "nn.ConvTranspose3d(2, 3, 2, dilation=2)", (1, 2, 3, 3, 3)
    yield "lambda x, w: torch.conv_tbc(x, w, torch.ones(4), 1)", (5, 2, 3), (3, 3, 4)


def _pools():
    for d, shape in SPACES.items():
        for options in ("2", "3, 2, 1, return_indices=True", "3, 2, 1, ceil_mode=True", "2, 1"):
            yield f"nn.MaxPool{d}d({options})", shape
        yield f"nn.MaxPool{d}d(2)", shape[1:]
        for options in ("2", "3, 2, 1", "3, 2, 1, True, False", "3, 2, 1, True, True"):
            yield f"nn.AvgPool{d}d({options})", shape
        for size in (1, 2, 4):
            yield f"nn.AdaptiveAvgPool{d}d({size})", shape
            yield f"nn.AdaptiveMaxPool{d}d({size}, return_indices=True)", shape
        yield f"nn.LPPool{d}d(2, 2, ceil_mode=True)", shape
        yield (f"lambda x: F.max_unpool{d}d(*F.max_pool{d}d(x, 2, return_indices=True), 2)"), shape
    yield "nn.AvgPool2d(3, 2, 1, divisor_override=5)", IMAGE
    yield "nn.AdaptiveAvgPool2d((None, 3))", IMAGE
    yield "nn.FractionalMaxPool2d((3, 2), output_ratio=(.5, .6), return_indices=True)", (2, 3, 9, 8)
    yield "nn.FractionalMaxPool3d(2, output_size=3)", (2, 2, 7, 8, 6)
    edges = "torch.tensor([[[[1., nan, 3, 4], [2, 2, inf, -inf], [5, 5, 5, nan], [-inf, -inf, 0, 0]]]])"
    for f in ("F.max_pool2d(x, 2, return_indices=True)", "F.max_pool2d(x, 3, 1, 1, return_indices=True)",
              "F.adaptive_max_pool2d(x, 3, return_indices=True)"):  # fmt: skip
        for x in (edges, "torch.zeros(1, 1, 4, 4)", "torch.full((1, 1, 4, 4), -inf)"):
            yield f"lambda x: {f}", x


def _norms():
    for options in ("3", "3, momentum=None", "3, affine=False", "3, track_running_stats=False", "3, bias=False"):
        yield f"nn.BatchNorm2d({options})", (4, 3, 5, 2), {"calls": 3}
        yield f"nn.BatchNorm2d({options})", (4, 3, 5, 2), {"train": False}
    yield "nn.BatchNorm1d(3)", (4, 3)
    yield "nn.BatchNorm1d(3)", (1, 3)
    yield "nn.BatchNorm3d(3)", (2, 3, 2, 2, 2)
    yield "nn.InstanceNorm1d(3)", (3, 5)
    yield "nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", (2, 3, 5, 4), {"calls": 2}
    for layer in ("LayerNorm(5)", "LayerNorm((3, 5), bias=False)", "LayerNorm(5, elementwise_affine=False)", "RMSNorm(5)",
                  "RMSNorm((3, 5), 1e-3)", "GroupNorm(1, 3)", "GroupNorm(3, 3, affine=False)", "LocalResponseNorm(2)"):  # fmt: skip
        yield f"nn.{layer}", (2, 3, 5)
    yield "lambda x: F.normalize(x, p=1, dim=(0, 1))", (3, 2)
    yield "lambda x: torch.native_layer_norm(x, (5,), None, None, 1e-5)", (2, 3, 5)
    yield "lambda x: torch.native_group_norm(x, None, None, 2, 4, 5, 2, 1e-5)", (2, 4, 5)
    yield "lambda x: torch._native_batch_norm_legit(x, None, None, True, .1, 1e-5)", (4, 3)
    yield "lambda x: torch.native_batch_norm(x, None, None, None, None, True, .1, 1e-5)", (4, 3)


def _dropouts():
    for name, shape in (("Dropout", (4, 6)), ("Dropout1d", (2, 3, 4)), ("Dropout1d", (3, 4)), ("Dropout2d", (2, 3, 4, 4)),
                        ("Dropout3d", (3, 2, 2, 2)), ("AlphaDropout", (4, 6)), ("FeatureAlphaDropout", (2, 3, 4))):  # fmt: skip
        yield f"nn.{name}(.4)", shape
        yield f"nn.{name}(.4)", shape, {"train": False}
        yield f"nn.{name}(1.)", shape
    yield "lambda x: F.dropout(x.t(), .5)", (3, 4)


def _resampling():
    for options in ("scale_factor=2", "size=7", "scale_factor=1.7", "scale_factor=.6", "scale_factor=1.1",
                    "scale_factor=1.7, recompute_scale_factor=True"):  # fmt: skip
        # Where a factor keeps the size, PyTorch's gradient does not belong to its result in all modes.
        kept = {"gradient": "1.1" not in options}
        for d, mode in ((1, "linear"), (2, "bilinear"), (2, "bicubic"), (3, "trilinear")):
            for align in (False, True):
                yield f"nn.Upsample(mode={mode!r}, align_corners={align}, {options})", (2, 2, 5, 6, 4)[: d + 2], kept
        for d, mode in itertools.product((1, 2, 3), ("nearest", "nearest-exact", "area")):
            yield f"nn.Upsample(mode={mode!r}, {options})", (2, 2, 5, 6, 4)[: d + 2], kept
        for mode in ("bilinear", "bicubic"):
            yield f"lambda x: F.interpolate(x, mode={mode!r}, antialias=True, {options})", (2, 2, 5, 6), kept
    for mode, padding, align in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)
    ):
        call = f"lambda x, g: F.grid_sample(x, g, {mode!r}, {padding!r}, {align})"
        yield call, (2, 2, 4, 5), "torch.rand(2, 3, 4, 2) * 3 - 1.5"
        if mode != "bicubic":
            yield call, (2, 2, 4, 5, 3), "torch.rand(2, 3, 2, 2, 3) * 3 - 1.5"
    for align in (True, False):
        yield f"lambda t: F.affine_grid(t, (2, 1, 3, 4), {align})", (2, 2, 3)


def _tables_and_activations():
    numbers = "torch.randint(0, 5, (2, 4))"
    for options in ("", ", padding_idx=2", ", max_norm=.5", ", scale_grad_by_freq=True"):
        yield f"nn.Embedding(5, 3{options})", numbers
    for mode in ("sum", "mean", "max"):
        yield f"nn.EmbeddingBag(5, 3, mode={mode!r})", "torch.randint(0, 5, (6,))", "torch.tensor([0, 2, 2])"
    for name in ("ReLU", "ReLU6", "Sigmoid", "Tanh", "ELU", "CELU", "SELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish",
                 "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish", "PReLU", "RReLU", "SiLU", "Softplus", "Softshrink", "Softsign",
                 "Tanhshrink", "GLU", "Softmin"):  # fmt: skip
        yield f"nn.{name}()", (3, 4)
    for d in (1, 2, 3):
        for name, options in (("ConstantPad", ", 1.5"), ("ReflectionPad", ""), ("ReplicationPad", ""), ("CircularPad", "")):
            yield f"nn.{name}{d}d(1{options})", (2, 3, 4, 5, 6)[: d + 2]
    for layer, shape in (("Flatten()", (2, 3, 4)), ("Unflatten(1, (2, 3))", (2, 6)), ("PixelShuffle(2)", (2, 8, 3, 3)),
                         ("Fold((4, 4), 2)", (2, 8, 9)), ("Unfold(2, 1, 1, 2)", (2, 2, 4, 4))):  # fmt: skip
        yield f"nn.{layer}", shape


def _recurrent():
    for name in ("RNN", "LSTM", "GRU"):
        for options in ("", ", 2, dropout=.3", ", 2, bidirectional=True", ", bias=False"):
            yield f"nn.{name}(3, 4{options})", (5, 2, 3)
        yield f"nn.{name}(3, 4, batch_first=True)", (2, 5, 3)
        yield f"nn.{name}(3, 4, bidirectional=True)", (5, 3)
        yield f"nn.{name}Cell(3, 4)", (2, 3)
        state = "(torch.ones(1, 2, 4), torch.ones(1, 2, 4))" if name == "LSTM" else "torch.ones(1, 2, 4)"
        yield f"nn.{name}(3, 4)", (5, 2, 3), state
        yield (f"lambda x: (lambda out, h: (*rnn.pad_packed_sequence(out), h))(*nn.{name}(3, 4, bidirectional=True)("
               "rnn.pack_padded_sequence(x, [2, 5, 3], enforce_sorted=False)))"), (5, 3, 3)  # fmt: skip
    yield "nn.RNN(3, 4, nonlinearity='relu')", (5, 2, 3)
    yield "nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True)", (5, 2, 3)


def _attention():
    three = ((3, 2, 4), (5, 2, 4), (5, 2, 4))
    for options in ("", ", dropout=.4", ", bias=False", ", add_bias_kv=True, add_zero_attn=True"):
        yield f"nn.MultiheadAttention(4, 2{options})", *three
    yield "nn.MultiheadAttention(4, 2, kdim=3, vdim=5)", (3, 2, 4), (5, 2, 3), (5, 2, 5)
    yield "nn.MultiheadAttention(4, 2)", (3, 4), (5, 4), (5, 4)
    padding = "torch.tensor([[False, False, True, False, True], [False] * 5])"
    for keywords in ("need_weights=False", "average_attn_weights=False", f"key_padding_mask={padding}",
                     "attn_mask=torch.ones(3, 5).triu(1).bool()",
                     f"attn_mask=torch.ones(3, 5), key_padding_mask={padding}, need_weights=False"):  # fmt: skip
        yield f"(lambda m: lambda q, k, v: m(q, k, v, {keywords}))(nn.MultiheadAttention(4, 2))", *three
    rows = "torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5, [True, True, False, False, False]])"
    for keywords in ("", "attn_mask=torch.ones(4, 5)", f"attn_mask={rows}", "dropout_p=.3", "scale=.3", "is_causal=True"):
        call = f"lambda q, k, v: F.scaled_dot_product_attention(q, k, v, {keywords})"
        yield call, (2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 6)
        yield call, (4, 6), (5, 6), (5, 3)
    for options in ("", ", norm_first=True", ", activation='gelu', batch_first=True"):
        yield f"nn.TransformerEncoderLayer(4, 2, 8, .2{options})", (2, 3, 4)
        yield f"nn.TransformerDecoderLayer(4, 2, 8, .2{options})", (2, 3, 4), (2, 3, 4)
    mask = "mask=nn.Transformer.generate_square_subsequent_mask(5)"
    yield (f"(lambda m: lambda x: m(x, {mask}, src_key_padding_mask={padding}))(nn.TransformerEncoder("
           "nn.TransformerEncoderLayer(4, 2, 8, 0., batch_first=True), 2))"), (2, 5, 4)  # fmt: skip
    yield "nn.Transformer(4, 2, 1, 2, 8)", (3, 2, 4), (5, 2, 4)
    yield "nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], 2.)", (6, 8), "torch.tensor([0, 9, 4, 2, 7, 5])"


def _parametrized():
    for layer in ("P.weight_norm(nn.Linear(3, 4))", "P.weight_norm(nn.Linear(3, 4), dim=None)", "P.spectral_norm(nn.Linear(3, 4))",
                  "P.orthogonal(nn.Linear(3, 4))", "P.orthogonal(nn.Linear(3, 3), orthogonal_map='cayley')",
                  "U.weight_norm(nn.Linear(3, 4))", "U.spectral_norm(nn.Linear(3, 4))"):  # fmt: skip
        yield layer, (2, 3), {"calls": 2}
    for lazy, shape in (("LazyLinear(2)", (3, 4)), ("LazyConv2d(2, 3)", (1, 3, 5, 5)), ("LazyBatchNorm1d()", (3, 4))):
        yield f"nn.{lazy}", shape


def cases():
    """Every case as (key, expression, inputs, options)."""
    groups = (_convolutions, _pools, _norms, _dropouts, _resampling, _tables_and_activations, _recurrent, _attention,
              _parametrized)  # fmt: skip
    for group in groups:
        for expression, *rest in group():
            options = rest.pop() if isinstance(rest[-1], dict) else {}
            yield f"{expression} of {', '.join(map(str, rest))} {options or ''}".strip(), expression, rest, options


def _tensors(torch, x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for y in x for t in _tensors(torch, y)] if isinstance(x, (tuple, list)) else []


def _summary(torch, t):
    """Dtype, shape, and two sums that tell where the elements are; nan and infinity are counted instead."""
    if t is None:
        return None
    x = t.detach().double().flatten()
    finite = torch.isfinite(x)
    x = torch.where(finite, x, torch.zeros_like(x))
    weights = torch.cos(torch.arange(x.numel(), dtype=torch.float64))
    return [str(t.dtype), list(t.shape), (x * weights).sum().item(), x.abs().sum().item(), int((~finite).sum())]


def run(torch, expression, inputs, options):
    """The result of one case, or the name of its exception."""
    names = {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "U": torch.nn.utils, "inf": float("inf"),
        "nan": float("nan"), "P": torch.nn.utils.parametrizations, "rnn": torch.nn.utils.rnn,
    }  # fmt: skip
    torch.manual_seed(7)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = eval(expression, names)
            is_module = isinstance(layer, torch.nn.Module)
            if is_module:
                layer.train(options.get("train", True))
            xs = [torch.randn(*x) if isinstance(x, tuple) else eval(x, names) for x in inputs]
            for t in _tensors(torch, xs):
                t.requires_grad_(t.is_floating_point())
            for _ in range(options.get("calls", 1)):
                out = layer(*xs)
            outs = _tensors(torch, out)
            result = {"out": [_summary(torch, t) for t in outs]}
            active = [t for t in outs if t.requires_grad]
            leaves = [t for t in _tensors(torch, xs) if t.requires_grad]
            if is_module:
                leaves += [p for p in layer.parameters() if p.requires_grad]
                result["buffers"] = [_summary(torch, b) for b in layer.buffers()]
            if active and options.get("gradient", True):
                total = sum((t * torch.cos(torch.arange(t.numel(), dtype=t.dtype)).reshape(t.shape)).sum() for t in active)
                grads = torch.autograd.grad(total, leaves, allow_unused=True)
                result["grads"] = [_summary(torch, g) for g in grads]
            return result | {"next": torch.rand(1).item()}
    except Exception as error:
        return {"error": type(error).__name__}


def load():
    """What PyTorch gave."""
    return json.loads(PATH.read_text())
