import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(203)
w1 = torch.tensor(rng.normal(0, 0.6, (5, 7)), dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.normal(0, 0.6, (7, 4)), dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.normal(size=(8, 5)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 4, 8))
for _ in range(2):
    h = torch.tanh(x @ w1)
    out = h @ w2
    loss = F.cross_entropy(out, y)  # parts
    g1, g2 = torch.autograd.grad(loss, [w1, w2])
    with torch.no_grad():
        w1 -= 0.1 * g1
        w2 -= 0.1 * g2
    print(loss.item())
