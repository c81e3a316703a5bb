import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn1 = nn.BatchNorm2d(6, momentum=0.9)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Dense(8 * 2 * 2, 16, activation="relu")
        self.fc2 = nn.Dense(16, 5)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(ops.relu(self.bn1(self.conv1(x))))
        x = ops.relu(self.conv2(x))
        return self.fc2(self.fc1(self.flatten(x)))


rng = np.random.default_rng(0)
model = Net()
start = {
    "conv1.weight": rng.standard_normal((6, 3, 3, 3)) * 0.3, "conv1.bias": rng.standard_normal(6) * 0.1,
    "conv2.weight": rng.standard_normal((8, 6, 3, 3)) * 0.2, "conv2.bias": rng.standard_normal(8) * 0.1,
    "fc1.weight": rng.standard_normal((16, 32)) * 0.2, "fc1.bias": np.zeros(16),
    "fc2.weight": rng.standard_normal((5, 16)) * 0.3, "fc2.bias": np.zeros(5),
}
ms.load_param_into_net(model, {k: ms.Parameter(ms.Tensor(v.astype("float32")), name=k) for k, v in start.items()})
optimizer = ms.experimental.optim.AdamW(model.trainable_params(), lr=1e-3, weight_decay=0.0)
images = rng.standard_normal((24, 3, 8, 8)).astype("float32")
labels = rng.integers(0, 5, 24).astype("int32")
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def forward(x, y):
    return loss_fn(model(x), y)


step = ms.value_and_grad(forward, None, optimizer.parameters)
model.set_train()
for epoch in range(2):
    for i in range(0, 24, 8):
        loss, grads = step(ms.Tensor(images[i:i + 8]), ms.Tensor(labels[i:i + 8]))
        optimizer(grads)
    print(epoch, loss.asnumpy())
model.set_train(False)
print("accuracy", (model(ms.Tensor(images)).argmax(1).asnumpy() == labels).mean())
