import torch

torch.manual_seed(0)
q, k, v = (torch.randn(2, 5, 8, requires_grad=True) for _ in range(3))
s = q @ k.transpose(-2, -1) / 8**0.5
out = torch.softmax(s, -1) @ v
out.pow(2).mean().backward()
