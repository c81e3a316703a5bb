import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(19)
P = {k: paddle.to_tensor(rng.normal(0, 0.4, (8, 8)).astype("float32"), stop_gradient=False) for k in "qkvo"}
x = paddle.to_tensor(rng.normal(size=(2, 6, 8)).astype("float32"))
mask = paddle.tril(paddle.ones([6, 6]))


def attend(x):
    q, k, v = (paddle.matmul(x, P[n]) for n in "qkv")
    att = paddle.matmul(q, k.transpose([0, 2, 1])) / 8 ** 0.5
    att = att * mask  # parts
    att = F.softmax(att, axis=-1)
    return paddle.matmul(paddle.matmul(att, v), P["o"])


loss = F.smooth_l1_loss(attend(x), x)
loss.backward()
print(float(loss), *(float(p.grad.abs().sum()) for p in P.values()))
