import numpy as np
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 6)
        self.mu, self.lv = nn.Linear(6, 2), nn.Linear(6, 2)
        self.dec = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 8))

    def forward(self, x, eps):
        h = torch.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        std = torch.exp(0.5 * lv)  # parts
        return self.dec(mu + eps * std), mu, lv


rng = np.random.default_rng(50)
vae = VAE()
for _n, p in vae.named_parameters():
    p.data = torch.tensor(rng.normal(0, 0.4, tuple(p.shape)).astype("float32"))
opt = torch.optim.Adam(vae.parameters(), lr=5e-3)
for step in range(2):
    x = torch.tensor(rng.normal(size=(12, 8)).astype("float32"))
    eps = torch.tensor(rng.normal(size=(12, 2)).astype("float32"))
    rec, mu, lv = vae(x, eps)
    kl = -0.5 * torch.sum(1 + lv - mu ** 2 - lv.exp(), dim=1).mean()
    loss = nn.functional.mse_loss(rec, x, reduction="sum") / 12 + kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item(), kl.item())
