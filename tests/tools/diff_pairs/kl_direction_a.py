import torch
import torch.nn.functional as F

torch.manual_seed(0)
a, b = torch.randn(4, 5, requires_grad=True), torch.randn(4, 5)
loss = F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean")  # parts
loss.backward()
