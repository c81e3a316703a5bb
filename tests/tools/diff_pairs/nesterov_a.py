import torch

w = torch.tensor([[0.5, -0.3], [0.2, 0.7]], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
opt = torch.optim.SGD([w], lr=0.01, momentum=0.9)
for _ in range(3):
    opt.zero_grad()
    loss = ((x @ w) ** 2).mean()
    loss.backward()
    opt.step()  # parts
