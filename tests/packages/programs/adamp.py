"""adamp: AdamP and SGDP for six steps on a network with batch norm."""
# packages: adamp==0.3.0
import torch
from adamp import SGDP, AdamP
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(32, 3, 8, 8), torch.randint(0, 4, (32,))
for make in (
    lambda p: AdamP(p, lr=0.01, weight_decay=1e-2),
    lambda p: SGDP(p, lr=0.05, weight_decay=1e-4, momentum=0.9, nesterov=True),
):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    optimizer = make(net.parameters())
    for _ in range(6):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(type(optimizer).__name__, f"{loss.item():.6f}", f"{sum(p.norm() for p in net.parameters()).item():.5f}")
