import numpy as np
import torch
from torch import nn

g = np.random.default_rng(8)
cell = nn.GRUCell(3, 5)
out = nn.Linear(5, 2)
with torch.no_grad():
    for p in [*cell.parameters(), *out.parameters()]:
        p.copy_(torch.tensor(g.standard_normal(p.shape)) * 0.5)
xs = torch.tensor(g.standard_normal((6, 4, 3)), dtype=torch.float32)
ys = torch.tensor(g.integers(0, 2, (6, 4)))
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.5)
for _epoch in range(2):
    h = torch.zeros(4, 5)
    total = 0.0
    for x, y in zip(xs, ys):
        h = cell(x, h)  # parts
        total = total + nn.functional.cross_entropy(out(h), y)
    opt.zero_grad()
    total.backward()
    opt.step()
    print(total.item())
