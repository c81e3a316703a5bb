import numpy as np
import torch

rng = np.random.default_rng(603)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
for p in net.parameters():
    p.data = torch.tensor(rng.normal(0, 0.6, tuple(p.shape)))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
state = torch.tensor(rng.normal(size=(12, 2)), requires_grad=True)
dq, dp = state.detach()[:, 1], -state.detach()[:, 0]
for _ in range(2):
    energy = net(state).sum()
    g, = torch.autograd.grad(energy, state, create_graph=True)
    q_dot, p_dot = g[:, 0], -g[:, 1]  # parts
    loss = ((q_dot - dq) ** 2 + (p_dot - dp) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
