import torch

x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
z = x**2 + x * y
z.backward()
print(x.grad, y.grad)
