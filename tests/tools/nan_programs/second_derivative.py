import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.abs().pow(1.5)  # begins here
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
g.sum().backward()
print(x.grad)
