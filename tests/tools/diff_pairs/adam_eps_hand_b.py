import torch

torch.manual_seed(0)
w = torch.randn(5, requires_grad=True)
x = torch.randn(8, 5)
m = torch.zeros(5)
v = torch.zeros(5)
for t in range(1, 4):
    loss = ((x @ w) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        m = 0.9 * m + 0.1 * w.grad
        v = 0.999 * v + 0.001 * w.grad**2
        mh = m / (1 - 0.9**t)
        vh = v / (1 - 0.999**t)
        w -= 0.1 * mh / (vh + 1e-3).sqrt()  # parts
        w.grad = None
