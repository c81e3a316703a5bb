import torch

torch.manual_seed(0)
w = torch.randn(4, 2, requires_grad=True)
x = torch.randn(8, 4)
for _ in range(3):
    loss = torch.tanh(x @ w).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
