import torch

torch.manual_seed(33)
gain, shift = torch.randn(6, requires_grad=True), torch.randn(6, requires_grad=True)
x = torch.randn(5, 6, requires_grad=True)
mean = x.mean(-1, keepdim=True)
variance = ((x - mean) ** 2).mean(-1, keepdim=True)
out = (x - mean) / torch.sqrt(variance + 1e-5) * gain + shift
(out**3).sum().backward()
