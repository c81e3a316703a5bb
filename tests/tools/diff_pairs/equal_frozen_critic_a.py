import torch
from torch import nn

torch.manual_seed(35)
G, D = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2)), nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-2), torch.optim.Adam(D.parameters(), 1e-2)
real, noise = torch.randn(4, 10, 2), torch.randn(4, 10, 2)
for r, z in zip(real, noise):
    fake = G(z)
    d = nn.functional.softplus(-D(r)).mean() + nn.functional.softplus(D(fake.detach())).mean()
    od.zero_grad()
    d.backward()
    od.step()
    g = nn.functional.softplus(-D(fake)).mean()
    og.zero_grad()
    g.backward()
    og.step()
