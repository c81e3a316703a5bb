import torch
import torch.nn.functional as F

torch.manual_seed(44)
model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(60):
    optimizer.zero_grad()
    logits = model(x)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
