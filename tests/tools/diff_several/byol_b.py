import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(21)
net = nn.Sequential(nn.Linear(4, 7), nn.BatchNorm1d(7, eps=1e-2), nn.ReLU())
target, online = nn.Linear(7, 3), nn.Linear(7, 3)
for p in (*net.parameters(), *target.parameters(), *online.parameters()):
    p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.6, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((10, 4)), dtype=torch.float32)
x2 = torch.tensor(rng.standard_normal((10, 4)), dtype=torch.float32)
opt = torch.optim.SGD([*net.parameters(), *online.parameters()], lr=0.1)
for _ in range(2):
    a = online(net(x))  # parts 1
    b = target(net(x2))
    a = nn.functional.normalize(a, dim=0)  # parts 3
    b = nn.functional.normalize(b, dim=1)  # parts 2
    loss = 2 - 2 * (a * b).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
