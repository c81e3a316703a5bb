import copy

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(25)
student = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 4))
with torch.no_grad():
    for p in student.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
x = torch.tensor(rng.normal(size=(7, 5)), dtype=torch.float32)
y = torch.tensor(rng.integers(0, 4, 7))
noise = torch.tensor(rng.normal(size=(7, 5)) * 0.1, dtype=torch.float32)
opt = torch.optim.SGD(student.parameters(), lr=0.2)
for _ in range(3):
    s = student(x + noise)
    t = teacher(x).detach()
    soft = torch.softmax(t / 2.0, -1)
    kd = nn.functional.kl_div(torch.log_softmax(s / 2.0, -1), soft, reduction="batchmean") * 4.0
    ce = nn.functional.cross_entropy(s, y)
    loss = 0.5 * ce + 0.5 * kd
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(student.parameters(), teacher.parameters()):
            q.mul_(0.9).add_(p, alpha=0.1)
