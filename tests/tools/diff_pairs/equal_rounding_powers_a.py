import torch

torch.manual_seed(9)
a = torch.tensor(0.97, requires_grad=True)
x = torch.randn(80)
h = torch.zeros(())
tot = 0.0
for t in range(80):
    h = a * h + x[t]
    tot = tot + h * h
tot.backward()
