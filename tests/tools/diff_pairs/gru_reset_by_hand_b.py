import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

g = np.random.default_rng(8)


def make(*shape):
    return paddle.create_parameter(list(shape), "float32",
                                   default_initializer=nn.initializer.Assign((g.standard_normal(shape) * 0.5).astype("float32")))


w_ih, w_hh, b_ih, b_hh = make(15, 3), make(15, 5), make(15), make(15)
w_out, b_out = make(2, 5), make(2)
xs = paddle.to_tensor(g.standard_normal((6, 4, 3)).astype("float32"))
ys = paddle.to_tensor(g.integers(0, 2, (6, 4)))


def step(x, h):
    xr, xz, xn = paddle.split(paddle.matmul(x, w_ih, transpose_y=True) + b_ih, 3, axis=-1)
    hr, hz, _ = paddle.split(paddle.matmul(h, w_hh, transpose_y=True) + b_hh, 3, axis=-1)
    r, z = F.sigmoid(xr + hr), F.sigmoid(xz + hz)
    n = paddle.tanh(xn + paddle.matmul(r * h, w_hh[10:], transpose_y=True) + b_hh[10:])  # parts
    return (1 - z) * n + z * h


opt = paddle.optimizer.SGD(0.5, parameters=[w_ih, w_hh, b_ih, b_hh, w_out, b_out])
for _epoch in range(2):
    h = paddle.zeros([4, 5])
    total = 0.0
    for t in range(6):
        h = step(xs[t], h)
        logits = paddle.matmul(h, w_out, transpose_y=True) + b_out
        total = total + F.cross_entropy(logits, ys[t])
    total.backward()
    opt.step()
    opt.clear_grad()
    print(float(total))
