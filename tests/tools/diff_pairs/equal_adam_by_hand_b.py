import torch

torch.manual_seed(34)
weight = torch.randn(5, 2, requires_grad=True)
x, y = torch.randn(9, 5), torch.randn(9, 2)
m, v = torch.zeros(5, 2), torch.zeros(5, 2)
for step in range(1, 5):
    loss = ((x @ weight - y) ** 2).mean()
    weight.grad = None
    loss.backward()
    with torch.no_grad():
        g = weight.grad
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        weight -= 0.05 * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
