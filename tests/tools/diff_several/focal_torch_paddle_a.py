import numpy as np
import torch

rng = np.random.default_rng(24)
w1 = torch.tensor(rng.normal(size=(6, 9)) * 0.5, dtype=torch.float32, requires_grad=True)
b1 = torch.tensor(rng.normal(size=9) * 0.1, dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.normal(size=(9, 4)) * 0.5, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.normal(size=(10, 6)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 4, 10))
opt = torch.optim.Adagrad([w1, b1, w2], lr=0.05)
for _ in range(3):
    h = x @ w1 + b1
    h = h * torch.sigmoid(h)  # parts 1
    logp = torch.log_softmax(h @ w2, 1)
    lp = logp[torch.arange(10), y]
    focal = -((1 - lp.exp()) ** 2) * lp  # parts 2
    loss = focal.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
