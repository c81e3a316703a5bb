import torch

torch.manual_seed(18)
embed, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
x = torch.randn(6, 4)
with torch.no_grad():
    features = torch.relu(embed(x))  # parts
head(features).logsumexp(dim=1).sum().backward()
