import torch

a = torch.tensor([1.0, 0.0], requires_grad=True)
b = torch.tensor([1.0, 0.0])
cosine = (a * b).sum() / (a.norm() * b.norm())
angle = torch.acos(cosine)  # begins here
angle.backward()
