import torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor([0.5, 0.5, 0.5], requires_grad=True)
x = torch.tensor([2.0, 3.0, 4.0])
y = (w * x + b).sum()  # parts
y.backward()
print(w.grad, b.grad)
