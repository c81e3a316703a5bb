import torch

torch.manual_seed(23)
first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
x = torch.randn(8, 3)
hidden = torch.tanh(first(x))
hidden.register_hook(lambda g: g)
second(hidden).pow(2).sum().backward()
