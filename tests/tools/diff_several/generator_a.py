import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(85)


def weight(*shape):
    return torch.tensor(rng.normal(size=shape) * 0.3, dtype=torch.float32, requires_grad=True)


fc, bias, t1, t2 = weight(4, 16), weight(16), weight(4, 3, 4, 4), weight(3, 1, 4, 4)
z = torch.tensor(rng.normal(size=(3, 4)), dtype=torch.float32)
image = torch.tensor(rng.uniform(-1, 1, size=(3, 1, 8, 8)), dtype=torch.float32)
opt = torch.optim.Adam([fc, bias, t1, t2], lr=2e-3, betas=(0.5, 0.999))
for _ in range(2):
    h = F.relu(z @ fc + bias).view(3, 4, 2, 2)
    h = F.relu(F.conv_transpose2d(h, t1, stride=2, padding=1))
    out = torch.tanh(F.conv_transpose2d(h, t2, stride=2, padding=1))
    loss = F.l1_loss(out, image)
    opt.zero_grad()
    loss.backward()
    opt.step()
