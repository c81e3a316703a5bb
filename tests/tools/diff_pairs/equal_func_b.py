import torch

torch.manual_seed(0)
w = torch.randn(4, 2, requires_grad=True)
x = torch.randn(8, 4)


def f(w):
    return torch.tanh(x @ w).pow(2).mean()


g = torch.func.grad(f)(w)
print(g)
