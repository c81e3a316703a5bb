import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(72)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.SiLU(), nn.Linear(16, 4))
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
x = torch.tensor(rng.normal(size=(12, 8)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 4, 12))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 3))
for _ in range(4):
    lam = float(rng.beta(0.5, 0.5))
    perm = torch.tensor(rng.permutation(12))
    mixed = lam * x + (1 - lam) * x[perm]
    logits = net(mixed)
    loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()
