import numpy as np
import paddle
from paddle.autograd import PyLayer


class Quantise(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return paddle.round(x * 8) / 8

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensor()
        return dy * (x.abs() <= 1).astype(dy.dtype)


def swish(x, beta):
    return x * paddle.nn.functional.sigmoid(x * beta)


rng = np.random.default_rng(6)
w = paddle.to_tensor((rng.standard_normal((5, 7)) * 0.6).astype("float32"), stop_gradient=False)
v = paddle.to_tensor(rng.standard_normal((7, 2)).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.standard_normal((8, 5)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((8, 2)).astype("float32"))
for _step in range(2):
    h = swish(paddle.matmul(x, Quantise.apply(w)), 1.5)
    out = paddle.matmul(h, Quantise.apply(v))
    error = paddle.abs(out - y)
    loss = paddle.where(error < 1, 0.5 * error * error, error - 0.5).mean()
    loss.backward()
    with paddle.no_grad():
        for p in (w, v):
            p.set_value(p - 0.1 * p.grad)
            p.clear_grad()
    print(loss.item())
