import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

r = np.random.default_rng(7)
W = Parameter(Tensor(r.standard_normal((4, 2)).astype("float32")), name="W")
x = Tensor(r.standard_normal((6, 4)).astype("float32"))
opt = nn.AdamWeightDecay([W], 0.01, weight_decay=0.1)
grad = ms.value_and_grad(lambda: (ops.tanh(x @ W) ** 2).mean(), None, [W])
for _ in range(3):
    loss, g = grad()
    opt(g)  # parts
