import mindspore as ms
import numpy as np
from mindspore import Tensor, ops


def distance(a, b):
    d = a - b
    square = ops.reduce_sum(d * d)
    return ops.sqrt(square)  # begins here


print(ms.grad(distance)(Tensor(np.ones(3, np.float32)), Tensor(np.ones(3, np.float32))))
