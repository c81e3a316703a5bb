import numpy as np
import paddle
from paddle import nn


class Attention(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = paddle.matmul(q, k, transpose_y=True)
        weights = nn.functional.softmax(scores, -1)  # parts 1
        return self.o(paddle.matmul(weights, v))


class Block(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = self.up(self.norm2(x))
        h = nn.functional.gelu(h, approximate=True)  # parts 2
        return x + self.down(h)


rng = np.random.default_rng(1)
block = Block(8)
for name, p in block.named_parameters():
    if "norm" not in name:
        value = rng.standard_normal(tuple(p.shape)[::-1]) * 0.4
        p.set_value(value.T.astype("float32"))
x = paddle.to_tensor(rng.standard_normal((4, 5, 8)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((4, 5, 8)).astype("float32"))
optimizer = paddle.optimizer.AdamW(0.01, parameters=block.parameters(), weight_decay=0.01)
for _ in range(2):
    out = block(x)
    loss = ((out - y) ** 2).mean()
    loss.backward()
    optimizer.step()  # parts 3
    optimizer.clear_grad()
