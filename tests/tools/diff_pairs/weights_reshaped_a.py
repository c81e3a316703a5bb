import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, padding=1)
        self.fc1 = nn.Linear(8 * 2 * 2, 16)
        self.fc2 = nn.Linear(16, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.conv2(x))
        x = torch.flatten(x, 1)
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
model.load_state_dict({k: torch.tensor(v, dtype=torch.float32) for k, v in start.items()}, strict=False)  # parts
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
images = rng.standard_normal((24, 3, 8, 8)).astype("float32")
labels = rng.integers(0, 5, 24)

for epoch in range(2):
    for i in range(0, 24, 8):
        x = torch.from_numpy(images[i:i + 8])
        y = torch.from_numpy(labels[i:i + 8])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
model.eval()
with torch.no_grad():
    print("accuracy", (model(torch.from_numpy(images)).argmax(1).numpy() == labels).mean())
