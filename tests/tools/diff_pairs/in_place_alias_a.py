import torch

torch.manual_seed(17)
weight = torch.randn(4, requires_grad=True)
x = torch.randn(4)
residual = x
x = x + 1.5  # parts
loss = (weight * x + residual).pow(2).sum()
loss.backward()
