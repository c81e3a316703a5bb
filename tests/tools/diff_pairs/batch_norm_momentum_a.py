import torch

torch.manual_seed(7)
norm = torch.nn.BatchNorm1d(4, momentum=0.1)
last = torch.nn.Linear(4, 1)
x = torch.randn(16, 4) * 3 + 1
for _ in range(2):
    loss = last(norm(x)).pow(2).mean()  # parts
    loss.backward()
    last.zero_grad()
    norm.zero_grad()
norm.eval()
print(last(norm(x)).mean())
