"""pytorch-ranger: Ranger, RangerVA and RangerQH for twelve steps on one network."""
# packages: pytorch-ranger==0.1.1
import torch
from pytorch_ranger import Ranger, RangerQH, RangerVA
from torch import nn

for kind in (Ranger, RangerVA, RangerQH):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
    x, y = torch.randn(12, 1, 8, 8), torch.randint(0, 3, (12,))
    optimizer = kind(net.parameters(), lr=0.02, weight_decay=1e-3)
    for _ in range(12):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print(kind.__name__, f"{loss.item():.7f}", f"{sum(p.abs().sum() for p in net.parameters()).item():.6f}")
