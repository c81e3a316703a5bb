import torch
from torch import nn

torch.manual_seed(4)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = 30 + x @ w
v = (h**2).mean(0) - h.mean(0) ** 2
loss = (v * y[0]).sum()
loss.backward()
