import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

rng = np.random.default_rng(113)
params = [Tensor(rng.normal(0, 0.5, s).astype("float32")) for s in ((1, 8), (8,), (8, 1), (1,))]


def mse(w1, b1, w2, b2, x, y):
    return ((ops.matmul(ops.tanh(ops.matmul(x, w1) + b1), w2) + b2 - y) ** 2).mean()


inner = ms.grad(mse, grad_position=(0, 1, 2, 3))


def meta_loss(w1, b1, w2, b2, tasks):
    total = 0.0
    for x, y in tasks:
        grads = inner(w1, b1, w2, b2, x[:5], y[:5])
        fast = [p - 0.1 * g for p, g in zip((w1, b1, w2, b2), grads)]
        total += mse(*fast, x[5:], y[5:])
    return total


outer = ms.value_and_grad(meta_loss, grad_position=(0, 1, 2, 3))
for it in range(2):
    tasks = []
    for _task in range(2):
        phase = rng.uniform(0, 3)
        x = Tensor(rng.uniform(-3, 3, (10, 1)).astype("float32"))
        tasks.append((x, ops.sin(x + phase)))
    loss, grads = outer(*params, tasks)
    params = [p - 0.05 * g for p, g in zip(params, grads)]
    print(it, loss)
