import torch

torch.manual_seed(34)
weight = torch.randn(5, 2, requires_grad=True)
x, y = torch.randn(9, 5), torch.randn(9, 2)
optimizer = torch.optim.Adam([weight], lr=0.05)
for _ in range(1, 5):
    loss = ((x @ weight - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
