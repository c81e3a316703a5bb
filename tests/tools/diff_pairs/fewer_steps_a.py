import torch

torch.manual_seed(43)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 4)
for _ in range(4):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()  # parts
    optimizer.step()
