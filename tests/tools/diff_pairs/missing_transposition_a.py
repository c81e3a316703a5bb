import torch

torch.manual_seed(1)
x = torch.randn(6, 4)
weight = torch.randn(4, 4, requires_grad=True)
bias = torch.zeros(4, requires_grad=True)
hidden = x @ weight.T  # parts
loss = torch.tanh(hidden + bias).sum()
loss.backward()
print(weight.grad)
