import torch

torch.manual_seed(4)
gain = torch.ones(6, requires_grad=True)
x = torch.randn(5, 6)
mean = x.mean(dim=1, keepdim=True)
variance = ((x - mean) ** 2).mean(dim=1, keepdim=True)
deviation = torch.sqrt(variance) + 1e-5  # parts
loss = ((x - mean) / deviation * gain).pow(3).sum()
loss.backward()
