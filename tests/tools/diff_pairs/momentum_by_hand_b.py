import torch

torch.manual_seed(6)
weight = torch.randn(4, 1, requires_grad=True)
velocity = torch.zeros(4, 1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
for _ in range(3):
    loss = ((x @ weight - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(loss, [weight])
    with torch.no_grad():
        velocity = 0.9 * velocity + 0.1 * gradient  # parts
        weight -= 0.05 * velocity
