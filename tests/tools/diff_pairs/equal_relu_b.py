import torch

torch.manual_seed(32)
first, second = torch.nn.Linear(4, 6), torch.nn.Linear(6, 1)
x = torch.randn(8, 4)
hidden = first(x)
hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
second(hidden).tanh().sum().backward()
