import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(20)
gate, value, out = nn.Linear(5, 9), nn.Linear(5, 9), nn.Linear(9, 2)
for layer in (gate, value, out):
    layer.weight.data = torch.tensor(rng.standard_normal(tuple(layer.weight.shape)) * 0.5, dtype=torch.float32)
    layer.bias.data = torch.tensor(rng.standard_normal(tuple(layer.bias.shape)) * 0.2, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((11, 5)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((11, 2)), dtype=torch.float32)
opt = torch.optim.Adam([p for l in (gate, value, out) for p in l.parameters()], lr=0.02)
for _ in range(2):
    g = torch.sigmoid(gate(x))
    v = torch.tanh(value(x))
    h = g * v
    p = out(h)
    loss = nn.functional.smooth_l1_loss(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
