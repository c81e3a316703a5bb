import torch
from torch.func import grad, vmap


def loss(w, x):
    z = (w * x).sum()
    return torch.log(z)  # begins here


w = torch.ones(2)
x = torch.tensor([[1.0, 1.0], [1.0, -1.0]])
print(vmap(grad(loss), (None, 0))(w, x))
