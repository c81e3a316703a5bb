import numpy as np
import torch

rng = np.random.default_rng(11)
w1 = torch.tensor(rng.standard_normal((2, 10)), dtype=torch.float32, requires_grad=True)
b1 = torch.tensor(rng.standard_normal(10), dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.standard_normal((10, 1)) * 0.5, dtype=torch.float32, requires_grad=True)
t = torch.tensor(rng.random((9, 1)), dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.random((9, 1)), dtype=torch.float32, requires_grad=True)
optimizer = torch.optim.Adam([w1, b1, w2], lr=0.01)
for _ in range(2):
    u = torch.tanh(torch.cat([t, x], 1) @ w1 + b1) @ w2
    ones = torch.ones_like(u)
    u_t, u_x = torch.autograd.grad(u, (t, x), ones, create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x, x, ones, create_graph=True)
    residual = u_t - 0.1 * u_xx
    inside = (residual**2).mean()
    start = ((u - torch.sin(3 * x)) ** 2).mean()
    loss = inside + start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
