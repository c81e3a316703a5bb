import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
l = torch.nn.Linear(4, 4)
x = torch.randn(8, 4, requires_grad=True)
h = checkpoint(lambda x: torch.tanh(l(x)), x, use_reentrant=False)
h.pow(2).sum().backward()
