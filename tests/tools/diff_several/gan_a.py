import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(8)
G = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 6))
D = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
with torch.no_grad():
    for p in [*G.parameters(), *D.parameters()]:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.3))
og = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
for _ in range(2):
    real = torch.tensor(rng.normal(size=(8, 6)), dtype=torch.float32)
    z = torch.tensor(rng.normal(size=(8, 4)), dtype=torch.float32)
    fake = G(z)
    ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
    loss_d = F.binary_cross_entropy_with_logits(D(real), ones) + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
    od.zero_grad()
    loss_d.backward()
    od.step()
    loss_g = F.binary_cross_entropy_with_logits(D(fake), ones)
    og.zero_grad()
    loss_g.backward()
    og.step()
