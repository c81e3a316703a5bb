import torch

x = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)
mask = torch.tensor([1.0, 0.0, 1.0])
with torch.no_grad():
    probe = torch.log(torch.zeros(3))  # used by nothing that counts
    probe = torch.nan_to_num(probe)
entropy = x * torch.log(x)  # begins here
(entropy * mask).sum().backward()
