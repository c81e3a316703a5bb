import numpy as np
import torch

rng = np.random.default_rng(35)
w = torch.tensor(rng.normal(size=(6,)), dtype=torch.float32, requires_grad=True)
signal = torch.tensor(rng.normal(size=(4, 6)), dtype=torch.float32)
kernel = torch.tensor(rng.normal(size=(6, 6)), dtype=torch.float32, requires_grad=True)
for step in range(2):
    masked = signal.clone()
    masked[:, 2:4] = 0.0  # parts
    prediction = torch.relu(masked @ kernel) * w
    error = prediction[:, 2:4] - signal[:, 2:4]
    loss = error.abs().mean() + 0.01 * w.pow(2).sum()
    gw, gk = torch.autograd.grad(loss, (w, kernel))
    with torch.no_grad():
        w -= 0.1 * gw
        kernel -= 0.1 * gk
    print(step, loss.item())
