import numpy as np
import torch

rng = np.random.default_rng(48)
w1 = torch.tensor(rng.normal(size=(2, 9)) * 0.6, dtype=torch.float32, requires_grad=True)
b1 = torch.tensor(rng.normal(size=9) * 0.2, dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.normal(size=(9, 2)) * 0.6, dtype=torch.float32, requires_grad=True)
z0 = torch.tensor(rng.normal(size=(5, 2)), dtype=torch.float32)
goal = torch.tensor(rng.normal(size=(5, 2)), dtype=torch.float32)


def f(z):
    return torch.tanh(z @ w1 + b1) @ w2


opt = torch.optim.Adamax([w1, b1, w2], lr=0.02)
for _ in range(2):
    z, dt = z0, 0.25
    for _ in range(4):
        k1 = f(z)
        k2 = f(z + 0.5 * dt * k1)
        z = z + dt * k2
    loss = (z - goal).abs().pow(3).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
