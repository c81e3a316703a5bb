import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Basic(nn.Cell):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Conv2d(cin, cout, 1)

    def construct(self, x):
        y = ops.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return ops.relu(y + self.short(x))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Basic(2, 4)
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        y = self.block(x)
        y = ops.mean(y, (2, 3))
        return self.fc(y)


rng = np.random.default_rng(16)
net = Net()
net.set_train()
for p in net.trainable_params():
    p.set_data(Tensor((rng.normal(size=p.shape) * 0.4).astype(np.float32)))
x = Tensor(rng.normal(size=(4, 2, 6, 6)).astype(np.float32))
y = Tensor(rng.integers(0, 3, 4).astype(np.int32))
loss_fn = nn.CrossEntropyLoss()
opt = nn.Momentum(net.trainable_params(), 0.05, 0.9, weight_decay=1e-2)


def forward(x, y):
    return loss_fn(net(x), y)


step = ms.value_and_grad(forward, None, opt.parameters)
for _ in range(2):
    loss, grads = step(x, y)
    opt(grads)
