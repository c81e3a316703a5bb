import numpy as np
import torch

rng = np.random.default_rng(10)
w = torch.tensor(rng.standard_normal((6, 8)) * 0.5, dtype=torch.float32, requires_grad=True)
b = torch.tensor(rng.standard_normal(8) * 0.5, dtype=torch.float32, requires_grad=True)
u = torch.tensor(rng.standard_normal((8, 3)) * 0.5, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((12, 6)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, 12))
optimizer = torch.optim.SGD([w, b, u], lr=0.1, momentum=0.8)
for _ in range(3):
    h = torch.tanh(x @ w + b)
    loss = torch.nn.functional.cross_entropy(h @ u, y)  # parts 1 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # parts 3
