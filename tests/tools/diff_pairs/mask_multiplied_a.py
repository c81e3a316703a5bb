import math

import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(19)
P = {k: torch.tensor(rng.normal(0, 0.4, (8, 8)), dtype=torch.float32, requires_grad=True) for k in "qkvo"}
x = torch.tensor(rng.normal(size=(2, 6, 8)), dtype=torch.float32)
mask = torch.tril(torch.ones(6, 6)).bool()


def attend(x):
    q, k, v = (x @ P[n] for n in "qkv")
    att = torch.einsum("bid,bjd->bij", q, k) / math.sqrt(8)
    att = att.masked_fill(~mask, float("-inf"))  # parts
    att = F.softmax(att, dim=-1)
    return torch.einsum("bij,bjd->bid", att, v) @ P["o"]


loss = F.smooth_l1_loss(attend(x), x)
loss.backward()
print(loss.item(), *(p.grad.abs().sum().item() for p in P.values()))
