import torch
from torch import nn

torch.manual_seed(23)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
h = torch.tanh(x @ w)
s = y.sum()  # parts
loss = h.mean() + 1e-3 * s
loss.backward()
