import numpy as np
import paddle
from paddle import nn

data = np.random.default_rng(0)
x = paddle.to_tensor(data.normal(size=(32, 4)), dtype="float32")
y = paddle.to_tensor(data.integers(0, 3, 32))

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.GELU(approximate=True), nn.LayerNorm(16), nn.Linear(16, 3))
with paddle.no_grad():
    for i, p in enumerate(net.parameters()):
        shape = tuple(p.shape)[::-1]  # paddle keeps the weights of Linear the other way round
        p.set_value(np.random.default_rng(i).normal(size=shape).astype("float32").T / 4)

optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(5):
    scores = net(x)  # parts 1
    loss = nn.functional.cross_entropy(scores, y)  # parts 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(f"{float(loss):.5f}")
