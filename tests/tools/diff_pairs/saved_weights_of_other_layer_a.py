import os
import tempfile

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(36)
store = {f"enc{i}.{n}": rng.normal(0, 0.5, s).astype("float32") for i in (1, 2) for n, s in (("weight", (5, 5)), ("bias", (5,)))}


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2 = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, a, b):
        ea = torch.tanh(self.enc1(a))
        eb = torch.tanh(self.enc2(b))
        return (ea * eb).sum(-1)


path = os.path.join(tempfile.mkdtemp(), "weights.pt")
torch.save({k: torch.tensor(v) for k, v in store.items()}, path)
model = Siamese()
model.load_state_dict(torch.load(path, weights_only=True))  # parts
a = torch.tensor(rng.normal(size=(6, 5)), dtype=torch.float32)
b = torch.tensor(rng.normal(size=(6, 5)), dtype=torch.float32)
y = torch.tensor(rng.choice([0.0, 1.0], 6), dtype=torch.float32)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(a, b), y)
    loss.backward()
    opt.step()
    print(loss.item())
