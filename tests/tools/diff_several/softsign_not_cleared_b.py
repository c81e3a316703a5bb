import numpy as np
import torch

rng = np.random.default_rng(7)
w = torch.tensor(rng.standard_normal((6, 4)) * 0.5, dtype=torch.float32, requires_grad=True)
v = torch.tensor(rng.standard_normal((4, 1)) * 0.5, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((4, 5, 6)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((4, 5, 1)), dtype=torch.float32)
optimizer = torch.optim.SGD([w, v], lr=0.05)
for i in range(4):
    out = torch.sin(x[i] @ w) @ v  # parts 1
    loss = ((out - y[i]) ** 2).mean()
    loss.backward()  # parts 2
    optimizer.step()
