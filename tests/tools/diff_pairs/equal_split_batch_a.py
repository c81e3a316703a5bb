import torch

torch.manual_seed(37)
model = torch.nn.Linear(4, 1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
loss = ((model(x) - y) ** 2).sum()
loss.backward()
