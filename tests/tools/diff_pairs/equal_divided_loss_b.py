import torch
from torch import nn

torch.manual_seed(37)
enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x, e = torch.randn(9, 5), torch.randn(9, 2)
mu, s = enc(x).chunk(2, 1)
s = torch.log1p(s.exp())
kl = 0.5 * (s**2 + mu**2 - 1 - 2 * s.log())
lp = -0.5 * (dec(mu + s * e) - x) ** 2 - 0.9189385332
loss = kl.sum() / 9 - lp.sum() / 9
loss.backward()
