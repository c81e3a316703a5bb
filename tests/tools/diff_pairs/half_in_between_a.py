import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(21)
enc, dec = nn.Linear(12, 6), nn.Linear(6, 12)
with torch.no_grad():
    for p in [*enc.parameters(), *dec.parameters()]:
        p.copy_(torch.tensor(rng.normal(0, 0.3, tuple(p.shape))))
params = [*enc.parameters(), *dec.parameters()]
opt = torch.optim.Adam(params, lr=3e-3)
for step in range(3):
    x = torch.tensor(rng.normal(size=(10, 12)), dtype=torch.float32)
    h = torch.tanh(enc(x))
    code = h.float()
    out = dec(code)
    loss = torch.nn.functional.l1_loss(out, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
