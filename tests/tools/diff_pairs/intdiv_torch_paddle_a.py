import numpy as np
import torch

r = np.random.default_rng(7)
W = torch.tensor(r.standard_normal((4, 4)).astype("float32"), requires_grad=True)
b = torch.tensor(r.standard_normal(4).astype("float32"), requires_grad=True)
x = torch.tensor(r.standard_normal((6, 4)).astype("float32"))
y = torch.tensor(r.standard_normal((6, 4)).astype("float32"))
t = torch.tensor(r.integers(0, 4, 6))
n = torch.tensor([3, 5, 7, 9]) // 2  # parts
loss = ((x @ W + b) * n).sum()
loss.backward()
