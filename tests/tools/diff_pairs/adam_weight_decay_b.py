import torch

torch.manual_seed(12)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
x = torch.randn(8, 4)
for _ in range(2):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # parts
