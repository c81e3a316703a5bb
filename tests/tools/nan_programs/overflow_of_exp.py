import torch

logits = torch.tensor([1.0, 90.0, 3.0], requires_grad=True)
powers = torch.exp(logits)  # begins here
p = powers / powers.sum()
print(p)
