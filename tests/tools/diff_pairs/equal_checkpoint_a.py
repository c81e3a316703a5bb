import torch

torch.manual_seed(0)
l = torch.nn.Linear(4, 4)
x = torch.randn(8, 4, requires_grad=True)
h = torch.tanh(l(x))
h.pow(2).sum().backward()
