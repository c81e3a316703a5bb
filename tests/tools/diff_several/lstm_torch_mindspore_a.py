import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(13)
emb = nn.Embedding(12, 6)
lstm = nn.LSTM(6, 8, batch_first=True)
fc = nn.Linear(8, 4)
params = [*emb.parameters(), *lstm.parameters(), *fc.parameters()]
with torch.no_grad():
    for p in params:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.3))
words = torch.tensor(rng.integers(0, 12, (5, 7)))
labels = torch.tensor(rng.integers(0, 4, 5))
opt = torch.optim.SGD(params, lr=0.2)
for _ in range(2):
    e = emb(words)
    states, (h, c) = lstm(e)
    logits = fc(h[-1])
    loss = nn.functional.cross_entropy(logits, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
