import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.default_rng(47)
w = Parameter(Tensor((rng.normal(size=(6, 3, 1, 1)) * 0.4).astype(np.float32)), name="w")
b = Parameter(Tensor((rng.normal(size=6) * 0.4).astype(np.float32)), name="b")
x = Tensor(rng.normal(size=(2, 3, 4, 4)).astype(np.float32))
has = Tensor(rng.integers(0, 2, (2, 4, 4)).astype(np.float32))
box = Tensor(rng.uniform(size=(2, 4, 4, 4)).astype(np.float32))
opt = nn.Momentum([w, b], 0.1, 0.9)


def forward():
    p = ops.conv2d(x, w, b)
    xy = p[:, 0:2]  # parts 1
    wh = ops.exp(p[:, 2:4])
    conf = p[:, 4]
    lxy = ((xy - box[:, 0:2]) ** 2 * has.unsqueeze(1)).sum()
    lwh = ((wh - box[:, 2:4]) ** 2 * has.unsqueeze(1)).sum()
    lobj = ops.binary_cross_entropy_with_logits(conf, has, ops.ones_like(has), ops.ones_like(has), reduction="mean")  # parts 2
    return (0.5 * (lxy + lwh) + lobj) / 2  # parts 3


step = ms.value_and_grad(forward, None, opt.parameters)
for _ in range(2):
    loss, grads = step()
    opt(grads)
