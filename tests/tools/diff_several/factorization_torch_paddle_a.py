import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(50)
table = nn.Embedding(20, 4)
first = nn.Embedding(20, 1)
deep = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 1))
modules = nn.ModuleList([table, first, deep])
with torch.no_grad():
    for p in modules.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.4))
ids = torch.tensor(rng.integers(0, 20, (9, 3)))
y = torch.tensor(rng.integers(0, 2, 9), dtype=torch.float32)
opt = torch.optim.Adam(modules.parameters(), lr=0.01)
for _ in range(2):
    v = table(ids)
    linear = first(ids).sum(1)[:, 0]
    square_of_sum = v.sum(1) ** 2
    sum_of_square = (v**2).sum(1)
    fm = 0.5 * (square_of_sum - sum_of_square).sum(1)
    logit = linear + fm + deep(v.flatten(1))[:, 0]
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
