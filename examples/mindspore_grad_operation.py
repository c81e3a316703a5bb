"""The calls that the document on `ops.GradOperation` makes, on its numbers: out = (x z) y with a parameter z.

Gradients with respect to the first input, all inputs, weighted outputs, parameters, and inputs and parameters.
"""

import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore import dtype as mstype


class Net(nn.Cell):
    """x z times the matrix y."""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        return self.matmul(x * self.z, y)


class Gradient(nn.Cell):
    """The gradient of a network, with the options of GradOperation."""

    def __init__(self, net, sens=None, **options):
        super().__init__()
        self.net, self.sens = net, sens
        self.weights = ParameterTuple(net.trainable_params()) if options.get("get_by_list") else None
        self.grad_op = ops.GradOperation(sens_param=sens is not None, **options)

    def construct(self, x, y):
        function = self.grad_op(self.net) if self.weights is None else self.grad_op(self.net, self.weights)
        return function(x, y) if self.sens is None else function(x, y, self.sens)


def tensor(rows):
    """A float32 tensor."""
    return Tensor(rows, dtype=mstype.float32)


FIRST = tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]]), tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]])
SECOND = tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]]), tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]])
THIRD = tensor([[0.1, 0.6, 1.2], [0.5, 1.3, 0.1]]), tensor([[0.12, 2.3, 1.1], [1.3, 0.2, 2.4], [0.1, 2.2, 0.3]])
SENS = tensor([[0.1, 0.6, 0.2], [0.8, 1.3, 1.1]])

# What the document shows.
DOCUMENTED = {
    "GradOperation()": [[1.4100001, 1.5999999, 6.6], [1.4100001, 1.5999999, 6.6]],
    "get_all: dx": [[4.50999975, 2.70000005, 3.60000014], [4.50999975, 2.70000005, 3.60000014]],
    "get_all: dy": [[2.59999990] * 3, [1.89999998] * 3, [1.30000007] * 3],
    "get_all, sens_param: dx": [[2.21099997, 0.50999999, 1.49000001], [5.58800030, 2.68000007, 4.07000017]],
    "get_all, sens_param: dy": [
        [1.51999998, 2.81999993, 2.14000010], [1.09999990, 2.04999995, 1.54999995], [0.900000036, 1.54999995, 1.25],
    ],
    "get_by_list: dz": [21.5359993],
    "get_all, get_by_list: dx": [[3.51999998, 3.90000010, 2.59999990], [3.51999998, 3.90000010, 2.59999990]],
    "get_all, get_by_list: dy": [[0.600000024] * 3, [1.89999998] * 3, [1.30000007] * 3],
    "get_all, get_by_list: dz": [12.9020004],
}  # fmt: skip


def obtained():
    """The same figures, computed."""
    (dx, dy), (dz,) = Gradient(Net(), get_all=True, get_by_list=True)(*THIRD)
    found = (
        Gradient(Net())(*FIRST), *Gradient(Net(), get_all=True)(*SECOND),
        *Gradient(Net(), SENS, get_all=True)(*SECOND), *Gradient(Net(), get_by_list=True)(*SECOND), dx, dy, dz,
    )  # fmt: skip
    return dict(zip(DOCUMENTED, (gradient.asnumpy().tolist() for gradient in found)))


if __name__ == "__main__":
    for name, figures in obtained().items():
        print(name, figures)
