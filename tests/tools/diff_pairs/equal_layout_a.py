import torch

torch.manual_seed(35)
start = torch.randn(4, 3)
x = torch.randn(8, 4)
weight = start.clone().requires_grad_()
out = x @ weight
(out.sigmoid() ** 2).sum().backward()
