"""The same kind of training in MindSpore's functional style."""

import mindspore as ms
from mindspore import nn, ops

ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
x = ops.randn(32, 4)
y = x.sum(axis=1, keepdims=True)
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
loss_of = nn.MSELoss()


def forward(x, y):
    return loss_of(net(x), y)


step_of = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(30):
    loss, gradients = step_of(x, y)
    optimizer(gradients)
