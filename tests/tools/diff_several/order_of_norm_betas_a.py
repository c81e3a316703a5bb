import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim)

    def forward(self, x):
        h = self.norm(x)  # parts 1
        h = torch.tanh(self.up(h))
        return x + self.down(h)


rng = np.random.default_rng(4)
block, head = Block(6), nn.Linear(6, 1)
for p in (block.up.weight, block.up.bias, block.down.weight, block.down.bias, head.weight, head.bias):
    p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((10, 6)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((10, 1)), dtype=torch.float32)
optimizer = torch.optim.Adam([*block.parameters(), *head.parameters()], lr=0.01, betas=(0.9, 0.99))
for _ in range(3):
    loss = nn.functional.mse_loss(head(block(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
