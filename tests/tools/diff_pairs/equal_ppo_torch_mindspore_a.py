import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(9)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
with torch.no_grad():
    for p in [*actor.parameters(), *critic.parameters()]:
        p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5))
states = torch.tensor(rng.standard_normal((12, 4)), dtype=torch.float32)
actions = torch.tensor(rng.integers(0, 3, 12))
rewards = rng.standard_normal(12)
old = torch.tensor(rng.standard_normal(12) * 0.1 - 1.1, dtype=torch.float32)
returns, running = [], 0.0
for r in rewards[::-1]:
    running = r + 0.99 * running
    returns.insert(0, running)
returns = torch.tensor(returns, dtype=torch.float32)
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=3e-3)
for _ in range(3):
    logits = actor(states)
    values = critic(states).squeeze(-1)
    log_probs = torch.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(1, actions[:, None])[:, 0]
    advantage = (returns - values).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = torch.exp(chosen - old)
    policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    value_loss = 0.5 * (returns - values).pow(2).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = policy_loss + value_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
    optimizer.step()
    print(loss.item())
