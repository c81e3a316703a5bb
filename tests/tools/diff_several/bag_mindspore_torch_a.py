import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.default_rng(22)
table = Parameter(Tensor(rng.standard_normal((13, 6)).astype("float32")), name="table")
w = Parameter(Tensor((rng.standard_normal((6, 4)) * 0.7).astype("float32")), name="w")
words = Tensor(rng.integers(0, 13, (8, 5)).astype("int32"))
y = Tensor(rng.integers(0, 4, 8).astype("int32"))
places = Tensor(rng.standard_normal((5, 6)).astype("float32"))
def forward():
    e = ops.gather(table, words, 0)
    e = e + places
    bag = e.mean(axis=1)
    h = ops.silu(bag)
    return ops.cross_entropy(ops.matmul(h, w), y)
opt = nn.SGD([table, w], learning_rate=0.5)
step = ms.value_and_grad(forward, None, opt.parameters)
for _ in range(2):
    loss, grads = step()
    opt(grads)
