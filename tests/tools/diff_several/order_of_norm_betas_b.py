import numpy as np
import paddle
from paddle import nn


class Block(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim)

    def forward(self, x):
        h = paddle.tanh(self.up(x))  # parts 1
        return self.norm(x + self.down(h))  # parts 1


rng = np.random.default_rng(4)
block, head = Block(6), nn.Linear(6, 1)
for p in (block.up.weight, block.up.bias, block.down.weight, block.down.bias, head.weight, head.bias):
    p.set_value((rng.standard_normal(tuple(p.shape)[::-1]) * 0.4).T.astype("float32"))
x = paddle.to_tensor(rng.standard_normal((10, 6)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((10, 1)).astype("float32"))
optimizer = paddle.optimizer.Adam(0.01, beta2=0.999, parameters=[*block.parameters(), *head.parameters()])
for _ in range(3):
    loss = nn.functional.mse_loss(head(block(x)), y)
    loss.backward()
    optimizer.step()  # parts 2
    optimizer.clear_grad()
