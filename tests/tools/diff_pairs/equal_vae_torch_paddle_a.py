import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, 12)
        self.mean = nn.Linear(12, 3)
        self.logvar = nn.Linear(12, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 10))

    def forward(self, x, noise):
        h = F.relu(self.encoder(x))
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + torch.exp(0.5 * logvar) * noise
        return self.decoder(z), mean, logvar


rng = np.random.default_rng(11)
model = VAE()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.copy_(torch.tensor(rng.standard_normal(tuple(parameter.shape)) * 0.3))
data = torch.tensor((rng.random((16, 10)) > 0.5).astype("float32"))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _step in range(3):
    noise = torch.tensor(rng.standard_normal((16, 3)), dtype=torch.float32)
    logits, mean, logvar = model(data, noise)
    reconstruction = F.binary_cross_entropy_with_logits(logits, data, reduction="sum") / len(data)
    kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(dim=1).mean()
    loss = reconstruction + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
