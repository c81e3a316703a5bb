import torch

w = torch.tensor(1.0, requires_grad=True)
for _ in range(2):
    loss = (w * 3 - 1) ** 2
    loss.backward()  # parts
    with torch.no_grad():
        w -= 0.01 * w.grad
print(w)
