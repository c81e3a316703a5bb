import numpy as np
import torch

r = np.random.default_rng(7)
W = torch.tensor(r.standard_normal((4, 2)).astype("float32"), requires_grad=True)
x = torch.tensor(r.standard_normal((6, 4)).astype("float32"))
opt = torch.optim.SGD([W], lr=0.1, momentum=0.9)
for _ in range(3):
    opt.zero_grad()
    loss = torch.tanh(x @ W).pow(2).mean()
    loss.backward()
    opt.step()  # parts
