import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(4)
w1 = paddle.to_tensor(rng.standard_normal((6, 10)).astype("float32"), stop_gradient=False)
w2 = paddle.to_tensor(rng.standard_normal((10, 4)).astype("float32"), stop_gradient=False)
a, p, n = (paddle.to_tensor(rng.standard_normal((9, 6)).astype("float32")) for _ in range(3))


def embed(x):
    e = paddle.matmul(F.elu(paddle.matmul(x, w1)), w2)
    return e / paddle.sqrt(paddle.sum(e * e, axis=1, keepdim=True))


def squared(x, y):
    return paddle.sum((x - y) ** 2, axis=-1)


for _step in range(3):
    ea, ep, en = embed(a), embed(p), embed(n)
    loss = paddle.clip(squared(ea, ep) - squared(ea, en) + 0.3, min=0).mean()
    logits = paddle.matmul(ea, ep, transpose_y=True) / 0.1
    log_prob = F.log_softmax(logits, axis=-1)
    contrast = -paddle.diagonal(log_prob).mean()
    total = loss + contrast / 2
    total.backward()
    with paddle.no_grad():
        for w in (w1, w2):
            w.set_value(w - 0.1 * w.grad - 1e-3 * w)  # parts
            w.clear_gradient()
    print(float(total))
