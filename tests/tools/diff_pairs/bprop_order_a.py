import numpy as np
import torch
from torch import nn


class Bilinear(nn.Module):
    def forward(self, a, b):
        return a * b + a  # parts


rng = np.random.default_rng(30)
fa, fb = nn.Linear(3, 4), nn.Linear(3, 4)
with torch.no_grad():
    for p in [*fa.parameters(), *fb.parameters()]:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape))))
op = Bilinear()
x = torch.tensor(rng.normal(size=(6, 3)), dtype=torch.float32)
loss = torch.sigmoid(op(fa(x), fb(x))).sum()
loss.backward()
print(loss.item())
for p in [*fa.parameters(), *fb.parameters()]:
    print(p.grad.norm().item())
