import numpy as np
import torch
import torch.nn.functional as F

r = np.random.default_rng(7)
W = torch.tensor(r.standard_normal((4, 4)).astype("float32"), requires_grad=True)
b = torch.tensor(r.standard_normal(4).astype("float32"), requires_grad=True)
x = torch.tensor(r.standard_normal((6, 4)).astype("float32"))
y = torch.tensor(r.standard_normal((6, 4)).astype("float32"))
t = torch.tensor(r.integers(0, 4, 6))
h = x @ W + b
loss = F.cross_entropy(h, t)
loss.backward()
