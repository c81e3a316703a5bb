"""The physics-informed network of problem.py as a PyTorch program.

    retrograde run examples/three_ways/torch_pinn.py
"""

import problem
import torch
from torch import nn


class Network(nn.Module):
    """Two hidden layers; weights are kept as (in, out) in all three programs."""

    def __init__(self):
        super().__init__()
        for name, value in problem.weights().items():
            setattr(self, name, nn.Parameter(torch.tensor(value)))

    def forward(self, x):
        h = torch.tanh(torch.matmul(x, self.w1) + self.b1)
        h = torch.tanh(torch.matmul(h, self.w2) + self.b2)
        return torch.matmul(h, self.w3) + self.b3


class Training:
    """The network and its optimiser; `step` does one step and returns the loss."""

    def __init__(self, optimizer="SGD", lr=1e-2):
        self.net = Network()
        self.x, self.ends, self.values = (torch.tensor(a) for a in problem.data())
        self.x.requires_grad_()
        self.optimizer = getattr(torch.optim, optimizer)(self.net.parameters(), lr=lr)

    def loss(self):
        u = self.net(self.x)
        (du,) = torch.autograd.grad(u, self.x, torch.ones_like(u), create_graph=True)
        (ddu,) = torch.autograd.grad(du, self.x, torch.ones_like(du), create_graph=True)
        residual = u * du - problem.NU * ddu
        misfit = self.net(self.ends) - self.values
        return (residual * residual).mean() + (misfit * misfit).mean()

    def step(self):
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def weights(self):
        return {name: p.detach().numpy() for name, p in self.net.named_parameters()}

    def gradients(self):
        return {name: p.grad.numpy() for name, p in self.net.named_parameters()}

    def predict(self, x):
        with torch.no_grad():
            return self.net(torch.tensor(x)).numpy()


if __name__ == "__main__":
    training = Training()
    for step in range(20):
        print(step, f"{training.step():.6f}")
