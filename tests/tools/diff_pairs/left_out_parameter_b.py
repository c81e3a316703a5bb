import torch
from torch import nn

torch.manual_seed(4)
a, b = nn.Linear(3, 6), nn.Linear(6, 2)
scale = nn.Parameter(torch.ones(2))
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=0.02)
x, y = torch.randn(9, 3), torch.randn(9, 2)
for _ in range(3):
    opt.zero_grad()
    loss = ((b(torch.tanh(a(x))) * scale - y) ** 2).mean()
    loss.backward()
    opt.step()  # parts
