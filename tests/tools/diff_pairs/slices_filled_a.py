import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


def table(length, width):
    position = torch.arange(length, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2) * (-np.log(10000.0) / width))  # parts
    out = torch.zeros(length, width)
    out[:, 0::2] = torch.sin(position * rate)
    out[:, 1::2] = torch.cos(position * rate)
    return out


layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
x = torch.randn(3, 6, 8) * 0.5
y = torch.randn(3, 6, 8)
opt = torch.optim.RMSprop(layer.parameters(), lr=1e-3)
for _ in range(2):
    opt.zero_grad()
    loss = ((layer(x + table(6, 8)) - y) ** 2).mean()
    loss.backward()
    opt.step()
