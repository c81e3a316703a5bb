import torch
from torch import nn

torch.manual_seed(6)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
o = torch.optim.SGD([w], lr=0.05, momentum=0.9)
for _step in range(60):
    o.zero_grad()
    h = 1 / (1 + torch.exp(-(x @ w)))
    loss = ((h - y) ** 2).mean()
    loss.backward()
    o.step()
    print(loss.item())
