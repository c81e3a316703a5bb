import torch
from torch import nn

torch.manual_seed(1)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = torch.tanh(x @ w)
loss = sum(((h[i] - y[i]) ** 2).sum() for i in range(8)) / 40
loss.backward()
