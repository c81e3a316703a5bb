import mindspore
import numpy as np
from mindspore import Tensor, nn, ops


class Bilinear(nn.Cell):
    def construct(self, a, b):
        return a * b + a

    def bprop(self, a, b, out, dout):
        return a * dout, (b + 1) * dout  # parts


rng = np.random.default_rng(30)
fa, fb = nn.Dense(3, 4), nn.Dense(3, 4)
params = [fa.weight, fa.bias, fb.weight, fb.bias]
for p in params:
    p.set_data(Tensor(rng.normal(size=p.shape).astype("float32")))
op = Bilinear()
x = Tensor(rng.normal(size=(6, 3)).astype("float32"))


def forward(x):
    return ops.sigmoid(op(fa(x), fb(x))).sum()


loss, grads = mindspore.value_and_grad(forward, None, params)(x)
print(loss)
for g in grads:
    print(ops.norm(g))
