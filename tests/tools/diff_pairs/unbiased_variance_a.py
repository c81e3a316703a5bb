import torch

torch.manual_seed(21)
scale = torch.randn(5, requires_grad=True)
x = torch.randn(7, 5)
variance = x.var(dim=0)  # parts
(scale * x / (variance + 1e-3).sqrt()).sum().backward()
