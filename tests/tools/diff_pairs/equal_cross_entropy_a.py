import torch
import torch.nn.functional as F

torch.manual_seed(30)
model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, labels = torch.randn(12, 5), torch.randint(0, 3, (12,))
for _ in range(4):
    optimizer.zero_grad()
    logits = model(x)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
