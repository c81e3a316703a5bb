"""The same kind of training in PaddlePaddle."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = paddle.randn([32, 4])
y = x.sum(axis=1, keepdim=True)
optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=net.parameters())
for _ in range(30):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
