import torch
from torch import nn

torch.manual_seed(25)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
m = torch.zeros_like(w)
for _step in range(1, 3):
    loss = ((x @ w - y) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w -= 0.01 * g / (g.abs() + 1e-8)  # parts
