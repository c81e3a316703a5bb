import torch
from torch import nn

torch.manual_seed(7)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
b = nn.Parameter(torch.zeros(5))
h = x @ w + b
s = h.sigmoid()
t = torch.where(torch.arange(8)[:, None] % 2 == 0, 1.0, -1.0) + 0.01 * y
loss = (s * t.clamp(min=0)).sum() + (s * t.clamp(max=0)).sum()
loss.backward()
