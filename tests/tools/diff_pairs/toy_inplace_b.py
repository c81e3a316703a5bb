import torch

x = torch.tensor([1.0, 2.0])
w = torch.tensor([3.0, 4.0], requires_grad=True)
y = x
y += 1  # parts
loss = (w * x).sum() + (w * y).sum()
loss.backward()
print(w.grad)
