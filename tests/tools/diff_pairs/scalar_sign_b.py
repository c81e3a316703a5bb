import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * x
z = y + 2 * x  # parts
z.backward()
print(x.grad)
