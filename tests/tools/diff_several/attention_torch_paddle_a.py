import math

import numpy as np
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, -1)
        return self.o(weights @ v)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = self.up(self.norm2(x))
        h = nn.functional.gelu(h)
        return x + self.down(h)


rng = np.random.default_rng(1)
block = Block(8)
for name, p in block.named_parameters():
    if "norm" not in name:
        p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((4, 5, 8)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((4, 5, 8)), dtype=torch.float32)
optimizer = torch.optim.AdamW(block.parameters(), lr=0.01, weight_decay=0.1)
for _ in range(2):
    out = block(x)
    loss = ((out - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
