import itertools

import numpy as np
import torch

rng = np.random.default_rng(2)
sizes = [2, 10, 10, 1]
weights = [torch.tensor(rng.standard_normal((a, b)) / np.sqrt(a), dtype=torch.float64, requires_grad=True)
           for a, b in itertools.pairwise(sizes)]
biases = [torch.zeros(b, dtype=torch.float64, requires_grad=True) for b in sizes[1:]]


def u(x, t):
    h = torch.stack([x, t], dim=1)
    for w, b in zip(weights[:-1], biases[:-1]):
        h = torch.tanh(h @ w + b)
    return (h @ weights[-1] + biases[-1])[:, 0]


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


nu = 0.01 / np.pi
optimizer = torch.optim.Adam(weights + biases, lr=1e-3)
for _step in range(3):
    x = torch.tensor(rng.uniform(-1, 1, 20), requires_grad=True)
    t = torch.tensor(rng.uniform(0, 1, 20), requires_grad=True)
    value = u(x, t)
    u_x = derivative(value, x)
    u_t = derivative(value, t)
    u_xx = derivative(u_x, x)
    residual = u_t + value * u_x - nu * u_xx
    x0 = torch.tensor(rng.uniform(-1, 1, 10))
    start = u(x0, torch.zeros_like(x0)) + torch.sin(np.pi * x0)
    loss = (residual ** 2).mean() + (start ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
