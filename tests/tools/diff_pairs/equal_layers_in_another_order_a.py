import torch
from torch import nn

torch.manual_seed(33)
net = nn.Sequential(
    nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(36, 8), nn.ReLU(inplace=True), nn.Linear(8, 3)
)
x, y = torch.randn(7, 2, 5, 5), torch.randint(0, 3, (7,))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    opt.zero_grad()
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    opt.step()
