import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Basic(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Conv2d(cin, cout, 1, bias=False)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))  # parts 1
        return F.relu(y + self.short(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Basic(2, 4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        y = self.block(x)
        y = y.amax((2, 3))  # parts 2
        return self.fc(y)


rng = np.random.default_rng(16)
net = Net()
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.4))
x = torch.tensor(rng.normal(size=(4, 2, 6, 6)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-2, nesterov=True)
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()  # parts 3
