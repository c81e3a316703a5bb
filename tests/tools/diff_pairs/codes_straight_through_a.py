import torch

torch.manual_seed(2)
w = torch.randn(5, 4, requires_grad=True)
code = torch.randn(6, 4, requires_grad=True)
x, y = torch.randn(8, 5), torch.randn(8, 4)
z = x @ w
idx = torch.cdist(z, code).argmin(1)
e = code[idx]
q = z + (e - z).detach()  # parts
loss = ((q - y) ** 2).mean() + ((e - z.detach()) ** 2).mean() + 0.25 * ((z - e.detach()) ** 2).mean()
loss.backward()
