import torch
from torch import nn

torch.manual_seed(9)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
a = nn.Parameter(torch.randn(5, 5))
h = (x @ w) @ a
loss = (h * y).mean()
loss.backward()
