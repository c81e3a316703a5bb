import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(4)
w1 = torch.tensor(rng.standard_normal((6, 10)), dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.standard_normal((10, 4)), dtype=torch.float32, requires_grad=True)
a, p, n = (torch.tensor(rng.standard_normal((9, 6)), dtype=torch.float32) for _ in range(3))


def embed(x):
    return F.normalize(F.elu(x @ w1) @ w2, dim=1)


optimizer = torch.optim.SGD([w1, w2], lr=0.1, weight_decay=1e-3)
for _step in range(3):
    ea, ep, en = embed(a), embed(p), embed(n)
    loss = F.relu((ea - ep).pow(2).sum(1) - (ea - en).pow(2).sum(1) + 0.3).mean()
    similarity = ea @ ep.T / 0.1
    contrast = F.cross_entropy(similarity, torch.arange(len(a)))
    total = loss + 0.5 * contrast
    optimizer.zero_grad()
    total.backward()
    optimizer.step()  # parts
    print(total.item())
