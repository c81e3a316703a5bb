import numpy as np
import torch

rng = np.random.default_rng(22)
table = torch.tensor(rng.standard_normal((13, 6)), dtype=torch.float32, requires_grad=True)
w = torch.tensor(rng.standard_normal((6, 4)) * 0.7, dtype=torch.float32, requires_grad=True)
words = torch.tensor(rng.integers(0, 13, (8, 5)))
y = torch.tensor(rng.integers(0, 4, 8))
places = torch.tensor(rng.standard_normal((5, 6)), dtype=torch.float32)
opt = torch.optim.SGD([table, w], lr=0.5, weight_decay=0.01)
for _ in range(2):
    e = torch.nn.functional.embedding(words, table)
    e = e + places
    bag = e.sum(1)  # parts 1
    h = torch.nn.functional.gelu(bag)  # parts 2
    loss = torch.nn.functional.cross_entropy(h @ w, y)
    opt.zero_grad()
    loss.backward()
    opt.step()  # parts 3
