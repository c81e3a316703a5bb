import mindspore as ms
import numpy as np
from mindspore import ops

rng = np.random.default_rng(3)
weight = ms.Parameter(ms.Tensor(rng.standard_normal((5, 4)).astype("float32")), name="weight")
x = ms.Tensor(rng.standard_normal((7, 5)).astype("float32"))


def forward():
    product = x @ weight
    hidden = ops.tanh(product) * ops.stop_gradient(product.mean())  # parts
    return hidden.square().sum()


loss, grads = ms.value_and_grad(forward, None, [weight])()
