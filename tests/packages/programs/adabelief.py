"""adabelief-pytorch: AdaBelief with and without rectification, decoupled decay and AMSGrad."""
# packages: adabelief-pytorch==0.2.1
# needs: colorama, tabulate
import torch
from adabelief_pytorch import AdaBelief
from torch import nn

for options in (
    {},
    {"rectify": False},
    {"weight_decouple": False, "weight_decay": 0.01},
    {"amsgrad": True, "fixed_decay": True},
):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
    x = torch.randn(40, 5)
    y = x[:, :1] * x[:, 1:2]
    optimizer = AdaBelief(net.parameters(), lr=0.01, eps=1e-12, print_change_log=False, **options)
    for _ in range(15):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sorted(options), f"{loss.item():.7f}")
