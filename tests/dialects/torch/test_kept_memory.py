"""The bytes that a graph keeps between forward and backward, beside those that PyTorch saves for the same layers."""

import tracemalloc

import numpy as np
import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn

F = nn.functional


def one(net, *shape):
    """A layer of one tensor: what exists already, and what is computed."""
    x = torch.rand(*shape, requires_grad=True)
    return lambda: net(x)


def several(f, *shapes, more=()):
    """A function of several tensors, and of some that no gradient goes to."""
    xs = [torch.rand(*shape, requires_grad=True) for shape in shapes]
    return lambda: f(*xs, *more)


def sequence(net):
    """A recurrent layer's outputs."""
    x = torch.rand(16, 20, 32, requires_grad=True)
    return lambda: net(x)[0]


def attending(**options):
    net, x = nn.MultiheadAttention(64, 4, batch_first=True), torch.rand(8, 32, 64, requires_grad=True)
    return lambda: net(x, x, x, **options)[0]


def looked_up(net):
    words = torch.randint(0, 100, (16, 20))
    return lambda: net(words)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16)

    def forward(self, x):
        out = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        out += x
        return F.relu(out)


def inverted():
    return nn.Sequential(
        nn.Conv2d(8, 32, 1), nn.BatchNorm2d(32), nn.SiLU(), nn.Conv2d(32, 32, 3, padding=1, groups=32),
        nn.BatchNorm2d(32), nn.SiLU(), nn.Conv2d(32, 8, 1), nn.BatchNorm2d(8),
    )  # fmt: skip


def autoencoder():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Sigmoid(),
    )  # fmt: skip


def conv(a, b):
    return nn.Conv2d(a, b, 3, padding=1)


heads = [(2, 4, 64, 16)] * 3
numbers = (64, 128)

