import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(46)


def weight(*shape):
    return torch.tensor(rng.normal(size=shape) * 0.3, dtype=torch.float32, requires_grad=True)


w1, b1, w2, b2, wo = weight(6, 3, 3), weight(6), weight(6, 6, 3), weight(6), weight(6, 2)
x = torch.tensor(rng.normal(size=(4, 3, 12)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(4, 2)), dtype=torch.float32)
opt = torch.optim.RMSprop([w1, b1, w2, b2, wo], lr=1e-3, momentum=0.9)
for _ in range(2):
    h = F.relu(F.conv1d(F.pad(x, (2, 0)), w1, b1))
    r = F.conv1d(F.pad(h, (4, 0)), w2, b2, dilation=2)
    h = F.relu(h + r)
    p = h[:, :, -1] @ wo
    loss = F.l1_loss(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
