import torch
import torch.nn.functional as F

torch.manual_seed(8)
first, second = torch.nn.Linear(3, 6), torch.nn.Linear(6, 1)
x = torch.randn(10, 3)
hidden = F.leaky_relu(first(x), 0.2)  # parts
second(hidden).sum().backward()
