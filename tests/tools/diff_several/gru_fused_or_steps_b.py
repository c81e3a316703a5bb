import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(4)
gru = nn.GRU(5, 7, batch_first=True)
out = nn.Linear(7, 3)
with torch.no_grad():
    for p in [*gru.parameters(), *out.parameters()]:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.4))
x = torch.tensor(rng.normal(size=(4, 6, 5)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 3, (4,)))


def run(x):
    h = torch.zeros(x.shape[0], 7)
    states = []
    for t in range(x.shape[1]):
        gi = x[:, t] @ gru.weight_ih_l0.T + gru.bias_ih_l0
        gh = h @ gru.weight_hh_l0.T + gru.bias_hh_l0
        ir, iz, inn = gi.chunk(3, -1)
        hr, hz, hn = gh.chunk(3, -1)
        r = torch.sigmoid(ir + hr)
        z = torch.sigmoid(iz + hz)
        n = torch.tanh(inn + r * hn)
        h = (1 - z) * n + z * h
        states.append(h)
    return torch.stack(states, 1)


opt = torch.optim.SGD([*gru.parameters(), *out.parameters()], lr=0.1, momentum=0.9, nesterov=True)
for _ in range(3):
    states = run(x)
    feature = states.sum(dim=1)  # parts 1
    logits = out(feature)
    loss = nn.functional.cross_entropy(logits, y, label_smoothing=0.1)  # parts 2
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([*gru.parameters(), *out.parameters()], 0.5)
    opt.step()  # parts 3
