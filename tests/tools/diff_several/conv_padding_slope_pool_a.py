import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 6, 3, padding=1)
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        x = self.conv1(x)
        x = torch.relu(x)
        x = self.conv2(x)
        x = nn.functional.leaky_relu(x)
        x = x.mean((2, 3))
        return self.fc(x)


rng = np.random.default_rng(3)
model = Net()
for p in model.parameters():
    p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.3, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((6, 1, 8, 8)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
