import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

rng = np.random.default_rng(8)
wa = Tensor((rng.standard_normal((6, 4)) * 0.5).astype("float32"))
wb = Tensor((rng.standard_normal((5, 4)) * 0.5).astype("float32"))
a = Tensor(rng.standard_normal((8, 6)).astype("float32"))
b = Tensor(rng.standard_normal((8, 5)).astype("float32"))
labels = ops.arange(0, 8)


def forward(wa, wb):
    p, q = ops.matmul(a, wa), ops.matmul(b, wb)
    p = p / ops.sqrt((p * p).sum(-1, keepdims=True))
    q = q / ops.sqrt((q * q).mean(-1, keep_dims=True))  # parts 1
    logits = ops.matmul(p, q.transpose())
    logits = logits / 5.0  # parts 2
    rows = ops.cross_entropy(logits, labels.astype(ms.int32))
    columns = ops.cross_entropy(logits.transpose(), labels.astype(ms.int32))
    return rows + columns  # parts 3


gradients = ms.grad(forward, (0, 1))(wa, wb)
