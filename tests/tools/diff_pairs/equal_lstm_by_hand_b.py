import numpy as np
import torch

rng = np.random.default_rng(7)
features, hidden, length, batch = 3, 5, 7, 4


def parameter(array):
    return torch.tensor(array, dtype=torch.float32).requires_grad_()


w_x = parameter((rng.standard_normal((4 * hidden, features)) * 0.4).T)
w_h = parameter((rng.standard_normal((4 * hidden, hidden)) * 0.4).T)
bias = parameter(rng.standard_normal(4 * hidden) * 0.1)
bias_h = parameter(np.zeros(4 * hidden))
w_out = parameter(rng.standard_normal((1, hidden)).T)
b_out = parameter(np.zeros(1))
series = torch.tensor(rng.standard_normal((batch, 3 * length, features)), dtype=torch.float32)
target = torch.tensor(rng.standard_normal((batch, 3 * length)), dtype=torch.float32)


def cell(x, h, c):
    gates = x @ w_x + bias + h @ w_h + bias_h
    i, f, g, o = gates.chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


parameters = [w_x, w_h, bias, bias_h, w_out, b_out]
optimizer = torch.optim.RMSprop(parameters, lr=1e-2, alpha=0.95)
h, c = torch.zeros(batch, hidden), torch.zeros(batch, hidden)
for start in range(0, 3 * length, length):
    outputs = []
    for t in range(start, start + length):
        h, c = cell(series[:, t], h, c)
        outputs.append(h @ w_out + b_out)
    prediction = torch.cat(outputs, dim=1)
    loss = ((prediction - target[:, start:start + length]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    h, c = h.detach(), c.detach()
    print(loss.item())
