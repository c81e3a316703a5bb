import mindspore as ms
import numpy as np
from mindspore import nn, ops

rng = np.random.default_rng(1)
model = nn.SequentialCell(nn.Dense(4, 6), nn.Tanh(), nn.Dense(6, 3))
for parameter, shape in zip(model.trainable_params(), [(4, 6), (6,), (6, 3), (3,)]):
    start = rng.standard_normal(shape).astype("float32") / 2
    parameter.set_data(ms.Tensor(np.ascontiguousarray(start.T)))
x = ms.Tensor(rng.standard_normal((8, 4)).astype("float32"))
labels = ms.Tensor(rng.integers(0, 3, 8).astype("int32"))
optimizer = nn.Momentum(model.trainable_params(), 0.1, 0.9)
gradient = ms.value_and_grad(lambda: ops.cross_entropy(model(x), labels), None, optimizer.parameters)
for _ in range(3):
    loss, grads = gradient()
    optimizer(grads)
