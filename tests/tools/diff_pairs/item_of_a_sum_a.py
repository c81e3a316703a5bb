import torch
from torch import nn

torch.manual_seed(15)
net = nn.Linear(4, 3)
x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
z = net(x)
ce = nn.functional.cross_entropy(z, y)
reg = sum(p.pow(2).sum() for p in net.parameters())
loss = ce + 0.1 * reg  # parts
loss.backward()
