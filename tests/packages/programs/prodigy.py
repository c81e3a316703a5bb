"""prodigyopt: Prodigy, which finds its rate, with decoupled decay, a safeguard and slices."""
# packages: prodigyopt==1.1.2
import torch
from prodigyopt import Prodigy
from torch import nn

for options in ({}, {"weight_decay": 0.01, "use_bias_correction": True}, {"safeguard_warmup": True, "slice_p": 3}):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1))
    x = torch.randn(30, 4)
    optimizer = Prodigy(net.parameters(), lr=1.0, **options)
    for _ in range(20):
        loss = (net(x) - x.sum(1, keepdim=True).sin()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sorted(options), f"{loss.item():.6f}", f"{optimizer.param_groups[0]['d']:.8f}")
