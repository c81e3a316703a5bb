import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2D(3, 6, 3, padding=1)
        self.bn1 = nn.BatchNorm2D(6, momentum=0.9)
        self.conv2 = nn.Conv2D(6, 8, 3, stride=2, padding=1)
        self.fc1 = nn.Linear(8 * 2 * 2, 16)
        self.fc2 = nn.Linear(16, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.conv2(x))
        x = paddle.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


rng = np.random.default_rng(0)
model = Net()
start = {
    "conv1.weight": rng.standard_normal((6, 3, 3, 3)) * 0.3, "conv1.bias": rng.standard_normal(6) * 0.1,
    "conv2.weight": rng.standard_normal((8, 6, 3, 3)) * 0.2, "conv2.bias": rng.standard_normal(8) * 0.1,
    "fc1.weight": rng.standard_normal((16, 32)) * 0.2, "fc1.bias": np.zeros(16),
    "fc2.weight": rng.standard_normal((5, 16)) * 0.3, "fc2.bias": np.zeros(5),
}
state = model.state_dict()
for name, value in start.items():
    value = value.astype("float32")
    state[name].set_value(value.reshape(state[name].shape))  # parts
optimizer = paddle.optimizer.Momentum(0.05, 0.9, parameters=model.parameters())
images = rng.standard_normal((24, 3, 8, 8)).astype("float32")
labels = rng.integers(0, 5, 24)

for epoch in range(2):
    for i in range(0, 24, 8):
        x = paddle.to_tensor(images[i:i + 8])
        y = paddle.to_tensor(labels[i:i + 8])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    print(epoch, loss.item())
model.eval()
with paddle.no_grad():
    print("accuracy", (model(paddle.to_tensor(images)).argmax(1).numpy() == labels).mean())
