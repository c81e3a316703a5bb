import torch

torch.manual_seed(45)
first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
x = torch.randn(8, 4)
hidden = first(x)  # parts
second(hidden).square().mean().backward()
