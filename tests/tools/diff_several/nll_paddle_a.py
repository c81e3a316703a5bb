import numpy as np
import paddle

rng = np.random.default_rng(23)
def p(*shape):
    return paddle.to_tensor((rng.standard_normal(shape) * 0.5).astype("float32"), stop_gradient=False)
w, m, s = p(4, 8), p(8, 1), p(8, 1)
x = paddle.to_tensor(rng.standard_normal((12, 4)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((12, 1)).astype("float32"))
for _ in range(3):
    h = paddle.nn.functional.elu(paddle.matmul(x, w))
    mean, logvar = paddle.matmul(h, m), paddle.matmul(h, s)
    var = paddle.exp(logvar)
    nll = 0.5 * (logvar + (y - mean) ** 2 / var)
    loss = nll.mean()
    loss.backward()
    with paddle.no_grad():
        for q in (w, m, s):
            q.set_value(q - 0.05 * q.grad)
            q.clear_gradient()
