"""dadaptation: five optimisers that find their rate, twelve steps each on one network."""
# packages: dadaptation==3.2
import dadaptation
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for kind in (
    dadaptation.DAdaptAdam,
    dadaptation.DAdaptSGD,
    dadaptation.DAdaptAdaGrad,
    dadaptation.DAdaptLion,
    dadaptation.DAdaptAdan,
):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = kind(net.parameters(), lr=1.0)
    for _ in range(12):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(kind.__name__, f"{loss.item():.6f}", f"{optimizer.param_groups[0]['d']:.8f}")