# What PyTorch 2.13 saves: in `with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x): layer().sum()` the sum of
# x.untyped_storage().nbytes() over the different storages that pack(x) meets, without those of the layer's operands, parameters
# and buffers, which stay anyway.
LAYERS = {
    "linear": (lambda: one(nn.Linear(256, 128), 64, 256), 0),
    "convolution": (lambda: one(conv(8, 16), 4, 8, 32, 32), 0),
    "strided convolution": (lambda: one(nn.Conv2d(8, 16, 3, 2, 1), 4, 8, 32, 32), 0),
    "depthwise convolution": (lambda: one(nn.Conv2d(16, 16, 3, padding=1, groups=16), 4, 16, 32, 32), 0),
    "transposed convolution": (lambda: one(nn.ConvTranspose2d(16, 8, 4, 2, 1), 4, 16, 16, 16), 0),
    "convolution of lines, one place": (lambda: one(nn.Conv1d(16, 32, 1), 4, 16, 256), 0),
    "convolutions around relu": (lambda: one(nn.Sequential(conv(8, 16), nn.ReLU(), conv(16, 16)), 4, 8, 32, 32), 262144),
    "convolutions around batch norm and relu": (
        lambda: one(nn.Sequential(conv(8, 16), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 16)), 4, 8, 32, 32), 524416),
    "convolutions around relu in place": (
        lambda: one(nn.Sequential(conv(8, 16), nn.BatchNorm2d(16), nn.ReLU(True), conv(16, 16)), 4, 8, 32, 32), 524416),
    "convolutions around pooling": (
        lambda: one(nn.Sequential(conv(8, 16), nn.ReLU(), nn.MaxPool2d(2), conv(16, 16)), 4, 8, 32, 32), 458752),
    "residual blocks": (lambda: one(nn.Sequential(Residual(), Residual()), 4, 16, 16, 16), 524800),
    "inverted bottleneck": (lambda: one(inverted(), 4, 8, 16, 16), 819776),
    "autoencoder": (lambda: one(autoencoder(), 4, 1, 28, 28), 137984),
    "batch norm": (lambda: one(nn.BatchNorm2d(16), 4, 16, 32, 32), 128),
    "batch norm of lines": (lambda: one(nn.BatchNorm1d(16), 8, 16, 256), 128),
    "group norm": (lambda: one(nn.GroupNorm(4, 16), 4, 16, 32, 32), 128),
    "instance norm": (lambda: one(nn.InstanceNorm2d(16, affine=True), 4, 16, 32, 32), 768),
    "layer norm": (lambda: one(nn.LayerNorm(64), 8, 64, 64), 4096),
    "relu": (lambda: one(nn.ReLU(), 8, 32, 64), 65536),
    "gelu": (lambda: one(nn.GELU(), 8, 32, 64), 0),
    "silu": (lambda: one(nn.SiLU(), 8, 32, 64), 0),
    "softmax": (lambda: one(nn.Softmax(-1), 8, 32, 64), 65536),
    "dropout": (lambda: one(nn.Dropout(0.5), 8, 32, 64), 65536),
    "dropout in a perceptron": (
        lambda: one(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 64)), 64, 64), 49152),
    "largest of windows": (lambda: one(nn.MaxPool2d(3, 2, 1), 4, 8, 32, 32), 65536),
    "mean of windows": (lambda: one(nn.AvgPool2d(2), 4, 8, 32, 32), 0),
    "bilinear": (lambda: one(nn.Upsample(scale_factor=2, mode="bilinear"), 4, 8, 16, 16), 0),
    "lstm": (lambda: sequence(nn.LSTM(32, 64, 2, batch_first=True)), 2818048),
    "gru": (lambda: sequence(nn.GRU(32, 64, batch_first=True)), 614400),
    "elman": (lambda: sequence(nn.RNN(32, 64, batch_first=True)), 126976),
    "embedding": (lambda: looked_up(nn.Embedding(100, 64)), 0),
    "mean of bags": (lambda: looked_up(nn.EmbeddingBag(100, 64)), 2952),
    "largest of bags": (lambda: looked_up(nn.EmbeddingBag(100, 64, mode="max")), 11016),
    "attention": (lambda: several(F.scaled_dot_product_attention, *heads), 34816),
    "causal attention": (lambda: several(lambda *x: F.scaled_dot_product_attention(*x, is_causal=True), *heads), 34816),
    "attention of several heads": (lambda: attending(need_weights=False), 331776),
    "attention of several heads, weights": (attending, 524288),
    "encoder layer": (lambda: one(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 8, 32, 64), 1576960),
    "cross entropy": (lambda: several(F.cross_entropy, (256, 10), more=[torch.randint(0, 10, (256,))]), 10244),
    "binary cross entropy": (
        lambda: several(F.binary_cross_entropy_with_logits, numbers, more=[torch.rand(*numbers)]), 0),
    "topk": (lambda: several(lambda x: x.topk(8, 1).values, numbers), 4096),
    "maximum of rows": (lambda: several(lambda x: x.max(1).values, numbers), 512),
    "products of matrices": (lambda: several(torch.matmul, (8, 32, 64), (8, 64, 16)), 0),
    "rows by index": (lambda: several(lambda x, i: x[i], numbers, more=[torch.randint(0, 64, (256,))]), 0),
    "clamp": (lambda: several(lambda x: x.clamp(0.2, 0.8), numbers), 0),
}  # fmt: skip

SLACK = 64
"""The loss, and numbers that stand alone."""


def kept(run):
    """The bytes of NumPy's arrays that are there after the forward pass and were not before."""
    run().sum()  # what is found once for all
    tracemalloc.start()
    try:
        loss = run().sum()
        taken = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    assert loss.grad_fn is not None
    of_arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    return sum(trace.size for trace in taken.filter_traces([of_arrays]).traces)


@pytest.mark.parametrize("name", LAYERS)
def test_no_more_than_pytorch_saves(name):
    make, theirs = LAYERS[name]
    torch.manual_seed(0)
    assert kept(make()) <= theirs + SLACK
