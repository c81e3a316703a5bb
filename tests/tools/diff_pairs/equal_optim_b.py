import torch

torch.manual_seed(0)
w = torch.randn(4, 2, requires_grad=True)
x = torch.randn(8, 4)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = torch.tanh(x @ w).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
