import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.default_rng(202)


def make(name, *shape):
    return Parameter(Tensor(rng.normal(0, 0.5, shape).astype("float32")), name=name)


w_ih, w_hh, b_ih, b_hh = make("w_ih", 12, 3), make("w_hh", 12, 4), make("b_ih", 12), make("b_hh", 12)
w, b = make("w", 2, 4), make("b", 2)
x = Tensor(rng.normal(size=(2, 6, 3)).astype("float32"))
y = Tensor(np.array([0, 1], "int32"))


def cell(x, h, c):
    gx = ops.dense(x, w_ih, b_ih)
    gh = ops.dense(h, w_hh, b_hh)
    r = ops.sigmoid(gx[:, :4] + gh[:, :4])
    z = ops.sigmoid(gx[:, 4:8] + gh[:, 4:8])
    n = ops.tanh(gx[:, 8:] + r * gh[:, 8:])
    return z * n + (1 - z) * h, c  # parts


def loss_fn(x, y):
    h = ops.zeros((2, 4), ms.float32)
    c = ops.zeros((2, 4), ms.float32)
    for t in range(6):
        h, c = cell(x[:, t], h, c)
    return ops.cross_entropy(ops.dense(h, w, b), y)


params = [w_ih, w_hh, b_ih, b_hh, w, b]
opt = nn.SGD(params, learning_rate=1e-1)
fn = ms.value_and_grad(loss_fn, None, params)
for _ in range(2):
    loss, grads = fn(x, y)
    opt(grads)
    print(loss)
