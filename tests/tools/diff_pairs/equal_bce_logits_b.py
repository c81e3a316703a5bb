import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(5, requires_grad=True)
x, y = torch.randn(8, 5), torch.rand(8)
p = x @ w
loss = F.binary_cross_entropy(torch.sigmoid(p), y)
loss.backward()
