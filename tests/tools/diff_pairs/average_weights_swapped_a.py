import copy

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(8)
model = nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
with torch.no_grad():
    for p in model.parameters():
        if p.ndim == 2:
            p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5))
        elif len(p) != 8 or p.sum() == 0:
            p.zero_()
    model[0].bias.zero_()
ema = copy.deepcopy(model)
data = rng.standard_normal((32, 5)).astype("float32")
labels = rng.integers(0, 3, 32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
accumulate = 2
for epoch in range(2):
    order = rng.permutation(32)
    optimizer.zero_grad()
    for i in range(0, 32, 8):
        batch = order[i:i + 8]
        logits = model(torch.tensor(data[batch]))
        loss = nn.functional.cross_entropy(logits, torch.tensor(labels[batch]), label_smoothing=0.1)
        (loss / accumulate).backward()
        if (i // 8 + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for e, p in zip(ema.parameters(), model.parameters()):
                    e.mul_(0.9).add_(p, alpha=0.1)  # parts
    scheduler.step()
    print(epoch, loss.item(), scheduler.get_last_lr())
