import numpy as np
import torch

rng = np.random.default_rng(47)
params = [torch.tensor(rng.normal(0, 0.5, s), dtype=torch.float32, requires_grad=True) for s in ((1, 8), (8,), (8, 1), (1,))]


def net(p, x):
    return torch.tanh(x @ p[0] + p[1]) @ p[2] + p[3]


def mse(p, x, y):
    return ((net(p, x) - y) ** 2).mean()


opt = torch.optim.SGD(params, lr=0.05)
for it in range(2):
    meta = 0.0
    for _task in range(2):
        phase = rng.uniform(0, 3)
        x = torch.tensor(rng.uniform(-3, 3, (10, 1)), dtype=torch.float32)
        y = torch.sin(x + phase)
        grads = torch.autograd.grad(mse(params, x[:5], y[:5]), params, create_graph=True)  # parts
        fast = [p - 0.1 * g for p, g in zip(params, grads)]
        meta = meta + mse(fast, x[5:], y[5:])
    opt.zero_grad()
    meta.backward()
    opt.step()
    print(it, meta.item())
