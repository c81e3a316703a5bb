import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(11)
policy = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
gamma = 0.9
for _episode in range(2):
    state = torch.zeros(4)
    logps, rewards = [], []
    for t in range(6):
        dist = Categorical(logits=policy(state))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        state = 0.7 * state + torch.eye(4)[a]
        rewards.append(float(t % 3 == int(a)) + 0.1)
    returns, R = [], 0.0
    for r in rewards:
        R = r + gamma * R
        returns.append(R)
    returns = torch.tensor(returns)  # parts
    loss = -(torch.stack(logps) * (returns - returns.mean())).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
