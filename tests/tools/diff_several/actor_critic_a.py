import numpy as np
import torch

rng = np.random.default_rng(5)
body = torch.tensor(rng.standard_normal((4, 8)) * 0.5, dtype=torch.float32, requires_grad=True)
actor = torch.tensor(rng.standard_normal((8, 3)) * 0.5, dtype=torch.float32, requires_grad=True)
critic = torch.tensor(rng.standard_normal((8, 1)) * 0.5, dtype=torch.float32, requires_grad=True)
states = torch.tensor(rng.standard_normal((7, 4)), dtype=torch.float32)
actions = torch.tensor(rng.integers(0, 3, 7))
returns = torch.tensor(rng.standard_normal(7), dtype=torch.float32)
for _ in range(2):
    h = torch.tanh(states @ body)
    logp = torch.log_softmax(h @ actor, -1)
    chosen = logp[torch.arange(7), actions]
    value = (h @ critic)[:, 0]
    advantage = (returns - value).detach()  # parts 2
    policy = -(chosen * advantage).mean()
    fit = ((returns - value) ** 2).mean()
    loss = policy + 0.5 * fit
    grads = torch.autograd.grad(loss, (body, actor, critic))
    with torch.no_grad():
        for p, g in zip((body, actor, critic), grads):
            p -= 0.1 * g
