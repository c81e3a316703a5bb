import torch
from torch import nn

torch.manual_seed(11)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = x @ w
h = h * torch.rsqrt((h * h).sum(-1, keepdim=True))
loss = (h * y).mean()
loss.backward()
