import torch

torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(3):
    optimizer.zero_grad()  # parts
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
