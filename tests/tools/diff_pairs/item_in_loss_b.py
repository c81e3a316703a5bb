import torch

torch.manual_seed(40)
first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
x = torch.randn(8, 3)
hidden = torch.tanh(first(x))
scale = hidden.norm().item()
out = second(hidden) + second(scale * hidden)  # parts
out.pow(2).sum().backward()
