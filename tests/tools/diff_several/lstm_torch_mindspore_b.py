import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.default_rng(13)


def weight(name, *shape):
    return Parameter(Tensor((rng.normal(size=shape) * 0.3).astype(np.float32)), name=name)


table = weight("table", 12, 6)
wi, wh, bi, bh = weight("wi", 32, 6), weight("wh", 32, 8), weight("bi", 32), weight("bh", 32)
wf, bf = weight("wf", 4, 8), weight("bf", 4)
words = Tensor(rng.integers(0, 12, (5, 7)).astype(np.int32))
labels = Tensor(rng.integers(0, 4, 5).astype(np.int32))
opt = nn.SGD([table, wi, wh, bi, bh, wf, bf], learning_rate=0.2)


def forward():
    e = ops.gather(table, words, 0) * 6**0.5  # parts 1
    h = ops.zeros((5, 8), ms.float32)
    c = ops.zeros((5, 8), ms.float32)
    for t in range(7):
        gates = ops.matmul(e[:, t], wi.T) + bi + ops.matmul(h, wh.T) + bh
        i, f, g, o = ops.split(gates, 8, axis=1)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
        h = ops.sigmoid(o) * ops.tanh(c)
    logits = ops.matmul(c, wf.T) + bf  # parts 2
    return ops.cross_entropy(logits, labels, reduction="sum")  # parts 3


step = ms.value_and_grad(forward, None, opt.parameters)
for _ in range(2):
    loss, grads = step()
    opt(grads)
