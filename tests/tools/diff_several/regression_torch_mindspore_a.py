import numpy as np
import torch

rng = np.random.default_rng(2)
w1 = torch.tensor(rng.standard_normal((5, 12)) * 0.5, dtype=torch.float32, requires_grad=True)
b1 = torch.tensor(rng.standard_normal(12) * 0.1, dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.standard_normal((12, 2)) * 0.5, dtype=torch.float32, requires_grad=True)
b2 = torch.tensor(rng.standard_normal(2) * 0.1, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((9, 5)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((9, 2)), dtype=torch.float32)
h = x @ w1 + b1
h = torch.tanh(h)
out = h @ w2 + b2
scale = out.detach().abs().mean()  # parts 2
error = (out - y) / scale
loss = (error**2).sum()
loss.backward()
