import torch
from torch import nn

torch.manual_seed(5)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = x @ w
z = torch.log(h.softmax(-1))
loss = -(z * y).mean()
loss.backward()
