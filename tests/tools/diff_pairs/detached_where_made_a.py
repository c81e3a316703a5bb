import torch

torch.manual_seed(5)
W = torch.randn(5, 4, requires_grad=True)
u = torch.randn(5)
x = torch.randn(6, 4)
for _ in range(3):
    with torch.no_grad():
        v = torch.nn.functional.normalize(W.T @ u, dim=0)
        u = torch.nn.functional.normalize(W @ v, dim=0)
    sigma = u @ W @ v  # parts
    loss = (x @ (W / sigma).T).pow(2).mean()
    (g,) = torch.autograd.grad(loss, W)
    with torch.no_grad():
        W -= 0.1 * g
