import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

rng = np.random.default_rng(48)
A = Parameter(Tensor(rng.normal(0, 0.5, (2, 8)).astype("float32")), name="A")
C = Parameter(Tensor(rng.normal(0, 0.5, (8, 2)).astype("float32")), name="C")
y0 = Tensor(rng.normal(size=(3, 2)).astype("float32"))
target = Tensor(rng.normal(size=(3, 2)).astype("float32"))


def f(y):
    return ops.matmul(ops.tanh(ops.matmul(y, A)), C)


def rk4(y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k1)  # parts
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def loss_fn():
    y = y0
    for _ in range(4):
        y = rk4(y, 0.25)
    return ((y - target) ** 2).sum()


fn = ms.value_and_grad(loss_fn, None, [A, C])
for i in range(3):
    loss, (ga, gc) = fn()
    A.set_data(A - 0.05 * ga)
    C.set_data(C - 0.05 * gc)
    print(i, loss)
