import torch

torch.manual_seed(18)
embed, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
x = torch.randn(6, 4)
features = torch.relu(embed(x))
head(features).logsumexp(dim=1).sum().backward()
