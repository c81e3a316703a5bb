"""What an editor knows of a program for PyTorch that has the stubs: each `reveal_type` has what is wanted after `#`."""

import torch
import torch.nn.functional as F
from torch import nn

x = torch.rand(3, 4, requires_grad=True)
reveal_type(x)  # torch.Tensor
reveal_type((2 * x + 1).mean(dim=0))  # torch.Tensor
reveal_type(x.shape)  # torch.Size
reveal_type(x.dtype)  # torch.dtype
reveal_type(F.relu(x))  # torch.Tensor
reveal_type(torch.cat([x, x]))  # torch.Tensor
reveal_type(torch.linalg.solve(x, x))  # torch.Tensor
reveal_type(torch.topk(x, 2))  # torch.return_types.topk
reveal_type(torch.topk(x, 2).values)  # torch.Tensor
reveal_type(torch.autograd.grad(x.sum(), [x]))  # tuple[Any, ...]
reveal_type(x.sum().backward())  # None
reveal_type(x.grad)  # torch.Tensor | None

net = nn.Linear(4, 2)
reveal_type(net.in_features)  # int
reveal_type(net.forward(x))  # torch.Tensor
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
reveal_type(optimizer.zero_grad())  # None
