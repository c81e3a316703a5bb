import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(52)


def weight(*shape):
    return torch.tensor(rng.normal(size=shape) * 0.4, dtype=torch.float32, requires_grad=True)


gate, up, down = weight(6, 4), weight(4, 6, 8), weight(4, 8, 6)
x = torch.tensor(rng.normal(size=(10, 6)), dtype=torch.float32)
y = torch.tensor(rng.normal(size=(10, 6)), dtype=torch.float32)
opt = torch.optim.AdamW([gate, up, down], lr=0.01, weight_decay=0.0)
for _ in range(2):
    probs = torch.softmax(x @ gate, -1)
    top, index = probs.topk(2, dim=-1)  # parts 1
    out = 0
    for k in range(2):
        u = torch.einsum("bi,bih->bh", x, up[index[:, k]])
        out = out + top[:, k : k + 1] * torch.einsum("bh,bho->bo", F.silu(u), down[index[:, k]])  # parts 1
    share = F.one_hot(index[:, 0], 4).float().mean(0)
    balance = 4 * (share * probs.mean(0)).mean()  # parts 2
    loss = F.mse_loss(out, y) + 0.01 * balance  # parts 3
    opt.zero_grad()
    loss.backward()
    opt.step()
