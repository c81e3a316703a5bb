import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

r = np.random.default_rng(7)
W = Parameter(Tensor(r.standard_normal((4, 4)).astype("float32")), name="W")
b = Parameter(Tensor(r.standard_normal(4).astype("float32")), name="b")
x = Tensor(r.standard_normal((6, 4)).astype("float32"))
y = Tensor(r.standard_normal((6, 4)).astype("float32"))
t = Tensor(r.integers(0, 4, 6).astype("int32"))


def forward():
    h = x @ W + b
    return ops.cross_entropy(h, t, label_smoothing=0.1)  # parts


loss, grads = ms.value_and_grad(forward, None, [W, b])()
