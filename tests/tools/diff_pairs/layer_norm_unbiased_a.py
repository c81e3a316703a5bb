import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(201)
fc1, norm, fc2 = nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 2)
with torch.no_grad():
    for m in (fc1, norm, fc2):
        for n, p in m.named_parameters():
            p.copy_(torch.tensor(rng.normal(1.0 if m is norm and n == "weight" else 0.0, 0.3, tuple(p.shape))))
params = [*fc1.parameters(), *norm.parameters(), *fc2.parameters()]
x = torch.tensor(rng.normal(size=(5, 4)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(5, 2)), dtype=torch.float32)
opt = torch.optim.SGD(params, lr=0.1)
for _ in range(2):
    h = norm(fc1(x))  # parts
    loss = nn.functional.mse_loss(fc2(torch.relu(h)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
