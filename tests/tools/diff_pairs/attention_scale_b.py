import math

import numpy as np
import paddle
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = (f(x).reshape([b, n, self.heads, d // self.heads]).transpose([0, 2, 1, 3])
                   for f in (self.q, self.k, self.v))
        scores = paddle.matmul(q, k, transpose_y=True)
        scores = scores / math.sqrt(d)  # parts
        scores = scores + mask
        weights = nn.functional.softmax(scores, axis=-1)
        out = paddle.matmul(weights, v)
        return self.o(out.transpose([0, 2, 1, 3]).reshape([b, n, d]))


class Block(nn.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = Attention(dim, heads)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


def fill(layer, weight):
    layer.weight.set_value(weight.T.astype("float32"))
    layer.bias.set_value(np.zeros(len(weight), "float32"))


rng = np.random.default_rng(3)
dim, heads, length, words = 8, 2, 6, 11
embedding = nn.Embedding(words, dim)
block = Block(dim, heads)
head = nn.Linear(dim, words)
embedding.weight.set_value(rng.standard_normal((words, dim)).astype("float32"))
for layer in (block.attention.q, block.attention.k, block.attention.v, block.attention.o):
    fill(layer, rng.standard_normal((dim, dim)) * 0.4)
fill(block.mlp[0], rng.standard_normal((4 * dim, dim)) * 0.3)
fill(block.mlp[2], rng.standard_normal((dim, 4 * dim)) * 0.3)
fill(head, rng.standard_normal((words, dim)) * 0.3)
tokens = paddle.to_tensor(rng.integers(0, words, (4, length + 1)))
mask = paddle.triu(paddle.full([length, length], -1e9), diagonal=1)
angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
places = paddle.to_tensor(np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, dim).astype("float32"))
parameters = embedding.parameters() + block.parameters() + head.parameters()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=parameters, weight_decay=0.01,
                                   grad_clip=nn.ClipGradByGlobalNorm(1.0))
for _step in range(3):
    x = embedding(tokens[:, :-1]) * math.sqrt(dim) + places
    logits = head(block(x, mask))
    loss = nn.functional.cross_entropy(logits, tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
