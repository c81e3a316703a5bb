"""madgrad: MADGRAD and MirrorMADGRAD, with momentum and decay, sparse gradients of an embedding."""
# packages: madgrad==1.3
import torch
from madgrad import MADGRAD, MirrorMADGRAD
from torch import nn

for kind, options in (
    (MADGRAD, {}),
    (MADGRAD, {"momentum": 0, "weight_decay": 1e-3}),
    (MirrorMADGRAD, {"decouple_decay": True, "weight_decay": 1e-2}),
):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ELU(), nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(24, 2))
    x, y = torch.randn(16, 2, 15), torch.randint(0, 2, (16,))
    optimizer = kind(net.parameters(), lr=0.01, **options)
    for _ in range(12):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(kind.__name__, sorted(options), f"{loss.item():.7f}", f"{net[0].weight.sum().item():.6f}")
embedding = nn.Embedding(10, 3, sparse=True)
optimizer = MADGRAD(embedding.parameters(), lr=0.1, momentum=0)
for _ in range(5):
    loss = (embedding(torch.tensor([1, 4, 4, 7])) - 1).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}", f"{embedding.weight.sum().item():.6f}")
