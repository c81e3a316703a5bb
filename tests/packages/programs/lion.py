"""lion-pytorch: Lion for twelve steps, with decay coupled and decoupled, its state saved and loaded."""
# packages: lion-pytorch==0.2.5
import torch
from lion_pytorch import Lion
from torch import nn

for options in ({}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}):
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.LayerNorm(12), nn.Linear(12, 2))
    x, y = torch.randn(30, 6), torch.randint(0, 2, (30,))
    optimizer = Lion(net.parameters(), lr=3e-3, **options)
    for step in range(12):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 5:
            state = optimizer.state_dict()
            optimizer = Lion(net.parameters(), lr=1.0)
            optimizer.load_state_dict(state)
    print(sorted(options), f"{loss.item():.7f}", f"{net[0].weight.norm().item():.6f}")
