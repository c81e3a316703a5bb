import torch

torch.manual_seed(41)
weight = torch.randn(4, 4, requires_grad=True)
x = torch.randn(8, 4)
hidden = torch.relu(x @ weight)
gate = torch.sigmoid(hidden)
(hidden * gate).sum().backward()
