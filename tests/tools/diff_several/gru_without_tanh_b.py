import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(61)
gru = nn.GRU(4, 6)
norm = nn.LayerNorm(6, eps=1e-3)
out = nn.Linear(6, 2)
params = [*gru.parameters(), *norm.parameters(), *out.parameters()]
with torch.no_grad():
    for p in params:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
x = torch.tensor(rng.normal(size=(7, 5, 4)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(5, 2)), dtype=torch.float32)
opt = torch.optim.Adam(params, lr=1e-2)


def step(x, h):
    gi = nn.functional.linear(x, gru.weight_ih_l0, gru.bias_ih_l0)  # parts 1
    gh = nn.functional.linear(h, gru.weight_hh_l0, gru.bias_hh_l0)
    r = torch.sigmoid(gi[:, :6] + gh[:, :6])
    z = torch.sigmoid(gi[:, 6:12] + gh[:, 6:12])
    n = torch.tanh(gi[:, 12:] + r * gh[:, 12:])
    return (1 - z) * n + z * h


for _ in range(2):
    h = torch.zeros(5, 6)
    states = []
    for t in range(7):
        h = step(x[t], h)  # parts 1
        states.append(h)
    states = torch.stack(states)
    z = norm(states.mean(0))  # parts 2 3
    p = out(z)
    loss = nn.functional.mse_loss(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
