import mindspore as ms
import numpy as np
from mindspore import nn

rng = np.random.default_rng(3)
weight = ms.Parameter(ms.Tensor(rng.standard_normal((5, 4)).astype("float32")), name="weight")
x = ms.Tensor(rng.standard_normal((7, 5)).astype("float32"))


def forward():
    hidden = nn.GELU(approximate=False)(x @ weight)
    return hidden.square().sum()


loss, grads = ms.value_and_grad(forward, None, [weight])()
