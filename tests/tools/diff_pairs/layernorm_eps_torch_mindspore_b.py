import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

r = np.random.default_rng(7)
W = Parameter(Tensor(r.standard_normal((4, 4)).astype("float32")), name="W")
b = Parameter(Tensor(r.standard_normal(4).astype("float32")), name="b")
x = Tensor(r.standard_normal((6, 4)).astype("float32"))
y = Tensor(r.standard_normal((6, 4)).astype("float32"))
t = Tensor(r.integers(0, 4, 6).astype("int32"))


def forward():
    h = x @ W + b
    n = nn.LayerNorm((4,))(h)  # parts
    return (n**3).sum()


loss, grads = ms.value_and_grad(forward, None, [W, b])()
