"""The physics-informed network of problem.py as a MindSpore program.

    retrograde run examples/three_ways/mindspore_pinn.py

On MindSpore 2.10 itself, in PyNative mode, the second derivative in the loss is silently zero.
"""

import mindspore as ms
import problem
from mindspore import Parameter, Tensor, nn, ops


class Network(nn.Cell):
    """Two hidden layers; weights are kept as (in, out) in all three programs."""

    def __init__(self):
        super().__init__()
        for name, value in problem.weights().items():
            setattr(self, name, Parameter(Tensor(value), name=name))

    def construct(self, x):
        h = ops.tanh(ops.matmul(x, self.w1) + self.b1)
        h = ops.tanh(ops.matmul(h, self.w2) + self.b2)
        return ops.matmul(h, self.w3) + self.b3


class Training:
    """The network and its optimiser; `step` does one step and returns the loss."""

    def __init__(self, optimizer="SGD", lr=1e-2):
        self.net = Network()
        self.x, self.ends, self.values = (Tensor(a) for a in problem.data())
        self.parameters = self.net.trainable_params()
        self.optimizer = getattr(nn, optimizer)(self.parameters, learning_rate=lr)
        self.value_and_grad = ms.value_and_grad(self.loss, None, self.parameters)
        self.last = {}

    def slope(self, x):
        """u' at the points x, and u beside it."""
        u, pull = ms.vjp(self.net, x)
        (du,) = pull(ops.ones_like(u))
        return du, u

    def loss(self):
        du, pull, u = ms.vjp(self.slope, self.x, has_aux=True)
        (ddu,) = pull(ops.ones_like(du))
        residual = u * du - problem.NU * ddu
        misfit = self.net(self.ends) - self.values
        return (residual * residual).mean() + (misfit * misfit).mean()

    def step(self):
        loss, gradients = self.value_and_grad()
        self.last = {p.name: g.asnumpy() for p, g in zip(self.parameters, gradients)}
        self.optimizer(gradients)
        return float(loss)

    def weights(self):
        return {p.name: p.asnumpy() for p in self.parameters}

    def gradients(self):
        return self.last

    def predict(self, x):
        return self.net(Tensor(x)).asnumpy()


if __name__ == "__main__":
    training = Training()
    for step in range(20):
        print(step, f"{training.step():.6f}")
