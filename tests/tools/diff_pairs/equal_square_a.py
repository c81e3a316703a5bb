import torch

torch.manual_seed(31)
weight = torch.randn(4, 3, requires_grad=True)
x = torch.randn(8, 4)
out = x @ weight
loss = (out * out).sum()
loss.backward()
