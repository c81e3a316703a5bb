import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.LayerNorm(16)
        self.second = nn.Linear(16, 16)
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        x = self.first(x)
        x = self.norm(x)
        x = torch.relu(x)
        x = self.second(x)
        x = torch.tanh(x)
        return self.last(x)


rng = np.random.default_rng(0)
torch.manual_seed(0)
model = Net()
for p in model.parameters():
    p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4, dtype=torch.float32)
x = torch.tensor(rng.standard_normal((20, 6)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, 20))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
