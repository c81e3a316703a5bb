import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(24)
q = torch.tensor(rng.standard_normal((1, 6)), dtype=torch.float32, requires_grad=True)
w = torch.tensor(rng.standard_normal((6, 2)) * 0.5, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((4, 7, 6)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((4, 2)), dtype=torch.float32)
scores = (x * q).sum(-1)
weights = F.softmax(scores, dim=0)  # parts 1
pooled = (weights.unsqueeze(-1) * x).sum(1)
out = torch.tanh(pooled) @ w  # parts 2
loss = F.l1_loss(out, y)
loss.backward()
