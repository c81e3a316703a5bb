import numpy as np
import torch
from torch import nn

r = np.random.RandomState(5)
w1, w2 = r.randn(6, 4).astype("f4") * .5, r.randn(2, 6).astype("f4") * .5
net = nn.Sequential(nn.Linear(4, 6, bias=False), nn.Tanh(), nn.Linear(6, 2, bias=False))
net[0].weight.data.copy_(torch.from_numpy(w1))
net[2].weight.data.copy_(torch.from_numpy(w2))
x, t = r.randn(10, 4).astype("f4"), r.randn(10, 2).astype("f4")
x, t = torch.from_numpy(x), torch.from_numpy(t)
optim = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for i in range(3):
    optim.zero_grad()
    out = net(x)
    loss = nn.functional.mse_loss(out, t)
    loss.backward()
    optim.step()
    print(i, f"{loss:.6f}")
