"""A network with an activation that dies, trained for some steps."""

import sys

import torch
from torch import nn

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 60

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.second = nn.Linear(8, 1)

    def forward(self, x):
        return self.second(self.act(self.first(x)))


net = Net()
with torch.no_grad():
    net.first.bias[:3] = -100.0  # these three units never are anything but 0
x = torch.randn(32, 4)
y = x.sum(dim=1, keepdim=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(STEPS):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}")
