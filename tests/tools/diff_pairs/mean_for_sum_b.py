import torch

torch.manual_seed(2)
model = torch.nn.Linear(3, 2)
x, y = torch.randn(8, 3), torch.randn(8, 2)
error = model(x) - y
loss = (error**2).mean()  # parts
loss.backward()
