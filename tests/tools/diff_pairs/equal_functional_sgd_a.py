import numpy as np
import torch
from torch.func import functional_call, grad_and_value

rng = np.random.default_rng(106)
net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.tensor(rng.normal(0, 0.5, tuple(p.shape))))
params = {k: v.detach() for k, v in net.named_parameters()}
x = torch.tensor(rng.normal(size=(7, 4)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, 7))


def loss_fn(params):
    return torch.nn.functional.cross_entropy(functional_call(net, params, (x,)), y)


velocity = {k: torch.zeros_like(v) for k, v in params.items()}
for _ in range(3):
    grads, loss = grad_and_value(loss_fn)(params)
    for k in params:
        velocity[k] = 0.9 * velocity[k] + grads[k]
        params[k] = params[k] - 0.1 * velocity[k]
    print(loss.item())
