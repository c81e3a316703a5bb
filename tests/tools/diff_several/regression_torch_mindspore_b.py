import mindspore as ms
import numpy as np
from mindspore import Tensor, mint

rng = np.random.default_rng(2)
w1 = Tensor((rng.standard_normal((5, 12)) * 0.5).astype("float32"))
b1 = Tensor((rng.standard_normal(12) * 0.1).astype("float32"))
w2 = Tensor((rng.standard_normal((12, 2)) * 0.5).astype("float32"))
b2 = Tensor((rng.standard_normal(2) * 0.1).astype("float32"))
x = Tensor(rng.standard_normal((9, 5)).astype("float32"))
y = Tensor(rng.standard_normal((9, 2)).astype("float32"))


def forward(w1, b1, w2, b2):
    h = mint.matmul(x, w1) + b1
    h = mint.nn.functional.relu(h)  # parts 1
    out = mint.matmul(h, w2) + b2
    scale = out.abs().mean()  # parts 2
    error = (out - y) / scale
    return (error**2).mean()  # parts 3


gradients = ms.grad(forward, (0, 1, 2, 3))(w1, b1, w2, b2)
