import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(61)
gru = nn.GRU(4, 6)
norm = nn.LayerNorm(6)
out = nn.Linear(6, 2)
params = [*gru.parameters(), *norm.parameters(), *out.parameters()]
with torch.no_grad():
    for p in params:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
x = torch.tensor(rng.normal(size=(7, 5, 4)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(5, 2)), dtype=torch.float32)
opt = torch.optim.Adam(params, lr=1e-2)
for _ in range(2):
    states, h = gru(torch.tanh(x))
    z = norm(states[-1])
    p = out(z)
    loss = nn.functional.mse_loss(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
