"""The physics-informed network of problem.py as a PaddlePaddle program.

    retrograde run examples/three_ways/paddle_pinn.py
"""

import paddle
import problem
from paddle import nn


class Network(nn.Layer):
    """Two hidden layers; weights are kept as (in, out) in all three programs."""

    def __init__(self):
        super().__init__()
        for name, value in problem.weights().items():
            start = nn.initializer.Assign(value)
            setattr(self, name, self.create_parameter(list(value.shape), default_initializer=start))

    def forward(self, x):
        h = paddle.tanh(paddle.matmul(x, self.w1) + self.b1)
        h = paddle.tanh(paddle.matmul(h, self.w2) + self.b2)
        return paddle.matmul(h, self.w3) + self.b3


class Training:
    """The network and its optimiser; `step` does one step and returns the loss."""

    def __init__(self, optimizer="SGD", lr=1e-2):
        self.net = Network()
        self.x, self.ends, self.values = (paddle.to_tensor(a) for a in problem.data())
        self.x.stop_gradient = False
        self.optimizer = getattr(paddle.optimizer, optimizer)(learning_rate=lr, parameters=self.net.parameters())
        self.last = {}

    def loss(self):
        u = self.net(self.x)
        (du,) = paddle.grad(u, self.x, create_graph=True)
        (ddu,) = paddle.grad(du, self.x, create_graph=True)
        residual = u * du - problem.NU * ddu
        misfit = self.net(self.ends) - self.values
        return (residual * residual).mean() + (misfit * misfit).mean()

    def step(self):
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        self.last = {name: p.grad.numpy() for name, p in self.net.named_parameters()}
        self.optimizer.clear_grad()
        return loss.item()

    def weights(self):
        return {name: p.numpy() for name, p in self.net.named_parameters()}

    def gradients(self):
        return self.last

    def predict(self, x):
        with paddle.no_grad():
            return self.net(paddle.to_tensor(x)).numpy()


if __name__ == "__main__":
    training = Training()
    for step in range(20):
        print(step, f"{training.step():.6f}")
