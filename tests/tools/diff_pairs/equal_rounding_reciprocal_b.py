import torch
from torch import nn

torch.manual_seed(3)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = x @ w
h = h * (1 / 3)
loss = (h.softmax(-1) * y).sum()
loss.backward()
