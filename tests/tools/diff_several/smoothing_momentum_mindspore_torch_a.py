import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.default_rng(10)
w = Parameter(Tensor((rng.standard_normal((6, 8)) * 0.5).astype("float32")), name="w")
b = Parameter(Tensor((rng.standard_normal(8) * 0.5).astype("float32")), name="b")
u = Parameter(Tensor((rng.standard_normal((8, 3)) * 0.5).astype("float32")), name="u")
x = Tensor(rng.standard_normal((12, 6)).astype("float32"))
y = Tensor(rng.integers(0, 3, 12).astype("int32"))


def forward(x, y):
    h = ops.tanh(ops.matmul(x, w) + b)
    h = h * 1.25
    return ops.cross_entropy(ops.matmul(h, u), y, label_smoothing=0.1)


optimizer = nn.Momentum([w, b, u], learning_rate=0.1, momentum=0.9)
step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(3):
    loss, gradients = step(x, y)
    optimizer(gradients)
