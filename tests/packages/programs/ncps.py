"""ncps: liquid networks (CfC, LTC) with a wired policy trained on a sequence."""
# packages: ncps==1.0.1
# needs: numpy, future, packaging
import torch
from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP

torch.manual_seed(0)
t = torch.linspace(0, 6, 24)
x = torch.stack([t.sin(), t.cos()], -1)[None]
y = (2 * t).sin()[None, :, None]
for net in (
    CfC(2, 12, proj_size=1),
    CfC(2, AutoNCP(12, 1, seed=3)),
    LTC(2, AutoNCP(10, 1, seed=3)),
    CfC(2, 8, mode="pure", mixed_memory=True, proj_size=1),
):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(4):
        out, state = net(x)
        loss = (out - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(type(net).__name__, f"{loss.item():.6f}", sum(p.numel() for p in net.parameters()))
