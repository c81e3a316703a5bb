import numpy as np
import torch

rng = np.random.default_rng(14)
w1 = torch.tensor(rng.normal(size=(2, 12)), dtype=torch.float32, requires_grad=True)
b1 = torch.tensor(rng.normal(size=12), dtype=torch.float32, requires_grad=True)
w2 = torch.tensor(rng.normal(size=(12, 1)) * 0.4, dtype=torch.float32, requires_grad=True)
inside = torch.tensor(rng.uniform(size=(20, 2)), dtype=torch.float32, requires_grad=True)
edge = torch.tensor(rng.uniform(size=(8, 2)), dtype=torch.float32)
edge[:, 0] = 0.0


def net(p):
    return torch.tanh(p @ w1 + b1) @ w2


opt = torch.optim.Adam([w1, b1, w2], lr=0.01)
for _ in range(2):
    u = net(inside)
    du = torch.autograd.grad(u.sum(), inside, create_graph=True)[0]
    ux, ut = du[:, 0:1], du[:, 1:2]
    uxx = torch.autograd.grad(ux.sum(), inside, create_graph=True)[0][:, 0:1]
    residual = ut + u * ux - 0.01 / np.pi * uxx
    loss_f = (residual**2).mean()
    loss_b = ((net(edge) - torch.sin(np.pi * edge[:, 1:2])) ** 2).mean()
    loss = loss_f + 10 * loss_b
    opt.zero_grad()
    loss.backward()
    opt.step()
