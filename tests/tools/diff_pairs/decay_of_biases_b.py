import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(12)
words, dim = 13, 6


def new(*shape):
    return torch.nn.Parameter(torch.tensor(rng.standard_normal(shape) * 0.5, dtype=torch.float32))


table = new(words, dim)
w_i, w_h, b_i, b_h = new(3 * dim, dim), new(3 * dim, dim), new(3 * dim), new(3 * dim)
tokens = rng.integers(1, words, (4, 8))
tokens[:, 6:] = 0
tokens = torch.tensor(tokens)
decay, rest = [table, w_i, w_h], [b_i, b_h]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.1}], lr=5e-3)
for _step in range(3):
    x = F.embedding(tokens[:, :-1], table, padding_idx=0)
    h = torch.zeros(4, dim)
    outputs = []
    for t in range(x.shape[1]):
        ri, zi, ni = (x[:, t] @ w_i.T + b_i).chunk(3, 1)
        rh, zh, nh = (h @ w_h.T + b_h).chunk(3, 1)
        r = torch.sigmoid(ri + rh)
        z = torch.sigmoid(zi + zh)
        n = torch.tanh(ni + r * nh)
        h = (1 - z) * n + z * h
        outputs.append(h)
    logits = torch.stack(outputs, 1) @ table.T
    target = tokens[:, 1:]
    nll = -F.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    keep = (target != 0).float()
    loss = (nll * keep).sum() / keep.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # parts
    print(loss.item())
