import torch
from torch import nn

torch.manual_seed(33)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        conv, dense, last = nn.Conv2d(2, 4, 3), nn.Linear(36, 8), nn.Linear(8, 3)
        self.last, self.dense, self.bn, self.conv = last, dense, nn.BatchNorm2d(4), conv
    def forward(self, x):
        x = self.bn(self.conv(x)).clamp(min=0)
        x = self.dense(x.view(len(x), -1))
        return self.last(torch.nn.functional.relu_(x))
net = Net()
x, y = torch.randn(7, 2, 5, 5), torch.randint(0, 3, (7,))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    opt.zero_grad()
    logits = net(x)
    loss = (logits.logsumexp(1) - logits[torch.arange(7), y]).mean()
    loss.backward()
    opt.step()
