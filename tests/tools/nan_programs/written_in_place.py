import torch

torch.manual_seed(0)
x = torch.rand(3, requires_grad=True)
buffer = torch.zeros(3)
buffer[:2] = torch.tensor([1.0, 2.0])
buffer.reciprocal_()  # begins here
(x * buffer).sum().backward()
