import torch

torch.manual_seed(9)
a = torch.tensor(0.97, requires_grad=True)
x = torch.randn(80)
T = torch.arange(80)
e = (T[:, None] - T[None]).clamp(min=0)
L = torch.tril(a ** e)
tot = (L @ x).square().sum()
tot.backward()
