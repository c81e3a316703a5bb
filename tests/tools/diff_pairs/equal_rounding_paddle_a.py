import numpy as np
import torch
from torch import nn

r = np.random.default_rng(0)
W, X, Y = (r.normal(size=s).astype('float32') for s in ((6, 5), (8, 6), (8, 5)))
w = nn.Parameter(torch.tensor(W) * 0.5)
x = torch.tensor(X)
y = torch.tensor(Y)
o = torch.optim.Adam([w], lr=0.01)
for _step in range(5):
    loss = nn.functional.cross_entropy(x @ w, y.softmax(-1))
    o.zero_grad()
    loss.backward()
    o.step()
