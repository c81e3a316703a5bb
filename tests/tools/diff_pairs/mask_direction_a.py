import math

import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        h = self.norm1(x)
        a, _ = self.attention(h, h, h, attn_mask=mask, need_weights=False)  # parts
        x = x + a
        return x + self.mlp(self.norm2(x))


rng = np.random.default_rng(3)
dim, heads, length, words = 8, 2, 6, 11
embedding = nn.Embedding(words, dim)
block = Block(dim, heads)
head = nn.Linear(dim, words)
model = nn.ModuleList([embedding, block, head])
w = {}
with torch.no_grad():
    embedding.weight.copy_(torch.tensor(rng.standard_normal((words, dim))))
    for name in ("q", "k", "v", "o"):
        w[name] = rng.standard_normal((dim, dim)) * 0.4
    block.attention.in_proj_weight.copy_(torch.tensor(np.concatenate([w["q"], w["k"], w["v"]])))
    block.attention.in_proj_bias.zero_()
    block.attention.out_proj.weight.copy_(torch.tensor(w["o"]))
    block.attention.out_proj.bias.zero_()
    block.mlp[0].weight.copy_(torch.tensor(rng.standard_normal((4 * dim, dim)) * 0.3))
    block.mlp[0].bias.zero_()
    block.mlp[2].weight.copy_(torch.tensor(rng.standard_normal((dim, 4 * dim)) * 0.3))
    block.mlp[2].bias.zero_()
    head.weight.copy_(torch.tensor(rng.standard_normal((words, dim)) * 0.3))
    head.bias.zero_()
tokens = torch.tensor(rng.integers(0, words, (4, length + 1)))
mask = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
position = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
places = torch.stack([position.sin(), position.cos()], -1).reshape(length, dim)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
for _step in range(3):
    x = embedding(tokens[:, :-1]) * math.sqrt(dim) + places
    logits = head(block(x, mask))
    loss = nn.functional.cross_entropy(logits.reshape(-1, words), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(loss.item())
