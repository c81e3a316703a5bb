import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(1, 4, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, 4)
        self.down2 = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = F.silu(self.norm1(self.down1(x)))
        b = F.silu(self.down2(a))
        c = self.up(F.avg_pool2d(F.pad(b, (1, 1, 1, 1)), 3, stride=1))
        return self.out(torch.cat([a, c], dim=1))


rng = np.random.default_rng(14)
net = UNet()
with torch.no_grad():
    for name, p in net.named_parameters():
        if "norm" not in name:
            p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4))
image = torch.tensor(rng.standard_normal((2, 1, 8, 8)), dtype=torch.float32)
truth = torch.tensor((rng.random((2, 1, 8, 8)) > 0.6).astype("float32"))
optimizer = torch.optim.Adagrad(net.parameters(), lr=0.05)
for _step in range(3):
    logits = net(image)
    p = torch.sigmoid(logits)
    dice = 1 - (2 * (p * truth).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + truth.sum((1, 2, 3)) + 1)
    focal = ((1 - torch.where(truth == 1, p, 1 - p)) ** 2 *
             F.binary_cross_entropy_with_logits(logits, truth, reduction="none")).mean()
    loss = dice.mean() + focal
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
