import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(7)
features, hidden, length, batch = 3, 5, 7, 4
lstm = nn.LSTM(features, hidden, batch_first=True)
out = nn.Linear(hidden, 1)
with torch.no_grad():
    lstm.weight_ih_l0.copy_(torch.tensor(rng.standard_normal((4 * hidden, features)) * 0.4))
    lstm.weight_hh_l0.copy_(torch.tensor(rng.standard_normal((4 * hidden, hidden)) * 0.4))
    lstm.bias_ih_l0.copy_(torch.tensor(rng.standard_normal(4 * hidden) * 0.1))
    lstm.bias_hh_l0.zero_()
    out.weight.copy_(torch.tensor(rng.standard_normal((1, hidden))))
    out.bias.zero_()
series = torch.tensor(rng.standard_normal((batch, 3 * length, features)), dtype=torch.float32)
target = torch.tensor(rng.standard_normal((batch, 3 * length)), dtype=torch.float32)
parameters = [*lstm.parameters(), *out.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=1e-2, alpha=0.95)
state = None
for start in range(0, 3 * length, length):
    y, state = lstm(series[:, start:start + length], state)
    prediction = out(y)[..., 0]
    loss = ((prediction - target[:, start:start + length]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = tuple(s.detach() for s in state)
    print(loss.item())
