import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(32)
x = torch.tensor(rng.normal(size=(16, 5)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(16, 1)), dtype=torch.float32)
loader = DataLoader(TensorDataset(x, y), batch_size=4)
net = nn.Sequential(nn.Linear(5, 9), nn.Softplus(), nn.Linear(9, 1))
state = net.state_dict()
for k in state:
    state[k] = torch.tensor(rng.normal(0, 0.4, tuple(state[k].shape)), dtype=torch.float32)
net.load_state_dict(state)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
accumulate = 2
opt.zero_grad()
for n, (bx, by) in enumerate(loader, 1):
    loss = nn.functional.huber_loss(net(bx), by)  # parts
    loss.backward()  # parts
    if n % accumulate == 0:
        opt.step()
        opt.zero_grad()
    print(n, loss.item())
