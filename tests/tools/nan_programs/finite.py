import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
masked = torch.tensor([[0.0, float("-inf")], [1.0, 2.0]])
weights = torch.softmax(masked, -1)
best = torch.where(x > 1.5, x, torch.full((2,), -float("inf"))).max()
hidden = torch.where(torch.tensor([True, False]), torch.ones(2), torch.log(torch.tensor([-1.0, 1.0])))
(best + (weights @ x).sum() + (hidden * x).sum()).backward()
