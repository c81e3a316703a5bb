import torch

torch.manual_seed(11)
layer = torch.nn.Linear(5, 1)
x = torch.randn(12, 5)
keep = (torch.rand(12, 5) > 0.4).float()
dropped = x * keep  # parts
layer(dropped).pow(2).sum().backward()
