import numpy as np
import torch

rng = np.random.RandomState(19)
a = torch.tensor(rng.randn(4).astype("f4"), requires_grad=True)
x = torch.tensor(rng.randn(9, 4).astype("f4"))
def f(t):
    return torch.sin(t @ a).sum()
g = torch.func.grad(f)(x)
h = torch.func.jacfwd(torch.func.grad(f))(x)
loss = (g**2).sum() + h.diagonal(dim1=0, dim2=2).sum()
loss.backward()
