import numpy as np
import torch

rng = np.random.default_rng(9)
wx = torch.tensor(rng.standard_normal((3, 5)) * 0.5, dtype=torch.float32, requires_grad=True)
wh = torch.tensor(rng.standard_normal((5, 5)) * 0.5, dtype=torch.float32, requires_grad=True)
wo = torch.tensor(rng.standard_normal((5, 2)) * 0.5, dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((6, 4, 3)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((4, 2)), dtype=torch.float32)
h = torch.zeros(4, 5)
for t in range(6):
    new = torch.tanh(x[t] @ wx + h @ wh)
    h = 0.3 * h + 0.7 * new
out = h @ wo
loss = torch.nn.functional.smooth_l1_loss(out, y, beta=1.0)
loss.backward()
