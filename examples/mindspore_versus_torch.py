"""The calls of the document that compares MindSpore's GradOperation with torch.autograd, on its numbers."""

import numpy as np
import torch
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype


class Net(nn.Cell):
    """x z times the matrix y."""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        return self.matmul(x * self.z, y)


def by_grad_operation():
    """MindSpore: the gradient of a network with respect to its first input."""
    x = Tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]], dtype=mstype.float32)
    y = Tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]], dtype=mstype.float32)
    return ops.GradOperation()(Net())(x, y).asnumpy().tolist()


def by_backward():
    """PyTorch: gradients of x² y at x = 2, y = 3, accumulated into the leaves."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    (x * x * y).backward()
    return [x.grad.item(), y.grad.item()]


def by_grad():
    """PyTorch: the gradient with respect to x alone, returned."""
    x = torch.tensor(2.0).requires_grad_()
    y = torch.tensor(3.0).requires_grad_()
    (grad_x,) = torch.autograd.grad(outputs=x * x * y, inputs=x)
    return grad_x.item()


# What the document shows.
DOCUMENTED = {
    "GradOperation()(net)(x, y)": [[1.4100001, 1.5999999, 6.6], [1.4100001, 1.5999999, 6.6]],
    "backward(): dz/dx, dz/dy": [12.0, 4.0],
    "grad(z, x)": 12.0,
}


def obtained():
    """The same figures, computed."""
    return dict(zip(DOCUMENTED, (by_grad_operation(), by_backward(), by_grad())))


if __name__ == "__main__":
    print(obtained())
