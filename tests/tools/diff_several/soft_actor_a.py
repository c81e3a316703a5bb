import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(64)
actor = nn.Linear(3, 4)
q1 = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
q2 = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
logalpha = torch.tensor(-1.0, requires_grad=True)
with torch.no_grad():
    for p in [*actor.parameters(), *q1.parameters(), *q2.parameters()]:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.4))
s = torch.tensor(rng.normal(size=(6, 3)), dtype=torch.float32)
oa = torch.optim.Adam(actor.parameters(), lr=1e-3)
ol = torch.optim.Adam([logalpha], lr=1e-3)
for _ in range(2):
    eps = torch.tensor(rng.normal(size=(6, 2)), dtype=torch.float32)
    mean, logstd = actor(s).chunk(2, -1)
    std = logstd.clamp(-5, 2).exp()
    pre = mean + std * eps
    a = torch.tanh(pre)
    logp = (-0.5 * eps**2 - logstd - 0.5 * np.log(2 * np.pi)).sum(-1, keepdim=True)
    logp = logp - (2 * (np.log(2) - pre - F.softplus(-2 * pre))).sum(-1, keepdim=True)
    q = torch.min(q1(torch.cat([s, a], 1)), q2(torch.cat([s, a], 1)))
    loss = (logalpha.exp().detach() * logp - q).mean()
    oa.zero_grad()
    loss.backward()
    oa.step()
    la = -(logalpha.exp() * (logp + -2.0).detach()).mean()
    ol.zero_grad()
    la.backward()
    ol.step()
