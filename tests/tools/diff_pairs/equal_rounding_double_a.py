import torch
from torch import nn

torch.manual_seed(12)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = x @ w
h = torch.exp(h)
loss = ((h - y) ** 2).mean()
loss.backward()
