import numpy as np
import torch
from torch import nn

data = np.random.default_rng(0)
x = torch.tensor(data.normal(size=(32, 4)), dtype=torch.float32)
y = torch.tensor(data.integers(0, 3, 32))

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.tensor(np.random.default_rng(i).normal(size=tuple(p.shape)) / 4))

optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(5):
    scores = net(x)  # parts 1
    loss = nn.functional.cross_entropy(scores, y, label_smoothing=0.1)  # parts 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")
