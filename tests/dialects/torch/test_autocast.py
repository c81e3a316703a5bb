"""Autocast regions on the CPU: which dtype each kind of function computes in (recorded from PyTorch 2.13)."""

import threading
import warnings

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn
from retrograde.dialects.torch.nn import functional as F
from retrograde.dialects.torch.nn.functional import cross_entropy

LOW, FULL, WIDE = torch.bfloat16, torch.float32, torch.float64
x, w = torch.rand(2, 3), torch.rand(3, 2)
image, kernel = torch.rand(1, 1, 4, 4), torch.rand(1, 1, 2, 2)
low = torch.rand(2, 2).bfloat16()

CASES = {
    "x @ w": (lambda: x @ w, LOW),
    "mm": (lambda: torch.mm(x, w), LOW),
    "method": (lambda: x.matmul(w), LOW),
    "addmm": (lambda: torch.addmm(torch.rand(2, 2), x, w), LOW),
    "mv": (lambda: torch.mv(x, w[:, 0]), FULL),
    "linear": (lambda: F.linear(x, x), LOW),
    "conv2d": (lambda: F.conv2d(image, kernel), LOW),
    "nn.Conv2d": (lambda: nn.Conv2d(1, 1, 2)(image), LOW),
    "conv_transpose2d": (lambda: F.conv_transpose2d(image, kernel), LOW),
    "attention": (lambda: F.scaled_dot_product_attention(image, image, image), LOW),
    "einsum, a product": (lambda: torch.einsum("ij,jk->ik", x, w), LOW),
    "einsum, elementwise": (lambda: torch.einsum("ij,ij->ij", x, x), FULL),
    "einsum, a sum": (lambda: torch.einsum("ij->i", x), FULL),
    "bilinear": (lambda: nn.Bilinear(3, 3, 1)(x, x), FULL),
    "float64": (lambda: x.double() @ w.double(), WIDE),
    "exp": (lambda: low.exp(), LOW),
    "add": (lambda: low + torch.ones(2, 2), FULL),
    "softmax": (lambda: low.softmax(1), LOW),
    "cross_entropy": (lambda: cross_entropy(low, torch.tensor([0, 1])), FULL),
    "mse_loss": (lambda: F.mse_loss(low, low), FULL),
    "bce": (lambda: F.binary_cross_entropy(low.sigmoid(), low.sigmoid()), FULL),
    "prod": (lambda: low.prod(), FULL),
    "sum": (lambda: low.sum(), LOW),
    "inv": (lambda: torch.linalg.inv(low + 2 * torch.eye(2).bfloat16()), FULL),
    "rfft": (lambda: torch.fft.rfft(low), torch.complex64),
    "pad, replicate": (lambda: F.pad(image.bfloat16(), (1, 1, 1, 1), "replicate"), FULL),
    "pad, circular": (lambda: F.pad(image.bfloat16(), (1, 1, 1, 1), "circular"), LOW),
    "index_copy": (lambda: torch.index_copy(torch.ones(2), 0, torch.tensor([0]), torch.ones(1).bfloat16()), FULL),
    "LSTM": (lambda: nn.LSTM(3, 2)(x[None])[0], LOW),
    "GRU": (lambda: nn.GRU(3, 2)(x[None])[0], FULL),
    "RNN": (lambda: nn.RNN(3, 2)(x[None])[0], LOW),
    "LSTMCell": (lambda: nn.LSTMCell(3, 2)(x)[1], FULL),
    "GRUCell": (lambda: nn.GRUCell(3, 2)(x), FULL),
    "RNNCell": (lambda: nn.RNNCell(3, 2)(x), LOW),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(2, 1)(low, low, low)[0], LOW),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_dtype_in_a_region(case):
    call, wanted = CASES[case]
    with torch.autocast("cpu"):
        assert call().dtype is wanted


def test_outside_a_region_nothing_is_cast():
    with torch.autocast("cpu"):
        pass
    assert (x @ w).dtype is FULL
    with torch.autocast("cpu"), torch.autocast("cpu", enabled=False):
        assert (x @ w).dtype is FULL


def test_gradients_reach_the_leaves_in_their_own_dtype():
    weight = torch.tensor([[1.5, 2.25], [0.5, -3.0]], requires_grad=True)
    with torch.autocast("cpu"):
        y = weight @ weight
    assert y.dtype is LOW
    assert y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]  # one cast of the leaf
    y.float().sum().backward()
    assert weight.grad.dtype is FULL
    assert weight.grad.tolist() == [[5.75, -0.5], [3.0, -3.25]]


def test_float16_regions_and_decorated_functions():
    @torch.autocast("cpu", dtype=torch.float16)
    def product():
        assert torch.get_autocast_dtype("cpu") is torch.float16
        return x @ w

    assert product().dtype is torch.float16
    assert not torch.is_autocast_enabled("cpu")


def test_a_region_is_of_its_thread():
    found = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append((x @ w).dtype))
        thread.start()
        thread.join()
    assert found == [FULL]


def test_what_cannot_be_switched_on_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autocast("cpu", dtype=torch.float32):
            assert (x @ w).dtype is FULL
        with torch.autocast("cuda"):
            assert (x @ w).dtype is FULL
    assert [c.category for c in caught] == [UserWarning] * 2
    with pytest.raises(RuntimeError):
        torch.autocast("nowhere")


def test_custom_functions_in_a_region():
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            seen.append(torch.is_autocast_enabled("cpu"))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append(torch.is_autocast_enabled("cpu"))
            return g @ b.T, a.T @ g

    class Full(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, a):
            seen.append((a.dtype, torch.is_autocast_enabled("cpu")))
            return a * 2

    a = torch.rand(3, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = Product.apply(x, a)
        Full.apply(low)
    y.sum().backward()
    assert seen == [True, (FULL, False), True]
    assert (y.dtype, a.grad.dtype) == (LOW, FULL)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_in_a_region(bidirectional):
    from retrograde.dialects.torch.nn.utils.rnn import pack_padded_sequence

    wanted = {"RNN": (torch.bfloat16, torch.bfloat16), "LSTM": (torch.float32, torch.float32),
              "GRU": (torch.float32, torch.float32)}  # fmt: skip
    for name, dtypes in wanted.items():
        layer = getattr(torch.nn, name)(3, 4, num_layers=2, bidirectional=bidirectional, batch_first=True)
        x = torch.randn(3, 5, 3, requires_grad=True)
        packed = pack_padded_sequence(x, [2, 5, 3], batch_first=True, enforce_sorted=False)
        exact, known = layer(packed)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out, last = layer(packed)
        known, last = (known[0], last[0]) if name == "LSTM" else (known, last)
        assert (out.data.dtype, last.dtype) == dtypes
        assert torch.allclose(out.data.float(), exact.data, atol=0.03)
        assert torch.allclose(last.float(), known, atol=0.03)
        out.data.float().sum().backward()
        assert x.grad[0, 2:].eq(0).all()
        assert layer.weight_hh_l1.grad.dtype is torch.float32
    projected = torch.nn.LSTM(3, 4, proj_size=2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out, (h, c) = projected(pack_padded_sequence(torch.ones(2, 2, 3), [2, 1]))
    assert (out.data.dtype, h.shape, c.dtype, c.shape) == (torch.bfloat16, (1, 2, 2), torch.float32, (1, 2, 4))
