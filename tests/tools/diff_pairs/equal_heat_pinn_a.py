import numpy as np
import torch

rng = np.random.default_rng(105)
W = [rng.normal(0, 0.7, s).astype("float32") for s in ((10, 2), (10,), (1, 10), (1,))]
net = torch.nn.Sequential(torch.nn.Linear(2, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
for p, w in zip(net.parameters(), W):
    p.data = torch.from_numpy(w)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
xt = torch.tensor(rng.uniform(0, 1, (16, 2)).astype("float32"), requires_grad=True)
for step in range(3):
    u = net(xt)
    du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = du[:, 0:1], du[:, 1:2]
    u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=True)[0][:, 0:1]
    loss = (u_t - 0.3 * u_xx).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
