import torch

torch.manual_seed(44)
model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(60):
    optimizer.zero_grad()
    logits = model(x)
    scores = logits - logits.logsumexp(dim=1, keepdim=True)
    loss = -scores.gather(1, labels[:, None]).mean()
    loss.backward()
    optimizer.step()
