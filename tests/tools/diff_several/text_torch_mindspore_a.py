import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(68)
emb = nn.Embedding(15, 5, padding_idx=0)
convs = nn.ModuleList([nn.Conv1d(5, 4, k) for k in (2, 3)])
fc = nn.Linear(8, 3)
modules = nn.ModuleList([emb, convs, fc])
with torch.no_grad():
    for p in modules.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
words = torch.tensor(rng.integers(1, 15, (6, 9)))
y = torch.tensor(rng.integers(0, 3, 6))
opt = torch.optim.Adagrad(modules.parameters(), lr=0.05)
for _ in range(2):
    e = emb(words).transpose(1, 2)
    h = [F.relu(c(e)).max(-1)[0] for c in convs]
    h = torch.cat(h, 1)
    logits = fc(h)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
