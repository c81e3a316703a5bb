import torch
from torch import nn

torch.manual_seed(29)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = (x @ w).softmax(-1)
z = torch.log(h)  # parts
loss = -(y.softmax(-1) * z).sum()
loss.backward()
