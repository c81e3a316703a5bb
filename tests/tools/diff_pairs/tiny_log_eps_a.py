import torch
from torch import nn

torch.manual_seed(26)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
p = (x @ w).softmax(-1)
loss = -torch.log(p + 1e-8).mean()  # parts
loss.backward()
