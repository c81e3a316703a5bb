import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

rng = np.random.default_rng(7)
I, H, T, N = 3, 4, 5, 2
def f32(*s):
    return rng.normal(size=s).astype("float32") * 0.5
w_ih, w_hh, b_ih, b_hh = (Parameter(Tensor(f32(*s)), name=n) for n, s in (
    ("w_ih", (4 * H, I)), ("w_hh", (4 * H, H)), ("b_ih", (4 * H,)), ("b_hh", (4 * H,))))
head_w = Parameter(Tensor(f32(1, H)), name="head_w")
head_b = Parameter(Tensor(np.zeros(1, "float32")), name="head_b")
x = Tensor(f32(T, N, I))
y = Tensor(f32(N, 1))


def cell(x, h, c):
    gates = ops.matmul(x, w_ih.T) + b_ih + ops.matmul(h, w_hh.T) + b_hh
    i, f, o, g = ops.split(gates, H, axis=1)
    i, f, o, g = ops.sigmoid(i), ops.sigmoid(f), ops.sigmoid(o), ops.tanh(g)  # parts
    c = f * c + i * g
    return o * ops.tanh(c), c


def forward(x, y):
    h = ops.zeros((N, H), ms.float32)
    c = ops.zeros((N, H), ms.float32)
    for t in range(T):
        h, c = cell(x[t], h, c)
    return ops.mse_loss(ops.matmul(h, head_w.T) + head_b, y)


params = [w_ih, w_hh, b_ih, b_hh, head_w, head_b]
loss, grads = ms.value_and_grad(forward, None, params)(x, y)
print(loss)
for p, g in zip(params, grads):
    print(p.name, ops.norm(g))
