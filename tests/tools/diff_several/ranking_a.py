import numpy as np
import torch

rng = np.random.default_rng(30)
user = torch.tensor(rng.normal(size=(6, 4)), dtype=torch.float32, requires_grad=True)
item = torch.tensor(rng.normal(size=(9, 4)), dtype=torch.float32, requires_grad=True)
bias = torch.zeros(9, requires_grad=True)
u = torch.tensor(rng.integers(0, 6, 20))
i = torch.tensor(rng.integers(0, 9, 20))
j = torch.tensor(rng.integers(0, 9, 20))
opt = torch.optim.SGD([user, item, bias], lr=0.3)
for _ in range(3):
    pu, qi, qj = user[u], item[i], item[j]
    xi = (pu * qi).sum(-1) + bias[i]
    xj = (pu * qj).sum(-1) + bias[j]
    loss = -torch.nn.functional.logsigmoid(xi - xj).mean()
    loss = loss + 0.01 * (pu.pow(2).sum() + qi.pow(2).sum() + qj.pow(2).sum()) / len(u)
    opt.zero_grad()
    loss.backward()
    opt.step()
