import torch
from torch import nn

torch.manual_seed(30)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
o = torch.optim.SGD([w], lr=0.01)
for _step in range(2):
    loss = ((x @ w - y) ** 2).mean()
    o.zero_grad()
    loss.backward()
    o.step()  # parts
