import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(405)
X = rng.normal(size=(30, 4)).astype("float32")
Y = (X @ rng.normal(size=(4, 1)) > 0).astype("float32")


def batches(size, order):
    for start in range(0, len(order), size):
        index = order[start:start + size]
        yield torch.tensor(X[index]), torch.tensor(Y[index])


model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.tensor(rng.normal(0, 0.5, tuple(p.shape))))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
for epoch in range(2):
    order = rng.permutation(30)
    for x, y in batches(8, order):
        opt.zero_grad()
        logits = model(x)
        loss = criterion(logits, y)
        l1 = sum(p.abs().sum() for n, p in model.named_parameters() if "weight" in n)
        total = loss + 1e-3 * l1
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # parts
        opt.step()
    scheduler.step()
    print(epoch, loss.item(), scheduler.get_last_lr())
