import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(43)
D = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
with torch.no_grad():
    for p in D.parameters():
        p.copy_(torch.tensor(rng.normal(0, 0.6, tuple(p.shape))))
opt = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))
for it in range(2):
    real = torch.tensor(rng.normal(size=(6, 3)), dtype=torch.float32)
    fake = torch.tensor(rng.normal(size=(6, 3)), dtype=torch.float32)
    mix = torch.tensor(rng.random((6, 1)), dtype=torch.float32)
    inter = (mix * real + (1 - mix) * fake).requires_grad_()
    score = D(inter)
    g = torch.autograd.grad(score.sum(), inter, create_graph=True)[0]  # parts
    penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
    loss = D(fake).mean() - D(real).mean() + 10 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
