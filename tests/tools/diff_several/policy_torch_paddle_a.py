import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(28)
body = nn.Sequential(nn.Linear(4, 12), nn.Tanh())
pi, vf = nn.Linear(12, 2), nn.Linear(12, 1)
params = [*body.parameters(), *pi.parameters(), *vf.parameters()]
with torch.no_grad():
    for p in params:
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
obs = torch.tensor(rng.normal(size=(16, 4)), dtype=torch.float32)
act = torch.tensor(rng.integers(0, 2, 16))
old = torch.tensor(rng.normal(size=16) * 0.2 - 0.7, dtype=torch.float32)
adv = torch.tensor(rng.normal(size=16), dtype=torch.float32)
ret = torch.tensor(rng.normal(size=16), dtype=torch.float32)
opt = torch.optim.Adam(params, lr=3e-3, eps=1e-5)
for _ in range(3):
    h = body(obs)
    logits = pi(h)
    logp_all = torch.log_softmax(logits, -1)
    logp = logp_all.gather(1, act[:, None])[:, 0]
    ratio = torch.exp(logp - old)
    a = (adv - adv.mean()) / (adv.std() + 1e-8)
    surrogate = torch.minimum(ratio * a, torch.clamp(ratio, 0.8, 1.2) * a)
    value = vf(h)[:, 0]
    entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
    loss = -surrogate.mean() + 0.5 * ((value - ret) ** 2).mean() - 0.01 * entropy
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 0.5)
    opt.step()
