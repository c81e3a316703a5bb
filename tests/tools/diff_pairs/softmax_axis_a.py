import torch

torch.manual_seed(19)
query, key, value = (torch.randn(5, 5, requires_grad=True) for _ in range(3))
scores = query @ key.T / 5**0.5
weights = torch.softmax(scores, dim=-1)  # parts
(weights @ value).pow(2).sum().backward()
