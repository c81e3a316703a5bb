import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(6)
encode, mean, spread, decode = nn.Linear(7, 10), nn.Linear(10, 2), nn.Linear(10, 2), nn.Linear(2, 7)
for layer in (encode, mean, spread, decode):
    for p in layer.parameters():
        p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4, dtype=torch.float32)
x = torch.tensor(rng.random((8, 7)), dtype=torch.float32)
noise = torch.tensor(rng.standard_normal((8, 2)), dtype=torch.float32)
h = torch.relu(encode(x))
mu, logvar = mean(h), spread(h)
std = torch.exp(0.5 * logvar)
z = mu + noise * std
out = torch.sigmoid(decode(z))
fit = nn.functional.binary_cross_entropy(out, x, reduction="sum")
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
loss = fit + kl
loss.backward()
