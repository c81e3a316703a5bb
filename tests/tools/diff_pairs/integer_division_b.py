import torch

torch.manual_seed(13)
weight = torch.randn(3, requires_grad=True)
counts = torch.tensor([3, 5, 8])
share = counts // counts[0]  # parts
(weight * share).sum().backward()
