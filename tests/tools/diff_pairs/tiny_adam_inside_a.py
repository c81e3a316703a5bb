import torch
from torch import nn

torch.manual_seed(24)
w = nn.Parameter(torch.randn(6, 5) * 0.5)
x = torch.randn(8, 6)
y = torch.randn(8, 5)
m = torch.zeros_like(w)
v = torch.zeros_like(w)
for step in range(1, 3):
    loss = ((x @ w - y) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w)
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    mh, vh = m / (1 - 0.9**step), v / (1 - 0.999**step)
    with torch.no_grad():
        w -= 0.01 * mh / (torch.sqrt(vh) + 1e-7)  # parts
