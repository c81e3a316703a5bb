import torch
from torch import nn

torch.manual_seed(4)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = 30 + x @ w
v = h.var(0, unbiased=False)
loss = (v * y[0]).sum()
loss.backward()
