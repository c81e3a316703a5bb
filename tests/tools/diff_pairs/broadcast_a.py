import torch

torch.manual_seed(14)
model = torch.nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8)
prediction = model(x)
error = prediction.squeeze(1) - y  # parts
(error**2).mean().backward()
