import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(202)
rnn = nn.GRU(3, 4, batch_first=True)
head = nn.Linear(4, 2)
with torch.no_grad():
    for p in [*rnn.parameters(), *head.parameters()]:
        p.copy_(torch.tensor(rng.normal(0, 0.5, tuple(p.shape))))
x = torch.tensor(rng.normal(size=(2, 6, 3)), dtype=torch.float32)
y = torch.tensor([0, 1])
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=1e-1)
for _ in range(2):
    out, _ = rnn(x)  # parts
    loss = nn.functional.cross_entropy(head(out[:, -1]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
