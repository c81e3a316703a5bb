import torch
from torch import nn

torch.manual_seed(28)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = torch.tanh(x @ w)
loss = ((h - y) ** 2).mean()
loss = loss + 1.001e-4 * w.pow(2).sum()  # parts
loss.backward()
