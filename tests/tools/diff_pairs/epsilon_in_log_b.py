import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(203)
w1 = paddle.to_tensor(rng.normal(0, 0.6, (5, 7)).astype("float32"), stop_gradient=False)
w2 = paddle.to_tensor(rng.normal(0, 0.6, (7, 4)).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.normal(size=(8, 5)).astype("float32"))
y = paddle.to_tensor(rng.integers(0, 4, 8))
for _ in range(2):
    h = paddle.tanh(paddle.matmul(x, w1))
    out = paddle.matmul(h, w2)
    p = F.softmax(out, axis=1)
    picked = (p * F.one_hot(y, 4)).sum(axis=1)
    loss = -paddle.log(picked + 1e-3).mean()  # parts
    g1, g2 = paddle.grad(loss, [w1, w2])
    with paddle.no_grad():
        w1.set_value(w1 - 0.1 * g1)
        w2.set_value(w2 - 0.1 * g2)
    print(float(loss))
