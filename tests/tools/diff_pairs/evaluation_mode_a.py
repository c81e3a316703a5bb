import torch

torch.manual_seed(48)
model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 1))
model.train()
x = torch.randn(8, 4)
model(x).pow(2).mean().backward()  # parts
