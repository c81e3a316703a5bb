import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(37)
enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x, e = torch.randn(9, 5), torch.randn(9, 2)
mu, s = enc(x).chunk(2, 1)
s = nn.functional.softplus(s)
q = Normal(mu, s)
kl = kl_divergence(q, Normal(torch.zeros_like(mu), torch.ones_like(s))).sum(1)
lp = Normal(dec(mu + s * e), 1.0).log_prob(x).sum(1)
loss = (kl - lp).mean()
loss.backward()
