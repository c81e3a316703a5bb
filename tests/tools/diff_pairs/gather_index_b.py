import torch

torch.manual_seed(0)
logits = torch.randn(4, 5, requires_grad=True)
target = torch.tensor([0, 2, 4, 1])
lp = torch.log_softmax(logits, 1)
loss = -lp[:, target].mean()  # parts
loss.backward()
