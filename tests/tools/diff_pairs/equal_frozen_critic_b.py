import torch
from torch import nn

torch.manual_seed(35)
G, D = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2)), nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-2), torch.optim.Adam(D.parameters(), 1e-2)
real, noise = torch.randn(4, 10, 2), torch.randn(4, 10, 2)
for r, z in zip(real, noise):
    fake = G(z)
    both = D(torch.cat([r, fake.detach()]))
    sign = torch.cat([torch.ones(10, 1), torch.zeros(10, 1)])
    d = 2 * nn.functional.binary_cross_entropy_with_logits(both, sign)
    for p, gr in zip(D.parameters(), torch.autograd.grad(d, list(D.parameters()))):
        p.grad = gr
    od.step()
    for p in D.parameters():
        p.requires_grad_(False)
    (-nn.functional.logsigmoid(D(fake))).mean().backward()
    og.step()
    og.zero_grad()
    for p in D.parameters():
        p.requires_grad_(True)
