"""A GPT whose attention is written out head by head: more than 3,000 recorded operations in a training step."""

import math

import torch
from torch import nn

LAYERS, HEADS, WIDTH, LENGTH, WORDS = 20, 12, 48, 16, 65


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        size = WIDTH // HEADS
        self.key = nn.Linear(WIDTH, size, bias=False)
        self.query = nn.Linear(WIDTH, size, bias=False)
        self.value = nn.Linear(WIDTH, size, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(LENGTH, LENGTH)))

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        scores = q @ k.transpose(-2, -1)
        scores = scores * (1 / math.sqrt(k.shape[-1]))
        scores = scores.masked_fill(self.mask == 0, float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp()
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights @ v


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(HEADS)])
        self.project = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.project(torch.cat([head(x) for head in self.heads], dim=-1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = Attention()
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = x + self.attend(self.first(x))
        return x + self.feed(self.second(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


torch.manual_seed(0)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(1):
    tokens = torch.randint(WORDS, (2, LENGTH + 1))
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
