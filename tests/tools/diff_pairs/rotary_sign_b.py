import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

rng = np.random.default_rng(404)
B, T, H, D = 2, 5, 2, 4
wq, wk, wv, wo = (Parameter(Tensor(rng.normal(0, 0.4, (8, 8)).astype("float32")), name=f"w{n}") for n in "qkvo")
x = Tensor(rng.normal(size=(B, T, 8)).astype("float32"))
freqs = (1.0 / 100.0 ** (np.arange(0, D, 2) / D)).astype("float32")
angles = np.outer(np.arange(T), freqs).astype("float32")
cos, sin = Tensor(np.cos(angles))[None, :, None], Tensor(np.sin(angles))[None, :, None]
mask = Tensor(np.triu(np.full((T, T), -np.inf, "float32"), 1))


def rotate(t):
    even, odd = t[..., 0::2], t[..., 1::2]
    return ops.stack((even * cos + odd * sin, even * sin - odd * cos), axis=-1).reshape(B, T, H, D)  # parts


def forward(x):
    q, k, v = (ops.matmul(x, w).reshape(B, T, H, D) for w in (wq, wk, wv))
    q, k, v = rotate(q).swapaxes(1, 2), rotate(k).swapaxes(1, 2), v.swapaxes(1, 2)
    weights = ops.softmax(ops.matmul(q, k.swapaxes(2, 3)) / D ** 0.5 + mask, axis=-1)
    y = ops.matmul(weights, v).swapaxes(1, 2).reshape(B, T, 8)
    return ops.matmul(y, wo).pow(2).mean()


loss, grads = ms.value_and_grad(forward, None, [wq, wk, wv, wo])(x)
print(loss)
