import torch

torch.manual_seed(30)
model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, labels = torch.randn(12, 5), torch.randint(0, 3, (12,))
for _ in range(4):
    optimizer.zero_grad()
    logits = model(x)
    exponentials = torch.exp(logits)
    probabilities = exponentials / exponentials.sum(dim=1, keepdim=True)
    loss = -torch.log(probabilities[torch.arange(12), labels]).mean()
    loss.backward()
    optimizer.step()
